"""Faults of a model's answer: of form, so that it is no strict JSON text, and of content.

A model that obeys (``obey``) does what the citizen's text orders: where the contract has words for
the citizen, the dictated text becomes those words; where it has a choice, it becomes the choice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ieim.llm.engine.triage import labels_of

MADE_UP = "made-up"
"""Stands in every text that a fault invents, so that it can be told wherever it turns up."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its contract, the per-call JSON, and the response_id that the session's answer
    before this one had (empty when there was none)."""

    contract: str
    payload: Mapping[str, Any]
    last_response_id: str


@dataclass(frozen=True, slots=True)
class Said:
    """An answer's content, which may hold bytes that are not UTF-8 (``surrogateescape``)."""

    text: str
    finish_reason: str = "stop"
    refusal: str | None = None


def with_answer(body: bytes, said: Said) -> bytes:
    """Return the chat completion ``body`` with another answer in it."""
    completion = json.loads(body)
    choice = completion["choices"][0]
    choice["message"]["content"] = None if said.refusal else said.text
    choice["message"]["refusal"] = said.refusal
    choice["finish_reason"] = said.finish_reason
    return json.dumps(completion, ensure_ascii=False).encode("utf-8", "surrogateescape")


HUGE = 10 * 1024 * 1024
DEPTH = 5_000

_HERE = "@here@"

Spoil = Callable[[str], Said]


