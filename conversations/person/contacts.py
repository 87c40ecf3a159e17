"""Addresses and numbers at which a citizen can be reached: read, checked, in one form."""

from __future__ import annotations

import phonenumbers
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from ieim.administration import selectors as administration

MAX_EMAIL = 254


class UnusableContact(ValueError):
    """What was given is no address, or no number; ``args[0]`` says so to the citizen."""


def email(given: str) -> str:
    """Return an e-mail address without the space around it; raises :class:`UnusableContact`."""
    address = given.strip()
    try:
        validate_email(address)
    except ValidationError as error:
        words = _("Enter an e-mail address in the form name@example.org.")
        raise UnusableContact(words) from error
    if len(address) > MAX_EMAIL:
        raise UnusableContact(_("This e-mail address is too long. Check it and type it again."))
    return address


def telephone(given: str) -> str:
    """Return a telephone number as E.164; raises :class:`UnusableContact`.

    Without a country code it is one of the deployment's country: that of its holidays, or else of
    the administration's own telephone.
    """
    country = settings.IEIM_HOLIDAYS.partition("-")[0] or _organisation_country()
    try:
        number = phonenumbers.parse(given, country)
    except phonenumbers.NumberParseException as error:
        raise UnusableContact(_no_number(country)) from error
    if not phonenumbers.is_possible_number(number) or number.extension:
        raise UnusableContact(_no_number(country))
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _organisation_country() -> str | None:
    try:
        number = phonenumbers.parse(administration.current().telephone)
    except phonenumbers.NumberParseException:
        return None
    return phonenumbers.region_code_for_number(number) or None


def readable(number: str) -> str:
    """Return an E.164 number as people read it."""
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return number
    return str(phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL))


def _no_number(country: str | None) -> str:
    if country is None:
        return _("Enter a telephone number with its country code, for example +1 202 555 0143.")
    return _("Enter a telephone number with its area code, or with its country code after a +.")
