"""Faults of content: an answer of the right form that says what it may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ieim.llm.faults.exchange import MADE_UP, Asked

AGENCY = f"{MADE_UP}-agency"
CATEGORY = f"{MADE_UP}-category"
SERVICE = f"{MADE_UP}-service"
LABEL = f"{MADE_UP}-label"
SESSION_ID = f"{MADE_UP}-session"
LINK = f"https://{MADE_UP}.example.net/apply"
FEE = "$4,321.00"
QUOTE = f"a {MADE_UP} quotation"
FILLER = "and the"
SCORE = 0.876

_LONGEST_QUOTE = 100

Answer = dict[str, Any]
Edit = Callable[[Answer, Asked], None]
"""Changes a parsed answer in place; leaves alone what has not the place for it."""


def _three_decimals(answer: Answer, asked: Asked) -> None:
    match asked.contract:
        case "category_select_v1" | "semantic_analysis_v1":
            for candidate in list(candidates(answer).values())[:1]:
                candidate["score"] = SCORE
        case "service_select_v1":
            answer["serviceSelection"]["score"] = SCORE
        case _:
            element(answer, asked)["confidence"] = SCORE


def _wrong_session(answer: Answer, _asked: Asked) -> None:
    answer["session_id"] = SESSION_ID


def _reused_response(answer: Answer, asked: Asked) -> None:
    answer["response_id"] = asked.last_response_id or answer["response_id"]


def _unknown_label(answer: Answer, asked: Asked) -> None:
    set_label(answer, asked, LABEL)


def _unknown_agency(answer: Answer, asked: Asked) -> None:
    match asked.contract:
        case "agency_detect_v1":
            judgements = answer["judgements"]
            judgements["agencyDetected"][:1] = [AGENCY]
            for info in judgements["agencyInfo"][:1]:
                info["agencyId"] = AGENCY
        case "semantic_analysis_v1":
            answer["semanticAnalysis"]["agencies"][0]["agencyId"] = AGENCY
        case _:
            for source in answer["sourcesUsed"][:1]:
                source["agencyId"] = AGENCY


def _unknown_category(answer: Answer, _asked: Asked) -> None:
    candidates(answer)[CATEGORY] = {"value": CATEGORY, "score": 0.9}


def _unknown_service(answer: Answer, asked: Asked) -> None:
    if asked.contract == "service_select_v1":
        answer["serviceSelection"]["serviceKey"] = SERVICE
    for source in answer.get("sourcesUsed", ())[:1]:
        source["serviceKey"] = SERVICE


def _quoting(*quotes: str) -> Edit:
    def edit(answer: Answer, asked: Asked) -> None:
        element(answer, asked)["evidence_snippets"] = list(quotes)

    return edit


def _off_index_link(answer: Answer, asked: Asked) -> None:
    match asked.contract:
        case "agency_detect_v1":
            for info in answer["judgements"]["agencyInfo"][:1]:
                info["path"] = LINK
        case "service_select_v1":
            answer["serviceSelection"]["path"] = LINK
        case _:
            say(answer, asked, f"You can apply at {LINK}.")


def _invented_fee(answer: Answer, asked: Asked) -> None:
    if asked.contract == "service_select_v1":
        answer["template"]["placeholders"]["service_fees"] = FEE
    else:
        say(answer, asked, f"The {MADE_UP} fee is {FEE}.")


def say(answer: Answer, asked: Asked, text: str) -> None:
    """Put ``text`` into what the citizen would read of judgement_v1 or of the last stage."""
    if asked.contract == "judgement_v1":
        # Only guidance has words of its own: the message is declared to be no inquiry.
        answer["judgements"]["inquiry"] = False
        answer["assistantReply"] = text
        answer["nextStep"] = "session_end"
    else:
        answer["assistantReply"] = f"{answer['assistantReply']}\n\n{text}".strip()


def candidates(answer: Answer) -> dict[str, Any]:
    """Return the dictionary candidates of an answer that has some, of its first agency."""
    holder = answer["semanticAnalysis"]["agencies"][0] if "semanticAnalysis" in answer else answer
    found: dict[str, Any] = holder["categorySelection"]["candidates"]
    return found


def element(answer: Answer, asked: Asked) -> dict[str, Any]:
    """Return the first element of a triage answer; one is made when the answer has none.

    A made element is right in itself: its quote is the beginning of the citizen's text.
    """
    name, label_set = {
        "classify": ("intents", "intents"),
        "extract": ("entities", "entity_types"),
        "identity_assist": ("keys", "key_types"),
    }[asked.contract]
    elements: list[dict[str, Any]] = answer[name]
    if not elements:
        elements.append(_element(asked, label_set))
        if asked.contract == "classify":
            answer["primary_intent"] = elements[0]["label"]
    return elements[0]


def _element(asked: Asked, label_set: str) -> dict[str, Any]:
    codes = list(asked.payload["labels"][label_set])
    code = codes[0] if codes else LABEL
    quote = _beginning(asked.payload["user_prompt"])
    match label_set:
        case "intents":
            named: dict[str, Any] = {"label": code, "confidence": 0.9}
        case "entity_types":
            named = {"entity_type": code, "value_redacted": quote, "confidence": 0.9}
        case _:
            named = {"key_type": code, "key_value": quote}
    return {**named, "evidence_snippets": [quote]}


def _beginning(text: str) -> str:
    if len(text) <= _LONGEST_QUOTE:
        return text
    return text[:_LONGEST_QUOTE].rpartition(" ")[0] or text[:_LONGEST_QUOTE]


def set_label(answer: Answer, asked: Asked, label: str) -> None:
    """Give the first element of a triage answer another label."""
    first = element(answer, asked)
    first[next(name for name in ("label", "entity_type", "key_type") if name in first)] = label
    if asked.contract == "classify":
        answer["primary_intent"] = label


CONTENT: Mapping[str, Edit] = {
    "three-decimals": _three_decimals,
    "wrong-session": _wrong_session,
    "reused-response": _reused_response,
    "unknown-label": _unknown_label,
    "unknown-agency": _unknown_agency,
    "unknown-category": _unknown_category,
    "unknown-service": _unknown_service,
    "evidence-absent": _quoting(),
    "evidence-invented": _quoting(QUOTE),
    "evidence-filler": _quoting(FILLER),
    "off-index-link": _off_index_link,
    "invented-fee": _invented_fee,
}
