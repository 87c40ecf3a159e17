"""Quotes: where those of one answer stand in the text that they are from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ieim.pipeline.evidence.locating import Span, Taken, locate_each
from ieim.pipeline.stages.base import Claim


def placed(claims: Iterable[Claim], text: str) -> Iterator[tuple[Claim, list[Span | None]]]:
    """Yield each claim of one answer with the place of each of its quotes in ``text``.

    Facts share their quotes: where two facts have the same quote, the first points to its first
    occurrence and the second to the next, in the order of the answer; with more facts than
    occurrences the later ones point to the last. Each label has its quotes to itself: several
    labels may rest on the same words, and point to their first occurrence.
    """
    facts: Taken = {}
    for claim in claims:
        yield claim, locate_each(text, claim.snippets, None if claim.value is None else facts)
