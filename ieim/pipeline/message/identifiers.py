"""Identity, card and account numbers in a message: stored only with the consent of the sender.

Of all personal data (:mod:`ieim.pipeline.personal`) these alone are asked about, and only where a
check or the words before them say what they are: a question at every fee, date, postcode, telephone
number or reference would teach people to press a button without reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ieim.pipeline.facts import dates, money
from ieim.pipeline.facts.reading import Hit
from ieim.pipeline.personal import SURE, Found, lead
from ieim.pipeline.personal.keys import KeyStatus, validate
from ieim.pipeline.personal.national import IN_FIGURES, Outcome, check, labelled
from ieim.pipeline.personal.redaction import search

Kind = Literal["identity", "card", "account"]

_KINDS: dict[str, Kind] = {"IBAN": "account", "CARD": "card", "NATIONAL_ID": "identity"}
_SHORTEST_LABELLED = 7
"""Letters and digits of a number that only the words before it call one: postcodes are shorter."""

_SHORTEST_TELEPHONE = 10
"""Digits of a telephone number that begins with 0."""

_REFERENCE = lead(
    "reference",
    between=r"(?:[\s.:=#(№-]{0,3}+(?:number|nummer|num|numero|número|numéro|no|nr|n°|id|is|ist|est"
    r"|es|code|номер)\b){0,3}[\s.:=#(№-]{0,4}+(?=[A-Za-z]{0,3}+[ -]?[0-9])",
)
_POSTCODE_OR_YEARS = re.compile(r"[0-9]{5}-[0-9]{4}|(?:(?:19|20)[0-9]{2}[-–/ .]{0,3}){2,}")
_OTHER_WORD = re.compile(r"[a-z]{2,3}[ -]")
"""A passport *on 20240101* is no number of a passport; one *AB 1234567* is."""
_CALLED = re.compile(r"(?:\+ ?\(?|\(0?)\Z")


class Identifier(NamedTuple):
    """A number and its kind; half-open offsets in code points of the message as sent."""

    kind: Kind
    start: int
    end: int


def find(text: str) -> tuple[Identifier, ...]:
    """Return the identity, card and account numbers of a message, from left to right; none overlap.

    Any str is taken. Linear in its length.
    """
    searched = search(text)
    reading = searched.reading
    identifiers: list[Identifier] = []
    for kind, start, end in _sure(reading.text, searched.found):
        first = searched.screened.starts[reading.where[start]]
        beyond = searched.screened.ends[reading.where[end - 1]]
        if identifiers and first < identifiers[-1].end:
            last = identifiers.pop()
            identifiers.append(Identifier(last.kind, last.start, max(last.end, beyond)))
        else:
            identifiers.append(Identifier(kind, first, beyond))
    return tuple(identifiers)


def without(text: str, identifiers: Sequence[Identifier], mark: str) -> str:
    """Return ``text`` with ``mark`` in place of each number that was ``found`` in it."""
    pieces, at = [], 0
    for identifier in identifiers:
        pieces += [text[at : identifier.start], mark]
        at = identifier.end
    return "".join([*pieces, text[at:]])


def is_without(shorter: str, text: str, identifiers: Sequence[Identifier]) -> bool:
    """Whether ``shorter`` is ``text`` without what was ``found`` in it, whatever the mark was."""
    places = zip(
        [0, *(identifier.end for identifier in identifiers)],
        [*(identifier.start for identifier in identifiers), None],
        strict=True,
    )
    literals = [re.escape(text[start:end]) for start, end in places]
    return re.fullmatch(r"\[[^\[\]\n]{1,60}\]".join(literals), shorter) is not None


def _sure(text: str, hits: Sequence[Found]) -> Iterator[tuple[Kind, int, int]]:
    numbers = [candidate for candidate in hits if candidate.kind in _KINDS]
    if not numbers:
        return
    starts = [match.start() for match in re.finditer("[0-9]+", text)]
    dated = _within_a_line(text, dates.hits(text, starts))
    paid = _within_a_line(
        text, (hit for hit in money.hits(text, starts, ()) if hit.kind == "money")
    )
    referred = {match.end() for match in _REFERENCE.finditer(text)}
    phones = [(candidate.start, candidate.end) for candidate in hits if candidate.kind == "PHONE"]
    labelled_spans = {(candidate.start, candidate.end) for candidate in labelled(text)}
    # Of two that take the same place the one with the stronger check names it.
    for number in sorted(
        numbers, key=lambda one: (one.start, -one.end, list(_KINDS).index(one.kind))
    ):
        kind, start, end, certainty = number
        if kind == "IBAN":
            pass
        elif start in referred or _overlaps(start, end, dated):
            continue
        elif kind == "CARD":
            if _CALLED.search(text, max(0, start - 3), start):
                continue
        elif certainty != SURE and not _is_identity(
            text,
            start,
            end,
            has_label=(start, end) in labelled_spans,
            called=_overlaps(start, end, phones),
            paid=_overlaps(start, end, paid),
        ):
            continue
        yield _KINDS[kind], start, end


def _is_identity(
    text: str, start: int, end: int, *, has_label: bool, called: bool, paid: bool
) -> bool:
    """Whether a candidate is an identity number: by its checksum, or by the label before it.

    ``called``: it was found as a telephone number as well; ``paid``: as an amount of money.
    """
    value = text[start:end]
    signs = "".join(filter(str.isalnum, value))
    telephone = called and signs[0] == "0" and len(signs) >= _SHORTEST_TELEPHONE
    if _passes(value, signs):
        # "I lost my passport, 0170 ...": what stands behind a comma may be another thing.
        directly = has_label and "," not in text[max(0, start - 2) : start]
        return not (telephone if directly else _is_telephone(text, start, signs))
    other = telephone or paid or _POSTCODE_OR_YEARS.fullmatch(value) or _OTHER_WORD.match(value)
    return has_label and not other and len(signs) >= _SHORTEST_LABELLED


def _passes(value: str, signs: str) -> bool:
    sizes = "-".join(str(len(group)) for group in re.findall("[0-9]+", value))
    return any(
        # In groups it is checked with the marks between them, as numbers are when they are found.
        groups in ("", sizes) and check(name, value if groups == "6-4" else signs) is Outcome.PASSED
        for name, groups in IN_FIGURES.get(len(signs), ())
    )


def _is_telephone(text: str, start: int, signs: str) -> bool:
    written = "+" + signs if _CALLED.search(text, max(0, start - 3), start) else signs
    return written[0] in "+0" and validate("phone", written)[0] is KeyStatus.VALID


def _within_a_line(text: str, hits: Iterable[Hit]) -> list[tuple[int, int]]:
    return [(hit.start, hit.end) for hit in hits if "\n" not in text[hit.start : hit.end]]


def _overlaps(start: int, end: int, others: Sequence[tuple[int, int]]) -> bool:
    return any(first < end and start < beyond for first, beyond in others)
