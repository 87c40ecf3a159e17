"""Checks of settings: each returns the text to store, or raises ValidationError."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from ipaddress import AddressValueError, IPv4Address

import idna
import phonenumbers
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email
from django.utils.translation import gettext, gettext_noop, ngettext
from holidays import list_supported_countries

from ieim.administration import contrast, hours, languages
from ieim.knowledge.notices.services import BadText, plain_text
from ieim.people.scope import known_agencies

Check = Callable[[str], str]

MOST_LINES = 12
_NUMBER = re.compile(r"\+?[0-9]([ /-]?[0-9]){1,14}", re.ASCII)
_E164 = re.compile(r"\+[1-9]([ /-]?[0-9]){7,14}", re.ASCII)
_ORIGIN = re.compile(r"(https?)://([^\s/?#@:\\\[\]]{1,255})(?::([0-9]{1,5}))?", re.IGNORECASE)
_PORTS = {"https": 443, "http": 80}
_NO_HOST = gettext_noop(
    "“{typed}” has no name of a host. Write one such as https://www.example.org, without a path, "
    "a star or a password."
)
_web = URLValidator(schemes=["https", "http"])
_PASSWORD = re.compile(r"(?<![a-z])[a-z]++://[^/?#@]*+@", re.IGNORECASE)


def plain(limit: int, *, lines: bool = False, required: bool = False) -> Check:
    """Return the check of plain text of at most ``limit`` characters."""

    def check(typed: str) -> str:
        if required and not typed.strip():
            message = gettext("Write the name of the administration: it stands on every page.")
            raise ValidationError(message)
        return _plain(typed, limit, lines=lines)

    return check


def _plain(typed: str, limit: int, *, lines: bool = False) -> str:
    if not typed.strip():
        return ""
    try:
        return plain_text(typed, limit=limit, lines=lines, wordless=gettext("Write words."))
    except BadText as bad:
        raise ValidationError(*bad.args) from bad


def each_line(check: Check, most: int = MOST_LINES) -> Check:
    """Return a check that applies ``check`` to every line; blank and repeated lines are dropped."""

    def checked(typed: str) -> str:
        lines = [line.strip() for line in typed.splitlines() if line.strip()]
        if len(lines) > most:
            message = ngettext(
                "There is {count} line; there may be {limit}.",
                "There are {count} lines; there may be {limit}.",
                len(lines),
            )
            raise ValidationError(message.format(count=len(lines), limit=most))
        return "\n".join(dict.fromkeys(map(check, lines)))

    return checked


def emergency(typed: str) -> str:
    number = " ".join(typed.split())
    if number and not _NUMBER.fullmatch(number):
        message = gettext("“{typed}” is no telephone number. Write one, such as 112.")
        raise ValidationError(message.format(typed=number[:40]))
    return number


def help_number(typed: str) -> str:
    """Check who helps, and the number: ``Poison control: 0800 123 456``."""
    name, _, number = typed.rpartition(":")
    if not name.strip() or not _NUMBER.fullmatch(number.strip()):
        message = gettext(
            "“{typed}” is no name with a number. Write one a line: Crisis line: 116 123."
        )
        raise ValidationError(message.format(typed=typed[:60]))
    return f"{_plain(name, 80)}: {number.strip()}"


def telephone(typed: str) -> str:
    """Check a telephone number with its country's code; return it in the usual form.

    A number with an unknown country code is accepted as it is, in the length of E.164: new codes
    are assigned before libraries have them, and the country of the demo has one.
    """
    if not typed.strip():
        return ""
    try:
        number = phonenumbers.parse(typed, None)
    except phonenumbers.NumberParseException as error:
        if _E164.fullmatch(typed.strip()):
            return " ".join(typed.split())
        message = gettext("Write the number with its country’s code, such as +49 30 901820.")
        raise ValidationError(message) from error
    if not phonenumbers.is_possible_number(number) or number.extension:
        raise ValidationError(
            gettext("There is no such number: count its digits. Write one such as +49 30 901820.")
        )
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def email(typed: str) -> str:
    message = gettext("This is no e-mail address. Write one such as office@example.org.")
    return _valid(typed, validate_email, message)


def website(typed: str) -> str:
    message = gettext("This is no web address. Write one such as https://www.example.org/.")
    # A password would be shown to everybody, and a quote is written %22 or %27.
    if _PASSWORD.match(typed.strip()) or set(typed) & set("\"'<>"):
        raise ValidationError(message)
    return _valid(typed, _web, message)


def _valid(typed: str, validate: Callable[[str], None], message: str) -> str:
    typed = typed.strip()
    try:
        if typed:
            validate(typed)
    except ValidationError as error:
        raise ValidationError(message) from error
    return typed


def _readable(typed: str, *, dark: bool) -> str:
    """Check a colour that can be read in the light or the dark scheme."""
    colour = typed.strip().lower()
    if not colour:
        return ""
    if re.fullmatch(r"#?[0-9a-f]{3}|#?[0-9a-f]{6}", colour):
        digits = colour.lstrip("#")
        colour = "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))
    if not contrast.is_colour(colour):
        raise ValidationError(
            gettext("This is no colour. Write # and six digits from 0 to f, such as #0d5a6c.")
        )
    where, measured = contrast.weakest(colour, contrast.DARK if dark else contrast.LIGHT)
    if measured >= contrast.NEEDED:
        return colour
    message = (
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
    rounded_down = int(measured * 100) / 100
    raise ValidationError(
        message.format(
            colour=colour,
            measured=f"{rounded_down:.2f}",
            where=gettext(where),
            needed=contrast.NEEDED,
            other=contrast.readable(colour, dark=dark),
        )
    )


brand = partial(_readable, dark=False)
brand_dark = partial(_readable, dark=True)


def opening(typed: str) -> str:
    """Check the hours of a weekday."""
    return hours.format_spans(hours.read_spans(typed))


def closed_day(typed: str) -> str:
    """Check a line of closed days."""
    return hours.format_closed(hours.read_closed(_plain(typed, 120)))


def country(typed: str) -> str:
    """Check a country, or a part of one, by ISO 3166."""
    value = typed.strip().upper()
    code, _, part = value.partition("-")
    countries = list_supported_countries()
    if value and code not in countries:
        raise ValidationError(
            gettext("No holidays are known for it. Write a country’s code of two letters: DE.")
        )
    if part and part not in countries[code]:
        message = gettext("{country} has no such part. Write {country} alone, or one of: {parts}.")
        raise ValidationError(message.format(country=code, parts=", ".join(countries[code])))
    return value


def offered(typed: str) -> str:
    """Check codes of languages; return them in the order of the table."""
    chosen = typed.split()
    if not chosen:
        raise ValidationError(gettext("Choose one language at least."))
    if unknown := set(chosen) - set(languages.NAMES):
        message = gettext("There are no pages in “{language}”. Choose from the list.")
        raise ValidationError(message.format(language=min(unknown)[:20]))
    return " ".join(code for code in languages.NAMES if code in chosen)


def switch(typed: str) -> str:
    """Check what can be on or off; return ``on``, or nothing."""
    return "on" if typed.strip() else ""


def agency(typed: str) -> str:
    """Check the id of an agency that an account could work for."""
    agencies = known_agencies()
    if typed not in agencies:
        message = gettext("“{typed}” is not among the agencies: {known}.")
        raise ValidationError(
            message.format(typed=typed[:60], known=", ".join(agencies) or gettext("none"))
        )
    return typed


def origin(typed: str) -> str:
    """Check an origin; return it as browsers do: lower case, punycode, no default port."""
    excerpt = typed[:60].encode("ascii", "backslashreplace").decode()
    match = _ORIGIN.fullmatch(typed)
    if match is None:
        message = gettext(
            "“{typed}” is no origin of a site. Write one such as https://www.example.org, without "
            "a path, a star or a password."
        )
        raise ValidationError(message.format(typed=excerpt))
    scheme, host, port = match[1].lower(), _host(match[2], excerpt), match[3]
    if scheme == "http" and not _is_loopback(host):
        message = gettext(
            "“{typed}” is not encrypted. Write https:// and see that the site has it."
        )
        raise ValidationError(message.format(typed=excerpt))
    number = int(port) if port else _PORTS[scheme]
    if not 0 < number < 65536:
        message = gettext("“{typed}” has no port that there is. Write one up to 65535, or none.")
        raise ValidationError(message.format(typed=excerpt))
    return f"{scheme}://{host}" + ("" if number == _PORTS[scheme] else f":{number}")


def _host(written: str, excerpt: str) -> str:
    try:
        host = idna.encode(written, uts46=True, std3_rules=True).decode("ascii")
        last = host.rpartition(".")[2]
        # Browsers read a name that ends in a number as an address, however it is written.
        if not last or last.isdecimal() or last.startswith("0x"):
            return str(IPv4Address(host))
    except (idna.IDNAError, UnicodeError, AddressValueError) as error:
        raise ValidationError(gettext(_NO_HOST).format(typed=excerpt)) from error
    return host


def _is_loopback(host: str) -> bool:
    try:
        return IPv4Address(host).is_loopback
    except AddressValueError:
        return host == "localhost" or host.endswith(".localhost")
