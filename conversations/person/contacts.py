"""Addresses and numbers at which a citizen can be reached: read, checked, in one form."""

from __future__ import annotations

import re

import phonenumbers
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from ieim.administration import selectors as administration

MAX_EMAIL = 254
_E164 = re.compile("[0-9]{8,15}")
_NUMBER = re.compile(r"[+\d\s()./-]+")


class UnusableContact(ValueError):
    """What was given is no address, or no number; ``args[0]`` says so to the citizen."""


def email(text: str) -> str:
    """Return an e-mail address without the space around it; raises :class:`UnusableContact`."""
    address = text.strip()
    try:
        validate_email(address)
    except ValidationError as error:
        words = _("Enter an e-mail address in the form name@example.org.")
        raise UnusableContact(words) from error
    if len(address) > MAX_EMAIL:
        raise UnusableContact(_("This e-mail address is too long. Check it and type it again."))
    return address


def telephone(text: str) -> str:
    """Return a telephone number as E.164; raises :class:`UnusableContact`.

    Without a country code it is one of the administration's country: that of its holidays, or else
    of its own telephone.
    """
    country, office = _country(), administration.current().telephone
    code = "" if country else _unassigned_code(office)
    try:
        if code and (number := _of_code(text, code)):
            return number
        parsed = phonenumbers.parse(text, country)
    except phonenumbers.NumberParseException as error:
        raise UnusableContact(_no_number(country, code, office)) from error
    if not phonenumbers.is_possible_number(parsed) or parsed.extension:
        raise UnusableContact(_no_number(country, code, office))
    return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164))


def _country() -> str | None:
    """Return the administration's country (ISO 3166), None where it is not known."""
    settled = administration.current().get("hours", "country") or settings.IEIM_HOLIDAYS
    if settled:
        return str(settled).partition("-")[0]
    try:
        number = phonenumbers.parse(administration.current().telephone)
    except phonenumbers.NumberParseException:
        return None
    return phonenumbers.region_code_for_number(number) or None


def _unassigned_code(office: str) -> str:
    """Return the country code of the administration's telephone ``office`` where no country has it,
    as in the demo; else nothing."""
    code = re.match(r"\+([0-9]{1,3}) ", office)
    assigned = code is None or int(code[1]) in phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    return "" if code is None or assigned else code[1]


def _of_code(text: str, code: str) -> str:
    """Return a number of the country with ``code`` as E.164, nothing for another."""
    digits = str(phonenumbers.normalize_digits_only(text))
    is_national = "+" not in text and not digits.startswith("00")
    number = code + digits.removeprefix("0") if is_national else digits.removeprefix("00")
    fits = number.startswith(code) and _E164.fullmatch(number) and _NUMBER.fullmatch(text)
    return f"+{number}" if fits else ""


def readable(number: str) -> str:
    """Return an E.164 number as people read it."""
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return number
    return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL))


def _no_number(country: str | None, code: str, office: str) -> str:
    example = phonenumbers.example_number(country) if country else None
    if example is not None:
        styles = phonenumbers.PhoneNumberFormat
        national = phonenumbers.format_number(example, styles.NATIONAL)
        international = phonenumbers.format_number(example, styles.INTERNATIONAL)
    elif code:
        national, international = office.replace(f"+{code} ", "0"), office
    else:
        return _("Enter a telephone number with its country code, for example +1 202 555 0143.")
    return _("Enter a telephone number such as {national} or {international}.").format(
        national=national, international=international
    )
