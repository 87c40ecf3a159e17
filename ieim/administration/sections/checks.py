"""What may be written into a field: each check returns the text to store, or says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

import phonenumbers
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email
from django.utils.translation import gettext, ngettext
from holidays import list_supported_countries

from ieim.administration import contrast, hours, languages
from ieim.knowledge.notices.texts import BadText, plain_text

Check = Callable[[str], str]

MOST_LINES = 12
_NUMBER = re.compile(r"\+?[0-9]([ /-]?[0-9]){1,14}", re.ASCII)
_web = URLValidator(schemes=["https", "http"])


class Wrong(ValueError):
    """A text that cannot be stored; ``args[0]`` says why and what to do."""


def line(limit: int) -> Check:
    """Return the check of one line of plain text of at most ``limit`` characters."""

    def check(typed: str) -> str:
        return _plain(typed, limit)

    return check


def name(limit: int) -> Check:
    """Return the check of the line that stands at the top of every page: never an empty one."""

    def check(typed: str) -> str:
        if not typed.strip():
            told = gettext("Write the name of the administration: it stands on every page.")
            raise Wrong(told)
        return _plain(typed, limit)

    return check


def paragraphs(limit: int) -> Check:
    """Return the check of plain text that may have lines and paragraphs."""

    def check(typed: str) -> str:
        return _plain(typed, limit, lines=True)

    return check


def _plain(typed: str, limit: int, *, lines: bool = False) -> str:
    if not typed.strip():
        return ""
    try:
        return plain_text(typed, limit=limit, lines=lines, wordless=gettext("Write words."))
    except BadText as bad:
        raise Wrong(*bad.args) from bad


def each_line(check: Check, most: int = MOST_LINES) -> Check:
    """Return the check of a text whose every line ``check`` takes; blank lines are left out."""

    def checked(typed: str) -> str:
        found = [check(each.strip()) for each in typed.splitlines() if each.strip()]
        if len(found) > most:
            told = ngettext(
                "There is {count} line; there may be {limit}.",
                "There are {count} lines; there may be {limit}.",
                len(found),
            )
            raise Wrong(told.format(count=len(found), limit=most))
        return "\n".join(dict.fromkeys(found))

    return checked


def emergency(typed: str) -> str:
    """A number to call when a life is in danger."""
    number = " ".join(typed.split())
    if number and not _NUMBER.fullmatch(number):
        told = gettext("“{typed}” is no telephone number. Write one, such as 112.")
        raise Wrong(told.format(typed=number[:40]))
    return number


def help_number(typed: str) -> str:
    """Who helps, and the number: ``Poison control: 0800 123 456``."""
    who, _, number = typed.rpartition(":")
    if not who.strip() or not _NUMBER.fullmatch(number.strip()):
        told = gettext(
            "“{typed}” is no name with a number. Write one a line: Crisis line: 116 123."
        )
        raise Wrong(told.format(typed=typed[:60]))
    return f"{_plain(who, 80)}: {number.strip()}"


def telephone(typed: str) -> str:
    """A telephone number with its country's code, as people write it."""
    if not typed.strip():
        return ""
    try:
        number = phonenumbers.parse(typed, None)
    except phonenumbers.NumberParseException as error:
        told = gettext("Write the number with its country’s code, such as +49 30 901820.")
        raise Wrong(told) from error
    if not phonenumbers.is_possible_number(number) or number.extension:
        raise Wrong(
            gettext("There is no such number: count its digits. Write one such as +49 30 901820.")
        )
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def email(typed: str) -> str:
    """An e-mail address."""
    try:
        if typed.strip():
            validate_email(typed.strip())
    except ValidationError as error:
        told = gettext("This is no e-mail address. Write one such as office@example.org.")
        raise Wrong(told) from error
    return typed.strip()


def website(typed: str) -> str:
    """The address of a page."""
    try:
        if typed.strip():
            _web(typed.strip())
    except ValidationError as error:
        told = gettext("This is no web address. Write one such as https://www.example.org/.")
        raise Wrong(told) from error
    return typed.strip()


def brand(typed: str) -> str:
    """A colour that can be read in the light scheme."""
    return _readable(typed, dark=False)


def brand_dark(typed: str) -> str:
    """A colour that can be read in the dark scheme."""
    return _readable(typed, dark=True)


def _readable(typed: str, *, dark: bool) -> str:
    colour = typed.strip().lower()
    if re.fullmatch(r"#?[0-9a-f]{3}|#?[0-9a-f]{6}", colour):
        digits = colour.lstrip("#")
        colour = "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))
    if not colour:
        return ""
    if not contrast.is_colour(colour):
        raise Wrong(
            gettext("This is no colour. Write # and six digits from 0 to f, such as #0d5a6c.")
        )
    where, measured = contrast.weakest(colour, contrast.DARK if dark else contrast.LIGHT)
    if measured < contrast.NEEDED:
        # Never rounded up to what is needed.
        shown = int(measured * 100) / 100
        told = (
            gettext(
                "The contrast of {colour} is {measured}:1 ({where}); it has to be {needed}:1 at "
                "least. Take a lighter one: {other} is close to it."
            )
            if dark
            else gettext(
                "The contrast of {colour} is {measured}:1 ({where}); it has to be {needed}:1 at "
                "least. Take a darker one: {other} is close to it."
            )
        )
        raise Wrong(
            told.format(
                colour=colour,
                measured=f"{shown:.2f}",
                where=gettext(where),
                needed=contrast.NEEDED,
                other=contrast.readable(colour, dark=dark),
            )
        )
    return colour


def opening(typed: str) -> str:
    """The hours of a weekday."""
    try:
        return hours.said(hours.read_spans(typed))
    except hours.BadHours as bad:
        raise Wrong(*bad.args) from bad


def closed_day(typed: str) -> str:
    """Days on which nobody is there."""
    try:
        closed = hours.read_closed(_plain(typed, 120))
    except hours.BadHours as bad:
        raise Wrong(*bad.args) from bad
    return hours.said_closed(closed)


def country(typed: str) -> str:
    """A country, or a part of one, by ISO 3166."""
    value = typed.strip().upper()
    code, _, part = value.partition("-")
    parts = list_supported_countries().get(code, [])
    if value and code not in list_supported_countries():
        raise Wrong(
            gettext("No holidays are known for it. Write a country’s code of two letters: DE.")
        )
    if part and part not in parts:
        told = gettext("{country} has no such part. Write {country} alone, or one of: {parts}.")
        raise Wrong(told.format(country=code, parts=", ".join(parts)))
    return value


def offered(typed: str) -> str:
    """Codes of languages, in the order of the table."""
    chosen = typed.split()
    if not chosen:
        raise Wrong(gettext("Choose one language at least."))
    if unknown := set(chosen) - set(languages.NAMES):
        told = gettext("There are no pages in “{language}”. Choose from the list.")
        raise Wrong(told.format(language=min(unknown)[:20]))
    return " ".join(code for code in languages.NAMES if code in chosen)
