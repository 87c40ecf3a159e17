"""Keys: whether a number or an address that leads to a person or a case can be one.

Deterministic, no model and no network. A key that fails stays visible to staff, as unverified;
what is said here is only that nobody should rely on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

import phonenumbers

from ieim.pipeline.facts.reading import read
from ieim.pipeline.personal import patterns as recognisers
from ieim.pipeline.personal import vocabulary
from ieim.pipeline.personal.national import Outcome, check
from ieim.pipeline.personal.redaction import DEFAULT_REGIONS

MOST_CHARS = 200
"""Longer values, in code points, are no keys."""

Patterns = Mapping[str, Sequence["str | re.Pattern[str]"]]

_LISTS: Mapping[str, str] = vocabulary()["keys"]
CHECKS: Mapping[str, tuple[str, ...]] = {
    key_type: tuple(names.replace("people", _LISTS["people"]).split())
    for key_type, names in _LISTS.items()
    if key_type != "people"
}
"""Checks of python-stdnum by key type; an IBAN, a telephone number and an e-mail have their own."""

_IBAN_FORM = re.compile(r"[A-Za-z]{2}[0-9]{2}.*", re.DOTALL)
_MOST_NAMED = 3
"""How many failed checks are named."""


class KeyStatus(StrEnum):
    """What is known about a key."""

    VALID = "valid"
    """A check accepts it."""
    INVALID = "invalid"
    """The checks that know its form refuse it."""
    UNVERIFIED = "unverified"
    """No check knows this key type, or this form of it."""


def validate(
    key_type: str, value: str, *, patterns: Patterns = MappingProxyType({})
) -> tuple[KeyStatus, str]:
    """Return the status of a key, and by which check: "" when there is none.

    ``key_type`` is a code of the label set key_types; ``patterns`` are the deployment's own, see
    :func:`compile_patterns`. Where a key type has patterns they alone decide. Any str is taken.
    """
    number = read(value).text.strip()
    if listed := patterns.get(key_type):
        short = len(number) <= MOST_CHARS
        for position, pattern in enumerate(listed if short else (), 1):
            if re.fullmatch(pattern, number):
                return KeyStatus.VALID, f"pattern {position} of {key_type}"
        return KeyStatus.INVALID, f"patterns of {key_type}"
    if len(number) > MOST_CHARS:
        return KeyStatus.INVALID, "length"
    if key_type == "email":
        valid, by = _is_email(number), "e-mail form"
    elif key_type == "phone":
        valid, by = _is_phone(number), "phone (E.164 numbering plan)"
    elif key_type == "iban" and _IBAN_FORM.fullmatch(number):
        valid, by = check("iban", number) is Outcome.PASSED, "iban (ISO 13616)"
    else:
        return _by_checks(CHECKS.get(key_type, ()), number)
    return KeyStatus.VALID if valid else KeyStatus.INVALID, by


def compile_patterns(raw: Mapping[str, Iterable[str]]) -> dict[str, tuple[re.Pattern[str], ...]]:
    """Compile a deployment's patterns: regular expressions by key type, matched whole.

    ValueError says which key type and pattern is wrong: no list, no regular expression, an empty
    one, or one that repeats a group in which something repeats or has alternatives, because a text
    can be made that such a pattern takes hours for.
    """
    compiled = {}
    for key_type, listed in raw.items():
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise ValueError(f"The patterns of {key_type} must be a list of regular expressions.")
        compiled[key_type] = tuple(
            _compile(f"Pattern {number} of {key_type}", pattern)
            for number, pattern in enumerate(listed, 1)
        )
    return compiled


def _compile(name: str, pattern: object) -> re.Pattern[str]:
    if not isinstance(pattern, str) or not pattern:
        raise ValueError(f"{name} must be a regular expression in quotes, and not empty.")
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{name} is not a regular expression: {error}.") from error
    if _repeats_a_repeat(pattern):
        raise ValueError(
            f"{name} repeats a group in which something repeats or has alternatives. "
            "That can take very long on some texts: write the group out instead."
        )
    return compiled


_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|(?P<quantifier>(?P<many>[*+]|\{\d*,\d*\})|\{\d+\}|\?)[?+]?"
    r"|(?P<group>\((?:\?[^)]?)?)|[\s\S]"
)


def _repeats_a_repeat(pattern: str) -> bool:
    """Whether a group is repeated that has a varying repeat or alternatives in it."""
    # For each open group: whether its content varies in length or in how it can be read.
    varies = [False]
    closed: bool | None = None
    for token in _TOKEN.finditer(pattern):
        was_closed, closed = closed, None
        if token["group"]:
            varies.append(False)
        elif token[0] == ")" and len(varies) > 1:
            closed = varies.pop()
            varies[-1] |= closed
        elif token["quantifier"]:
            if was_closed and token["quantifier"] != "?":
                return True
            varies[-1] |= bool(token["many"]) or token["quantifier"] == "?"
        elif token[0] == "|":
            varies[-1] = True
    return False


def _by_checks(checks: Sequence[str], number: str) -> tuple[KeyStatus, str]:
    failed = []
    for name in checks:
        outcome = check(name, number)
        if outcome is Outcome.PASSED:
            return KeyStatus.VALID, name
        if outcome is Outcome.FAILED:
            failed.append(name)
    if not failed:
        return KeyStatus.UNVERIFIED, ""
    more = f" and {len(failed) - _MOST_NAMED} more" if len(failed) > _MOST_NAMED else ""
    return KeyStatus.INVALID, ", ".join(failed[:_MOST_NAMED]) + more


def _is_email(address: str) -> bool:
    spans = [(email.start, email.end) for email in recognisers.emails(address)]
    local, _, host = address.rpartition("@")
    return (
        spans == [(0, len(address))]
        and len(local) <= 64
        and not local.endswith(".")
        and ".." not in local
        and all(0 < len(label) <= 63 and label.strip("-") == label for label in host.split("."))
        and not host.rpartition(".")[2].isdigit()
    )


def _is_phone(number: str) -> bool:
    """Whether it is a number of the plan of its own country, or of one of the usual ones."""
    if number.startswith("00"):
        number = "+" + number[2:]
    for region in [None] if number.startswith("+") else DEFAULT_REGIONS:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(number, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False
