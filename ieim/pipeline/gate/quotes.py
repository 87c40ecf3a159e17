"""The evidence step: whether what an answer quotes stands in the citizen's own text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from ieim.pipeline.evidence import locating
from ieim.pipeline.evidence.locating import Span
from ieim.pipeline.evidence.pairing import placed
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.stages.base import Claim, Context

SOURCE = "user_prompt"


class EvidenceDict(TypedDict):
    """A located quote as JSON."""

    path: str
    source: str
    start: int
    end: int
    quote: str
    snippet_sha256: str
    occurrences: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a quote of the answer stands in the citizen's text (half-open code points)."""

    path: str
    start: int
    end: int
    quote: str
    snippet_sha256: str
    occurrences: int

    def as_dict(self) -> EvidenceDict:
        """Return the span in its published JSON form."""
        return {
            "path": self.path,
            "source": SOURCE,
            "start": self.start,
            "end": self.end,
            "quote": self.quote,
            "snippet_sha256": self.snippet_sha256,
            "occurrences": self.occurrences,
        }


def findings(
    claims: Iterable[Claim], context: Context, located: list[Evidence]
) -> Iterable[Finding]:
    """Yield what is wrong with the quotes of an answer's ``claims``; quotes that stand are added
    to ``located``."""
    for claim, spans in placed(claims, context.seen):
        yield from _check_claim(claim, spans, context, located)


def _check_claim(
    claim: Claim, spans: Iterable[Span | None], context: Context, located: list[Evidence]
) -> Iterable[Finding]:
    text = context.seen
    base = f"{claim.path}/evidence_snippets"
    if not claim.snippets:
        yield Finding(Code.EVIDENCE_MISSING, base, "There is no quote from the citizen's text.")
    standing = []
    for i, span in enumerate(spans):
        quote = claim.snippets[i]
        if locating.is_trivial(quote):
            yield Finding(
                Code.EVIDENCE_TRIVIAL, f"{base}/{i}", "The quote is only filler words or marks."
            )
        elif span is None:
            yield Finding(
                Code.EVIDENCE_NOT_FOUND,
                f"{base}/{i}",
                "The quote does not stand in the citizen's text.",
            )
        else:
            standing.append(text[span.start : span.end])
            start, end = context.original(span.start, span.end)
            digest = locating.snippet_sha256(
                context.user_prompt, Span(start, end, span.occurrences)
            )
            located.append(Evidence(f"{base}/{i}", start, end, quote, digest, span.occurrences))
    if claim.value is not None and not _value_stands(claim, claim.value, text, standing):
        yield Finding(
            Code.EVIDENCE_NOT_FOUND,
            claim.value_path,
            "The value does not stand in the quotes from the citizen's text.",
        )


def _value_stands(claim: Claim, value: str, text: str, standing: Iterable[str]) -> bool:
    def stands_in(quote: str) -> bool:
        return locating.contains_value(quote, value, masks=claim.may_be_masked)

    if any(map(stands_in, standing)):
        return True
    # A quote that is missing, filler or not in the text has a finding of its own: the value is at
    # fault only where the text does not have it, or none of its quotes as they were given.
    return stands_in(text) and (not claim.snippets or any(map(stands_in, claim.snippets)))
