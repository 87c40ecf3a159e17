"""Finding codes as sentences for staff. Citizens never see any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_noop, ngettext

from ieim.pipeline.findings import Code, steps
from ieim.pipeline.gate import strict_json
from ieim.pipeline.gate.gate import UNKNOWN_FIELD

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
    Code.READER_HARMFUL: gettext_noop("Somebody who read this answer again found it harmful."),
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


WITH_VALUE: Mapping[str, str] = {
    Code.JSON_SYNTAX: gettext_noop(
        "The model put other words around its answer, so that it cannot be read: “{value}”."
    ),
    Code.JSON_NOT_OBJECT: gettext_noop(
        "The model’s answer is not the form that it was to fill in: “{value}”."
    ),
    Code.JSON_DUPLICATE_KEY: gettext_noop("The model answered “{field}” twice."),
    Code.JSON_NUMBER: gettext_noop("The model wrote a number that is none, at “{field}”."),
    Code.LABEL_UNKNOWN: gettext_noop("The model used a label that does not exist: {value}."),
    Code.KNOWLEDGE_UNKNOWN: gettext_noop(
        "The model named something that is not in the service list: {value}."
    ),
    Code.KNOWLEDGE_MISMATCH: gettext_noop(
        "The model’s “{field}” is not what the service list says: {value}."
    ),
    Code.SOURCES_UNKNOWN: gettext_noop("The answer cites a service that does not exist: {value}."),
    Code.SCORE_PRECISION: gettext_noop(
        "The model said how sure it is with more than two decimals: {value}."
    ),
    Code.SCORE_MINIMUM: gettext_noop("The model was only {value} sure; it takes 0.50."),
    Code.EVIDENCE_TRIVIAL: gettext_noop("The model quotes only filler words: “{value}”."),
    Code.EVIDENCE_NOT_FOUND: gettext_noop(
        "The model quotes “{value}”, which the message does not say."
    ),
    Code.AGENCY_COUNT: gettext_noop("The model’s list of agencies cannot be right: {value}."),
    Code.ROUTE_NEXT_STEP: gettext_noop("The model named a next step that cannot follow: {value}."),
    Code.ROUTE_SUBJECT: gettext_noop(
        "The model chose {value}; another service is far nearer to the message."
    ),
    Code.VALUE_UNMASKED: gettext_noop("The model wrote out what it has to mask: {value}."),
}
"""By code: the sentence where the offending value, or the name of its field, can be said."""
NEW_FIELD = gettext_noop("The model’s answer has a part that nobody asked for: “{field}”.")
MISSING_FIELD = gettext_noop("A part of the model’s answer is missing: {parts}.")
WRONG_FIELD = gettext_noop("A part of the model’s answer has the wrong form: “{field}” is {value}.")
SHOWN = 60
"""Characters of a value that a sentence shows."""
_NAMED = re.compile(r"'([^']+)'")


def explain(finding: Mapping[str, Any], raw: str) -> str:
    """Return a finding on the answer ``raw`` as a sentence for caseworkers, with what is wrong."""
    code, path, message = finding["code"], finding["path"], finding["message"]
    output = strict_json.parse(raw)[0]
    # Of an answer that is no JSON, what was meant to be some says nothing to a person.
    said = "" if raw.lstrip().startswith(("{", "[", "`")) else raw.strip()
    value = said if output is None else resolve(output, path)
    field = path.rpartition("/")[2]
    if code == Code.SCHEMA:
        if message == UNKNOWN_FIELD:
            return gettext(NEW_FIELD).format(field=field)
        if parts := message.startswith("A field is missing") and _NAMED.findall(message):
            return gettext(MISSING_FIELD).format(parts=", ".join(parts))
        if path and _is_short(value):
            return gettext(WRONG_FIELD).format(field=field, value=_shown(value))
    is_sayable = value not in (None, "", [], {}) and (output is None or _is_short(value))
    if code in WITH_VALUE and is_sayable:
        return gettext(WITH_VALUE[code]).format(value=_shown(value), field=field)
    return sentence(code)


def _is_short(value: Any) -> bool:
    return not isinstance(value, dict | list) or all(isinstance(part, str) for part in value)


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | dict) else str(value)
    return Truncator(" ".join(text.split())).chars(SHOWN)


def resolve(document: Any, path: str) -> Any:
    """Return what a JSON Pointer (RFC 6901) points at; None where there is nothing."""
    for name in steps(path):
        if isinstance(document, Mapping):
            document = document.get(name)
        elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


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
