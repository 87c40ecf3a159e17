"""Finding codes as sentences for staff. Citizens never see any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext, gettext_noop, ngettext

from ieim.pipeline.findings import Code

SENTENCES: Mapping[str, str] = {
    Code.MODEL_REFUSAL: gettext_noop("The model refused to answer."),
    Code.MODEL_TRUNCATED: gettext_noop("The model’s answer was cut off."),
    Code.MODEL_TOO_LARGE: gettext_noop("The model’s answer was far too long."),
    Code.MODEL_CONTEXT_LENGTH: gettext_noop("The message is too long for the model."),
    Code.MODEL_REJECTED: gettext_noop(
        "The model server did not take this message. It may take others."
    ),
    Code.MODEL_TIMEOUT: gettext_noop("The model took too long."),
    Code.MODEL_UNAVAILABLE: gettext_noop("The model could not be reached for a long time."),
    Code.JSON_SYNTAX: gettext_noop("The model’s answer was not in the form it must have."),
    Code.JSON_NOT_OBJECT: gettext_noop("The model’s answer was not in the form it must have."),
    Code.JSON_DUPLICATE_KEY: gettext_noop("The model’s answer says the same thing twice."),
    Code.JSON_NUMBER: gettext_noop("The model’s answer has a number that cannot be read."),
    Code.JSON_ENCODING: gettext_noop("The model’s answer has characters that cannot be read."),
    Code.JSON_TOO_DEEP: gettext_noop("The model’s answer was not in the form it must have."),
    Code.SCHEMA: gettext_noop("The model’s answer has too little or too much in it."),
    Code.SESSION_MISMATCH: gettext_noop("The model’s answer names another conversation."),
    Code.RESPONSE_REUSED: gettext_noop("The model repeated the number of an earlier answer."),
    Code.LABEL_UNKNOWN: gettext_noop("The model used a label that does not exist."),
    Code.KNOWLEDGE_UNKNOWN: gettext_noop(
        "The model chose something that is not in the service index."
    ),
    Code.KNOWLEDGE_MISMATCH: gettext_noop("The model’s details differ from the service index."),
    Code.SOURCES_UNKNOWN: gettext_noop(
        "The answer cites a source that is not in the service index."
    ),
    Code.SCORE_PRECISION: gettext_noop("A score has too many decimal places."),
    Code.SCORE_MINIMUM: gettext_noop("The model was not sure enough of its choice."),
    Code.EVIDENCE_MISSING: gettext_noop("The model gave no evidence from the message."),
    Code.EVIDENCE_TRIVIAL: gettext_noop("The model’s evidence is only filler words."),
    Code.EVIDENCE_NOT_FOUND: gettext_noop("The model quotes words that are not in the message."),
    Code.VALUE_UNMASKED: gettext_noop("The model wrote out what it has to mask."),
    Code.AGENCY_COUNT: gettext_noop("No agency was found, or the list of agencies is wrong."),
    Code.ROUTE_BRANCH: gettext_noop(
        "The model’s answer does not fit the way that the question took, or another agency should "
        "answer first."
    ),
    Code.ROUTE_NEXT_STEP: gettext_noop("The model named a wrong next step."),
    Code.ROUTE_SUBJECT: gettext_noop("The chosen service may not be what this message is about."),
    Code.TEMPLATE_UNRESOLVED: gettext_noop(
        "The answer has a gap that nothing in the service index fills."
    ),
    Code.TEMPLATE_UNORDERED: gettext_noop(
        "The model did not say which fields the answer begins with."
    ),
    Code.REPLY_EMPTY: gettext_noop("The answer says nothing of what its sources say."),
    Code.REPLY_UNGROUNDED: gettext_noop("The answer says something that its sources do not say."),
    Code.REPLY_UNCOVERED: gettext_noop("An agency that was found is left out."),
    Code.REPLY_UNSUPPORTED: gettext_noop(
        "The answer has a sentence that none of its sources says."
    ),
    Code.SOURCES_MISSING: gettext_noop("The answer names a service without its source."),
    Code.TELEMETRY_MISSING: gettext_noop("The model did not say what it corrected."),
    Code.PIPELINE_ERROR: gettext_noop("Our own software failed on this question several times."),
    Code.BUDGET_INPUT: gettext_noop("The question needs more text than the model may be given."),
    Code.BUDGET_OUTPUT: gettext_noop("The answer is longer than the model may write."),
    Code.BUDGET_SESSION: gettext_noop("The conversation used up what one may use."),
    Code.BUDGET_DAY: gettext_noop("All conversations of the day used up what they may use."),
    Code.POLICY_RISK: gettext_noop("The message shows a risk or asks for a person."),
    Code.POLICY_CONFIDENCE: gettext_noop("The model was less sure than the rules ask for."),
    Code.POLICY_LANGUAGE: gettext_noop("The message is in a language that is not supported yet."),
    Code.POLICY_PERSON: gettext_noop("The citizen asks for a person."),
    Code.CITIZEN_FEEDBACK: gettext_noop("A citizen said something of this answer."),
    Code.CITIZEN_DANGER: gettext_noop(
        "The message may tell of danger: the citizen was shown help lines."
    ),
    Code.POLICY_SWITCHED_OFF: gettext_noop(
        "An administrator has switched off what the assistant says for this agency."
    ),
    Code.POLICY_UNSIGNED: gettext_noop("A person corrected this, and signatures are missing."),
    Code.POLICY_OUTDATED: gettext_noop(
        "A service was withdrawn or changed since it was asked for."
    ),
}


def sentence(code: str) -> str:
    """Return a finding code as a sentence; a code that has none is shown as it is."""
    return gettext(SENTENCES[code]) if code in SENTENCES else code


def first_sentence(codes: Sequence[str]) -> str:
    """Return why an item was opened in one sentence: the first reason."""
    return sentence(codes[0]) if codes else gettext("A person has to look at this.")


def summary(codes: Sequence[str]) -> str:
    """Return why an item was opened: the first reason, and how many others there are."""
    first, others = first_sentence(codes), len(dict.fromkeys(map(sentence, codes))) - 1
    if others < 1:
        return first
    message = ngettext("{first} ({number} more reason)", "{first} ({number} more reasons)", others)
    return message.format(first=first, number=others)
