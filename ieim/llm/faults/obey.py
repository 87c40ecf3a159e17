"""A model that obeys: it does what the citizen's text tells it instead of what it was asked.

Where the contract has words for the citizen, the dictated text becomes those words. Where it has a
choice, the dictated text becomes the choice: in good form when it names something that there is to
choose, as it stands when it does not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ieim.llm.engine.triage import labels_of
from ieim.llm.faults.content import Answer, candidates, say, set_label
from ieim.llm.faults.exchange import Asked

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
    found = candidates(answer)
    found.clear()
    found[key] = {"value": value, "score": 1.0}


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