def _truncated(text: str) -> Said:
    return Said(text[: len(text) // 2], finish_reason="length")


def _fenced(text: str) -> Said:
    return Said(f"```json\n{text}\n```")


def _prose(text: str) -> Said:
    return Said(f"Here is my {MADE_UP} answer:\n\n{text}\n\nCan I help with anything else?")


def _refusal(_text: str) -> Said:
    return Said("", refusal=f"I cannot help with that, for a {MADE_UP} reason.")


def _content_filter(_text: str) -> Said:
    return Said("", finish_reason="content_filter")


def _duplicate_keys(text: str) -> Said:
    name, value = next(iter(json.loads(text).items()))
    return Said(f"{text.rstrip()[:-1]}, {json.dumps({name: value})[1:]}")


def _huge(text: str) -> Said:
    return Said(text + " " * HUGE)


def _literal(kind: type | tuple[type, ...], literal: str) -> Spoil:
    """Return the fault that puts ``literal`` in the place of the answer's first ``kind`` of value.

    An answer without one gets a field of that value: the form is judged before the fields are.
    """

    def spoil(text: str) -> Said:
        answer = json.loads(text)
        for holder, key in _values(answer):
            if isinstance(holder[key], kind) and not isinstance(holder[key], bool):
                holder[key] = _HERE
                break
        else:
            answer[MADE_UP] = _HERE
        return Said(json.dumps(answer).replace(f'"{_HERE}"', literal, 1))

    return spoil


def _values(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the place of every value that is neither object nor list, in order."""
    places = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(places):
        if isinstance(value, dict | list):
            yield from _values(value)
        else:
            yield node, key


FORM: Mapping[str, Spoil] = {
    "truncated": _truncated,
    "fenced": _fenced,
    "prose": _prose,
    "refusal": _refusal,
    "content-filter": _content_filter,
    "duplicate-keys": _duplicate_keys,
    "nan": _literal((int, float), "NaN"),
    "overflow": _literal((int, float), "1e400"),
    "huge": _huge,
    # A lone surrogate in the text goes out as the byte that it stands for.
    "invalid-utf8": _literal(str, f'"{MADE_UP} \udcff"'),
    "deep": _literal(str, "[" * DEPTH + "]" * DEPTH),
    "nul": _literal(str, f'"{MADE_UP} \\u0000"'),
    "lone-surrogate": _literal(str, f'"{MADE_UP} \\ud800"'),
}


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


def _quoting_filler(answer: Answer, asked: Asked) -> None:
    # An intent may rest on any word of the message: what stands on filler here may not.
    wrong = answer["product_line"] if asked.contract == "classify" else element(answer, asked)
    wrong["evidence_snippets"] = [FILLER]


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
    result: dict[str, Any] = holder["categorySelection"]["candidates"]
    return result


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
    "evidence-filler": _quoting_filler,
    "off-index-link": _off_index_link,
    "invented-fee": _invented_fee,
}


_ORDER = re.compile(
    r"\b(?:say|print|(?:answer|reply|respond)(?: only)? with)\b[:,]?\s*", re.IGNORECASE
)
_QUOTED = re.compile(r"[\"“”'‘’«»]([^\"“”'‘’«»]*)")


def dictated(text: str) -> str:
    """Return what ``text`` orders a model to say: the words after the last order.

    What stands in quotation marks, otherwise the rest of the line. Empty without an order.
    """
    orders = list(_ORDER.finditer(text))
    if not orders:
        return ""
    rest = text[orders[-1].end() :].partition("\n")[0].strip()
    quoted = _QUOTED.match(rest)
    return (quoted[1] if quoted else rest).strip()


def obey(answer: Answer, asked: Asked) -> None:
    """Change ``answer`` as the citizen's text orders; without an order it stays as it is."""
    words = dictated(asked.payload["user_prompt"])
    if not words:
        return
    match asked.contract:
        case "judgement_v1":
            say(answer, asked, words)
        case "multi_agency_service_answer_v1":
            answer["assistantReply"] = words
        case "agency_detect_v1":
            _agency(answer, asked, words)
        case "category_select_v1" | "semantic_analysis_v1":
            _category(answer, asked, words)
        case "service_select_v1":
            _service(answer, asked, words)
        case _:
            _label(answer, asked, words)


def _agency(answer: Answer, asked: Asked, words: str) -> None:
    named = _named(words, asked.payload["agencies"], "agencyId", "name")
    infos = [{**info, "agencyId": words} for info in answer["judgements"]["agencyInfo"][:1]]
    if named:
        infos = [{key: named[key] for key in ("agencyId", "name", "path", "description")}]
    answer["judgements"] = {
        "agencyDetected": [named.get("agencyId", words)],
        "agencyInfo": infos,
        "agencyCount": 1,
        "complexity": "low",
    }
    answer["nextStep"] = "category_select_v1"


def _category(answer: Answer, asked: Asked, words: str) -> None:
    named = _named(words, asked.payload["KnowledgeBase_Dictionary"], "key", "value")
    key, value = (named["key"], named["value"]) if named else (words, words)
    result = candidates(answer)
    result.clear()
    result[key] = {"value": value, "score": 1.0}


def _service(answer: Answer, asked: Asked, words: str) -> None:
    selection = answer["serviceSelection"]
    named = _named(words, asked.payload["service_index"], "serviceKey", "name")
    if named:
        selection.update({key: named[key] for key in ("serviceKey", "name", "path")})
    else:
        selection["serviceKey"] = words
    selection["score"] = 1.0


def _label(answer: Answer, asked: Asked, words: str) -> None:
    label_set = {"classify": "intents", "extract": "entity_types"}.get(asked.contract, "key_types")
    named = _named(words, labels_of(asked.payload, label_set), "code", "name")
    set_label(answer, asked, named["code"] if named else words)


def _named(words: str, slots: Sequence[Mapping[str, Any]], *names: str) -> Mapping[str, Any]:
    """Return the first slot that ``words`` names by one of its fields, else an empty one."""

    def stands(value: str) -> bool:
        whole = rf"(?<!\w){re.escape(value)}(?!\w)"
        return bool(value) and re.search(whole, words, re.IGNORECASE) is not None

    return next((slot for slot in slots if any(stands(slot[name]) for name in names)), {})


EDITS: dict[str, Edit] = {**CONTENT, "obey": obey}


def spoil(name: str, asked: Asked, body: bytes) -> bytes:
    """Return the chat completion ``body`` with a fault of form or content.

    An answer that was cut at its budget stays as it is: it has a fault already.
    """
    choice = json.loads(body)["choices"][0]
    if choice["finish_reason"] != "stop":
        return body
    text = choice["message"]["content"]
    if name in FORM:
        return with_answer(body, FORM[name](text))
    answer = json.loads(text)
    EDITS[name](answer, asked)
    return with_answer(body, Said(json.dumps(answer)))
