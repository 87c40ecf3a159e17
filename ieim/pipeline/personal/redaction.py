"""Redaction: what a model gets to read of a citizen's message, and the way back.

Personal data is recognised under the disguises that a reader does not see (characters without
width, direction marks, full-width figures) and replaced by placeholders; a segment map leads from
every place of the redacted text back to the text as sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ieim.pipeline.facts.reading import Reading, read
from ieim.pipeline.message.legible import Legible, legible
from ieim.pipeline.personal import KINDS, SURE, Budget, Found, national, numbers, patterns

DEFAULT_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "PL", "TR", "UA")
"""Countries (ISO 3166) whose national telephone numbers are known; ``+`` numbers always are."""

MEANINGS: Mapping[str, str] = {
    "EMAIL": "an e-mail address",
    "IBAN": "the number of a bank account",
    "CARD": "the number of a payment card",
    "NATIONAL_ID": "the number of a person or of an identity document",
    "PHONE": "a telephone number",
    "DATE_OF_BIRTH": "a date of birth",
    "ADDRESS": "a postal address",
}
"""What a placeholder of each kind stands for."""

PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(KINDS)})_[0-9]+\]")
_ONE_BY_ONE = re.compile(
    r"(?<![^\W_])[A-Za-z0-9](?:[\s.,:_/-]{1,3}[A-Za-z0-9](?![^\W_])){6,}(?![^\W_])"
)
_LEAST_DIGITS = 6
_LOOKS_LIKE_ONE = re.compile(rf"({'|'.join(KINDS)})_0*([0-9]{{1,9}})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Segment:
    """One redacted stretch.

    ``kind`` is one of :data:`ieim.pipeline.personal.KINDS`, ``placeholder`` what stands for it
    (``[EMAIL_1]``). ``start`` and ``end`` are half-open code points of the text as sent,
    ``redacted_start`` and ``redacted_end`` of the redacted text.
    """

    kind: str
    placeholder: str
    start: int
    end: int
    redacted_start: int
    redacted_end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """The redacted ``text`` and its ``segments``, from left to right."""

    text: str
    segments: tuple[Segment, ...]
    # For each character of the redacted text: the stretch of the text as sent that it replaces.
    _starts: Sequence[int] = field(repr=False)
    _ends: Sequence[int] = field(repr=False)
    _values: dict[str, str] = field(repr=False)

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the text as sent for a range of the redacted text.

        Both are half-open, in code points. A range that touches a placeholder takes in the whole
        stretch that it replaces. ValueError when the range is not within the text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"{start} to {end} is no range of a text of {len(self.text)}.")
        if start < end:
            return self._starts[start], self._ends[end - 1]
        for segment in self.segments:
            if segment.redacted_start < start < segment.redacted_end:
                return segment.start, segment.end
        at = self._starts[start] if start < len(self.text) else self._ends[-1] if self.text else 0
        return at, at

    def restore(self, text: str) -> str:
        """Return ``text`` with the original value in place of each placeholder of this message.

        Values come back screened, without characters that nobody can see. Placeholders that are
        not of this message, the citizen's own ones included, stay.
        """
        return PLACEHOLDER.sub(lambda match: self._values.get(match[0], match[0]), text)


class Searched(NamedTuple):
    """A ``screened`` message, its ``reading``, and what was ``found`` in that."""

    screened: Legible
    reading: Reading
    found: list[Found]


def search(text: str, regions: Sequence[str] = DEFAULT_REGIONS) -> Searched:
    """Screen a message and look for personal data in it, also over line ends and spelled out."""
    screened = legible(text)
    reading = read(screened.text)
    hits = find(reading.text, regions, Budget())
    return Searched(screened, reading, [*hits, *_spread(reading.text)])


def find(text: str, regions: Sequence[str], budget: Budget) -> list[Found]:
    """Return all personal data of the reading ``text``; finds may overlap.

    ``regions`` are the countries (ISO 3166) whose national telephone numbers are known. Linear in
    the length of the text.
    """
    return [
        *patterns.emails(text),
        *national.hits(text, budget),
        *numbers.hits(text, regions, budget),
        *patterns.births(text),
        *patterns.addresses(text),
    ]


def _spread(text: str) -> Iterator[Found]:
    """Yield findings that are sure and span several lines, and those that are spelled out."""
    # Its own checks: many lines of figures use up nothing of what the text itself may cost.
    if "\n" in text:
        # A line end is one character, so every offset stays what it is.
        for hit in _checked(text.replace("\n", " "), Budget()):
            if "\n" in text[hit.start : hit.end] and hit.certainty == SURE:
                yield hit
    budget = Budget()
    for run in _ONE_BY_ONE.finditer(text):
        places = [at for at in range(*run.span()) if text[at].isalnum()]
        joined = "".join(text[at] for at in places)
        if sum(character.isdigit() for character in joined) >= _LEAST_DIGITS:
            for hit in _checked(joined, budget):
                start, end = places[hit.start], places[hit.end - 1] + 1
                yield hit._replace(start=start, end=end)


def _checked(text: str, budget: Budget) -> Iterator[Found]:
    for hit in (*national.hits(text, budget), *numbers.hits(text, (), budget)):
        # Not what nobody could check any more.
        if hit.kind != "PHONE" and not budget.exhausted:
            yield hit


def prepare(text: str, *, regions: Sequence[str] = DEFAULT_REGIONS) -> Redacted:
    """Screen and redact a message: what models get is ``.text``, and only that. Any str is taken.

    The same value has the same placeholder throughout; they are numbered from 1 for each kind,
    leaving out numbers that the citizen's own words look like. ``regions`` are countries (ISO 3166)
    whose national telephone numbers are to be known. Linear in the length of the text.
    """
    message, reading, hits = search(text, regions)
    screened = message.text
    spans = [
        (kind, reading.where[start], reading.where[end - 1] + 1, certainty)
        for kind, start, end, certainty in hits
    ]
    names = _Names(reading.text)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    segments: list[Segment] = []
    last = 0
    for kind, start, end in [*_stretches(spans), ("", len(screened), len(screened))]:
        pieces.append(screened[last:start])
        starts += message.starts[last:start]
        ends += message.ends[last:start]
        last = end
        if kind:
            placeholder = names.of(kind, screened[start:end])
            first, beyond, at = message.starts[start], message.ends[end - 1], len(starts)
            pieces.append(placeholder)
            starts += [first] * len(placeholder)
            ends += [beyond] * len(placeholder)
            segments.append(Segment(kind, placeholder, first, beyond, at, len(starts)))
    values = {placeholder: value for (_, value), placeholder in names.given.items()}
    return Redacted("".join(pieces), tuple(segments), starts, ends, values)


def explained(text: str) -> dict[str, str]:
    """Return what each placeholder in a redacted ``text`` stands for, in words, in their order."""
    placeholders = dict.fromkeys(match[0] for match in PLACEHOLDER.finditer(text))
    kinds = {placeholder: placeholder[1:].rpartition("_")[0] for placeholder in placeholders}
    return {
        placeholder: f"{MEANINGS[kind]} that the citizen gave, left out here"
        for placeholder, kind in kinds.items()
    }


def _stretches(hits: list[tuple[str, int, int, int]]) -> list[tuple[str, int, int]]:
    """Return the stretches to hide, from left to right: finds that overlap become one.

    So nothing that any recogniser took stays visible. The longest find names the stretch, then the
    most certain one, then the first of the kinds.
    """
    stretches: list[tuple[str, int, int]] = []
    best: tuple[int, int, int] = (0, 0, 0)
    for kind, start, end, certainty in sorted(hits, key=lambda item: (item[1], -item[2])):
        rank = (start - end, certainty, KINDS.index(kind))
        if not stretches or start >= stretches[-1][2]:
            stretches.append((kind, start, end))
            best = rank
            continue
        previous, first, beyond = stretches[-1]
        if rank < best:
            previous, best = kind, rank
        stretches[-1] = (previous, first, max(beyond, end))
    return stretches


class _Names:
    """Gives placeholders to values."""

    def __init__(self, reading: str) -> None:
        self.given: dict[tuple[str, str], str] = {}
        self._reserved = {(kind.upper(), int(n)) for kind, n in _LOOKS_LIKE_ONE.findall(reading)}
        self._last = dict.fromkeys(KINDS, 0)

    def of(self, kind: str, value: str) -> str:
        if (kind, value) not in self.given:
            number = self._last[kind] + 1
            while (kind, number) in self._reserved:
                number += 1
            self._last[kind] = number
            self.given[kind, value] = f"[{kind}_{number}]"
        return self.given[kind, value]
