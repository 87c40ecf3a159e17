"""Claims: whether a free text says only what its sources say (DESIGN decision 22).

Each sentence or list item is judged alone. Courtesies, openers and heads are free; every other one
is a claim, which one entry (a service with its agency, or a text of the administration's own) has
to support. Pure, deterministic, linear in the length of the text; no str raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ieim.pipeline.claims.entries import Entry, of_service, of_text
from ieim.pipeline.claims.judging import Judge
from ieim.pipeline.claims.language import sentences, told
from ieim.pipeline.claims.quoting import Quote, quotes

__all__ = [
    "Claim",
    "Entry",
    "Quote",
    "of_service",
    "of_text",
    "quotes",
    "sentences",
    "told",
    "unsupported",
]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that no source supports.

    It stands at code points ``start`` to ``end`` (half-open) of the reply; ``text`` is that slice
    and ``why`` says in plain words what is missing.
    """

    start: int
    end: int
    text: str
    why: str


def unsupported(
    reply: str, entries: Sequence[Entry], *, question: str, language: str = ""
) -> list[Claim]:
    """Return the sentences of ``reply`` that none of ``entries`` supports, from left to right.

    ``question`` is the citizen's message, ``language`` (ISO 639-1) that of the reply; it is told by
    the words where it is not given. A reply of nothing but courtesy is one claim: it is no answer.
    """
    judge = Judge(reply, entries, question, language)
    found: list[Claim] = []
    answers = False
    for start, end in sentences(reply):
        verdict = judge.verdict(reply[start:end])
        answers = answers or verdict.answers
        if verdict.why:
            found.append(Claim(start, end, reply[start:end], verdict.why))
    if reply.strip() and not found and not answers:
        why = "It says nothing that answers the question."
        return [Claim(0, len(reply), reply, why)]
    return found
