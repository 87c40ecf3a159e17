"""Agency, category and service: what the ranking has first, as far as it is sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ieim.llm.engine import Payload, Slot, best, envelope, is_high, score
from ieim.llm.engine.thresholds import OUTSIDE
from ieim.pipeline.reply.cards import SECTIONS

MOST_AGENCIES: Final = 3

_AGENCY = ("agencyId", "name", "path", "description")
_PLACEHOLDERS = ("service_name", *(f"service_{field}" for field in SECTIONS))
"""All that a reply shows; it leaves out what is blank."""

_NO_SERVICE: Slot = {"serviceKey": "", "name": "", "path": ""}
"""The selection from an empty index, which the gate stops."""


def detect(payload: Payload) -> dict[str, Any]:
    """Answer agency_detect_v1; where the ranking is far from everything the list is empty."""
    agencies = _detected(payload)
    high = len(agencies) > 1
    step = "semantic_analysis_v1" if high else "category_select_v1" if agencies else "session_end"
    return envelope(
        payload,
        step,
        judgements={
            "agencyDetected": [agency["agencyId"] for agency in agencies],
            "agencyInfo": [{name: agency[name] for name in _AGENCY} for agency in agencies],
            "agencyCount": len(agencies),
            "complexity": "high" if high else "low",
        },
    )


def _detected(payload: Payload) -> Sequence[Slot]:
    ranking = payload["ranking"]
    by_id = {agency["agencyId"]: agency for agency in payload["agencies"]}
    requested = [
        by_id[identifier]
        for identifier in dict.fromkeys(ranking.get("requests", ()))
        if identifier in by_id
    ]
    if len(requested) > 1:
        return requested[:MOST_AGENCIES]
    first = best(payload["agencies"])
    return [first] if first is not None and ranking["outside"] < OUTSIDE else []


def select_category(payload: Payload) -> dict[str, Any]:
    """Answer category_select_v1 with the category ranked first."""
    return envelope(payload, "service_select_v1", categorySelection=_category(payload))


def analyse(payload: Payload) -> dict[str, Any]:
    """Answer semantic_analysis_v1 with the category ranked first at each agency. All have the same
    score, so that the primary agency is the first one that has a category."""
    agencies = [
        {
            "agencyId": agency["agencyId"],
            "agencyName": agency["name"],
            "categorySelection": _category(payload, agency["agencyId"]),
        }
        for agency in payload["agencies"]
    ]
    primary = max(
        agencies, key=lambda agency_slot: len(agency_slot["categorySelection"]["candidates"])
    )
    reason = "Its request comes first in the message."
    return envelope(
        payload,
        "service_select_v1",
        semanticAnalysis={
            "agencies": agencies,
            "primaryAgency": {"agencyId": primary["agencyId"], "reason": reason},
        },
    )


def _category(payload: Payload, agency: str = "") -> dict[str, Any]:
    entry = best(payload["KnowledgeBase_Dictionary"], agency)
    if entry is None:
        return {"candidates": {}}
    return {"candidates": {entry["key"]: {"value": entry["value"], "score": score(payload)}}}


def select_service(payload: Payload) -> dict[str, Any]:
    """Answer service_select_v1 with the service ranked first; the reply opens with all its
    fields."""
    service = best(payload["service_index"]) or _NO_SERVICE
    return envelope(
        payload,
        "multi_agency_service_answer_v1" if is_high(payload) else "session_end",
        serviceSelection={
            **{name: service[name] for name in _NO_SERVICE},
            "matchedField": "name",
            "score": score(payload),
        },
        template={
            "placeholders": {name: f"{{{name}}}" for name in _PLACEHOLDERS},
            "rules": " ".join(f"{{{name}}}" for name in _PLACEHOLDERS),
        },
    )
