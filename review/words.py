"""What staff read instead of codes. Citizens never see any of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conversations.states import StageStatus
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release
from review.models import ReviewItem
from review.states import ReviewState

STATUSES: Mapping[str, str] = {
    StageStatus.PENDING: "Not started",
    StageStatus.RUNNING: "Running",
    StageStatus.PASSED: "Passed",
    StageStatus.NEEDS_REVIEW: "Needs review",
    StageStatus.APPROVED: "Approved",
    StageStatus.OVERRIDDEN: "Overridden",
    StageStatus.CHOSEN: "Chosen by the citizen",
}

STATES: Mapping[str, str] = {
    ReviewState.OPEN: "Open",
    ReviewState.CLAIMED: "Somebody is working on it",
    ReviewState.DECIDED: "Decided",
    ReviewState.SECOND_OPINION: "Waits for a second person",
}

REASONS: Mapping[str, str] = {
    Code.MODEL_REFUSAL: "The model refused to answer.",
    Code.MODEL_TRUNCATED: "The model’s answer was cut off.",
    Code.MODEL_TOO_LARGE: "The model’s answer was far too long.",
    Code.MODEL_TIMEOUT: "The model took too long.",
    Code.MODEL_UNAVAILABLE: "The model could not be reached for a long time.",
    Code.JSON_SYNTAX: "The model’s answer was not in the form it must have.",
    Code.JSON_NOT_OBJECT: "The model’s answer was not in the form it must have.",
    Code.JSON_DUPLICATE_KEY: "The model’s answer says the same thing twice.",
    Code.JSON_NUMBER: "The model’s answer has a number that cannot be read.",
    Code.JSON_ENCODING: "The model’s answer has characters that cannot be read.",
    Code.JSON_TOO_DEEP: "The model’s answer was not in the form it must have.",
    Code.SCHEMA: "The model’s answer lacks something, or has something that it must not have.",
    Code.SESSION_MISMATCH: "The model’s answer names another conversation.",
    Code.RESPONSE_REUSED: "The model repeated the number of an earlier answer.",
    Code.LABEL_UNKNOWN: "The model used a label that does not exist.",
    Code.KNOWLEDGE_UNKNOWN: "The model chose something that is not in the service index.",
    Code.KNOWLEDGE_MISMATCH: "The model’s details differ from the service index.",
    Code.SOURCES_UNKNOWN: "The answer cites a source that is not in the service index.",
    Code.SCORE_PRECISION: "A score has too many decimal places.",
    Code.SCORE_MINIMUM: "The model was not sure enough of its choice.",
    Code.EVIDENCE_MISSING: "The model gave no evidence from the message.",
    Code.EVIDENCE_TRIVIAL: "The model’s evidence is only filler words.",
    Code.EVIDENCE_NOT_FOUND: "The model quotes words that are not in the message.",
    Code.AGENCY_COUNT: "No agency was found, or the list of agencies is wrong.",
    Code.ROUTE_BRANCH: "The model’s answer does not fit the way that the question took.",
    Code.ROUTE_NEXT_STEP: "The model named a wrong next step.",
    Code.ROUTE_SUBJECT: "The chosen service may not be what this message is about.",
    Code.TEMPLATE_UNRESOLVED: "The answer has a gap that nothing in the service index fills.",
    Code.REPLY_EMPTY: "The answer has no words.",
    Code.REPLY_UNGROUNDED: "The answer says something that its sources do not say.",
    Code.REPLY_UNCOVERED: "An agency that was found is left out, or another should answer first.",
    Code.REPLY_UNSUPPORTED: "The answer has a sentence that none of its sources says.",
    Code.SOURCES_MISSING: "The answer names a service without its source.",
    Code.TELEMETRY_MISSING: "The model did not say what it corrected.",
    Code.PIPELINE_ERROR: "Our own software failed on this question several times.",
    Code.BUDGET_INPUT: "The question needs more text than the model may be given.",
    Code.BUDGET_OUTPUT: "The answer is longer than the model may write.",
    Code.BUDGET_SESSION: "The conversation used up what one may use.",
    Code.BUDGET_DAY: "All conversations of the day used up what they may use.",
    Code.POLICY_RISK: "The message shows a risk or asks for a person, so one has to look first.",
    Code.POLICY_CONFIDENCE: "The model was less sure than the rules ask for.",
    Code.POLICY_LANGUAGE: "The message is in a language that is not supported yet.",
    Code.POLICY_PERSON: "The citizen asks for a person.",
    Code.CITIZEN_FEEDBACK: "A citizen said something of this answer.",
    Code.POLICY_UNSIGNED: "A person corrected this, and not everybody has signed who has to.",
}


def agencies(item: ReviewItem, release: Release | None) -> str:
    """Return the names of an item's agencies, first the one that has it now; empty for none.

    An id that the release has not is shown as it is.
    """
    known = release.agencies if release else {}
    names = {each: known[each].name if each in known else each for each in item.agency_ids}
    others = ", ".join(name for each, name in names.items() if each != item.agency)
    if item.agency not in names:
        return others
    return f"{names[item.agency]} (with {others})" if others else names[item.agency]


def reason(code: str) -> str:
    """Return a finding code as a sentence; a code that has none is shown as it is."""
    return REASONS.get(code, code)


def reasons(codes: Sequence[str]) -> str:
    """Return why an item was opened: the first reason, and how many others there are."""
    sentences = list(dict.fromkeys(map(reason, codes)))
    if not sentences:
        return "A person has to look at this."
    first, others = sentences[0], len(sentences) - 1
    if not others:
        return first
    return f"{first} ({others} more {'reason' if others == 1 else 'reasons'})"
