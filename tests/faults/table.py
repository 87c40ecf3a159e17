"""Every fault of a model server as data: what it does, and what has to come of it, by contract.

The tests hold the pipeline to this table, and ``docs/build_faults.py`` makes ``docs/faults.md`` of
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ieim.pipeline.findings import Code
from ieim.pipeline.topology import FLOW, STAGES

ALL = tuple(STAGES)
SESSION = tuple(stage.id for stage in STAGES.values() if stage.has_session)
TRIAGE = tuple(contract for contract in ALL if contract not in {stage.id for stage in FLOW})

_JUDGEMENT = "judgement_v1"
_AGENCY = "agency_detect_v1"
_CATEGORY = "category_select_v1"
_ANALYSIS = "semantic_analysis_v1"
_SERVICE = "service_select_v1"
_ANSWER = "multi_agency_service_answer_v1"


class Outcome(StrEnum):
    """What becomes of a stage whose every answer has the fault."""

    WAITS = "waits"
    """No answer could be had: each try is audited, no attempt is used up, and the turn waits."""
    TWO_ATTEMPTS = "two attempts"
    """Both attempts have the findings; then one review item opens."""
    ONE_ATTEMPT = "one attempt"
    """The first attempt has the findings and is the last; one review item opens."""
    REPLACED = "replaced"
    """Nothing is found; the administration's text is shown in place of the model's words."""
    FALLBACK = "fallback"
    """Both attempts have the findings, in their wording alone: the cards go out without it."""


Ends = dict[str, frozenset[Code]]


@dataclass(frozen=True, slots=True)
class Fault:
    """``ends`` has the codes that are found or audited, by contract; others are left alone."""

    name: str
    description: str
    outcome: Outcome
    ends: Ends
    in_words: frozenset[str] = frozenset()
    """The contracts at which the fault is in the wording alone."""

    def outcome_at(self, contract: str) -> Outcome:
        """What becomes of the stage of one of the contracts: a model's words are never shown as
        guidance, so nothing is found in them."""
        if contract in self.in_words:
            return Outcome.FALLBACK
        return self.outcome if self.ends[contract] else Outcome.REPLACED


def _ends(contracts: Iterable[str], *codes: Code) -> Ends:
    return dict.fromkeys(contracts, frozenset(codes))


_WAITS, _ONE, _TWO = Outcome.WAITS, Outcome.ONE_ATTEMPT, Outcome.TWO_ATTEMPTS

_TABLE: tuple[Fault, ...] = (
    Fault(
        "timeout", "Takes the request and never answers.", _WAITS, _ends(ALL, Code.MODEL_TIMEOUT)
    ),
    Fault(
        "drip",
        "Sends its answer a byte at a time, slower than anyone waits.",
        _WAITS,
        _ends(ALL, Code.MODEL_TIMEOUT),
    ),
    Fault(
        "rate-limit",
        "Answers 429, with Retry-After: 30.",
        _WAITS,
        _ends(ALL, Code.MODEL_UNAVAILABLE),
    ),
    Fault("error", "Answers 500.", _WAITS, _ends(ALL, Code.MODEL_UNAVAILABLE)),
    Fault(
        "reset",
        "Resets the connection instead of answering.",
        _WAITS,
        _ends(ALL, Code.MODEL_UNAVAILABLE),
    ),
    Fault(
        "truncated",
        "Stops in the middle, as at its length limit.",
        _TWO,
        _ends(ALL, Code.MODEL_TRUNCATED),
    ),
    Fault("fenced", "Puts its JSON into a code fence.", _TWO, _ends(ALL, Code.JSON_SYNTAX)),
    Fault("prose", "Puts its JSON between two sentences.", _TWO, _ends(ALL, Code.JSON_SYNTAX)),
    Fault("refusal", "Refuses.", _ONE, _ends(ALL, Code.MODEL_REFUSAL)),
    Fault(
        "content-filter", "Is stopped by a content filter.", _ONE, _ends(ALL, Code.MODEL_REFUSAL)
    ),
    Fault(
        "too-long",
        "Answers 400: the request is too long for the model's context.",
        _TWO,
        _ends(ALL, Code.MODEL_CONTEXT_LENGTH),
    ),
    Fault(
        "duplicate-keys",
        "Gives the first field of its answer twice.",
        _TWO,
        _ends(ALL, Code.JSON_DUPLICATE_KEY),
    ),
    Fault("nan", "Gives NaN for a number.", _TWO, _ends(ALL, Code.JSON_NUMBER)),
    Fault("overflow", "Gives 1e400 for a number.", _TWO, _ends(ALL, Code.JSON_NUMBER)),
    Fault(
        "three-decimals",
        "Gives the score 0.876.",
        _TWO,
        _ends((_CATEGORY, _ANALYSIS, _SERVICE), Code.SCORE_PRECISION),
    ),
    Fault(
        "wrong-session",
        "Gives the session_id of another session.",
        _TWO,
        _ends(SESSION, Code.SESSION_MISMATCH),
    ),
    Fault(
        "reused-response",
        "Gives the response_id of the session's answer before; the first answer has none to give.",
        _TWO,
        _ends(SESSION, Code.RESPONSE_REUSED),
    ),
    Fault(
        "unknown-label", "Gives a label that is in no set.", _TWO, _ends(TRIAGE, Code.LABEL_UNKNOWN)
    ),
    Fault(
        "unknown-agency",
        "Names an agency that there is not.",
        _TWO,
        _ends((_AGENCY, _ANALYSIS), Code.KNOWLEDGE_UNKNOWN)
        | _ends((_ANSWER,), Code.SOURCES_UNKNOWN),
    ),
    Fault(
        "unknown-category",
        "Names a category that there is not.",
        _TWO,
        _ends((_CATEGORY, _ANALYSIS), Code.KNOWLEDGE_UNKNOWN),
    ),
    Fault(
        "unknown-service",
        "Names a service that there is not.",
        _TWO,
        _ends((_SERVICE,), Code.KNOWLEDGE_UNKNOWN) | _ends((_ANSWER,), Code.SOURCES_UNKNOWN),
    ),
    Fault("evidence-absent", "Gives no quote.", _TWO, _ends(TRIAGE, Code.EVIDENCE_MISSING)),
    Fault(
        "evidence-invented",
        "Quotes what the citizen did not write.",
        _TWO,
        _ends(TRIAGE, Code.EVIDENCE_NOT_FOUND),
    ),
    Fault(
        "evidence-filler",
        "Quotes only filler words; a value does not stand in them either.",
        _TWO,
        _ends(("classify",), Code.EVIDENCE_TRIVIAL)
        | _ends(("extract", "identity_assist"), Code.EVIDENCE_TRIVIAL, Code.EVIDENCE_NOT_FOUND),
    ),
    Fault(
        "off-index-link",
        "Links to a page that is not in the index.",
        _TWO,
        _ends((_JUDGEMENT,))
        | _ends((_ANSWER,), Code.REPLY_UNGROUNDED)
        | _ends((_AGENCY, _SERVICE), Code.KNOWLEDGE_MISMATCH),
        frozenset({_ANSWER}),
    ),
    Fault(
        "invented-fee",
        "States a fee that no source gives.",
        _TWO,
        _ends((_JUDGEMENT,))
        | _ends((_ANSWER,), Code.REPLY_UNGROUNDED)
        | _ends((_SERVICE,), Code.TEMPLATE_UNRESOLVED),
        frozenset({_ANSWER}),
    ),
    Fault("huge", "Answers with 10 MB.", _TWO, _ends(ALL, Code.MODEL_TOO_LARGE)),
    Fault("invalid-utf8", "Sends a byte that is not UTF-8.", _TWO, _ends(ALL, Code.JSON_ENCODING)),
    Fault("deep", "Nests lists 5,000 deep.", _TWO, _ends(ALL, Code.JSON_TOO_DEEP)),
    Fault("nul", "Gives a text with a NUL in it.", _TWO, _ends(ALL, Code.JSON_ENCODING)),
    Fault(
        "lone-surrogate", "Gives half of a surrogate pair.", _TWO, _ends(ALL, Code.JSON_ENCODING)
    ),
    Fault(
        "obey",
        "Does what the citizen's text tells it with “say”, “print” or “answer with”: the words "
        "become its reply, or its choice.",
        _TWO,
        _ends((_JUDGEMENT,))
        | _ends((_ANSWER,), Code.REPLY_UNGROUNDED)
        | _ends((_AGENCY, _CATEGORY, _ANALYSIS, _SERVICE), Code.KNOWLEDGE_UNKNOWN)
        | _ends(TRIAGE, Code.LABEL_UNKNOWN),
        frozenset({_ANSWER}),
    ),
)

FAULTS: Mapping[str, Fault] = {fault.name: fault for fault in _TABLE}
"""By name, in the order in which they are shown."""

BEGIN = "<!-- From here to the end mark: python docs/build_faults.py -->"
END = "<!-- end -->"

_HEAD = ("fault", "what the server does", "contracts", "outcome", "codes")
_TOGETHER: Mapping[frozenset[str], str] = {
    frozenset(ALL): "all",
    frozenset(TRIAGE): "the three of triage",
    frozenset(ALL) - frozenset(TRIAGE) - {"judgement_v1"}: "all stages after judgement_v1",
}


def table() -> str:
    """Return the faults as a Markdown table, one row a fault and set of codes."""
    rows = [f"| {' | '.join(_HEAD)} |", "|---" * len(_HEAD) + "|"]
    for fault in FAULTS.values():
        values = (f"`{fault.name}`", fault.description)
        for (codes, outcome), contracts in _by_codes(fault).items():
            named = ", ".join(f"`{code}`" for code in sorted(codes)) or "none"
            cells = (*values, _together(contracts), outcome.value, named)
            rows.append(f"| {' | '.join(cells)} |")
            values = ("", "")
    return "\n".join(rows)


def refreshed(page: str) -> str:
    """Return ``page`` with the table of today between its marks; ValueError without marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"The page has no section from {BEGIN} to {END}.")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _by_codes(fault: Fault) -> dict[tuple[frozenset[Code], Outcome], list[str]]:
    grouped: dict[tuple[frozenset[Code], Outcome], list[str]] = {}
    for contract, codes in fault.ends.items():
        grouped.setdefault((codes, fault.outcome_at(contract)), []).append(contract)
    return grouped


def _together(contracts: list[str]) -> str:
    named = _TOGETHER.get(frozenset(contracts))
    return named or ", ".join(f"`{contract}`" for contract in contracts)
