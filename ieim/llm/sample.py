"""One small question to every contract, with nobody's words in it.

It is about two made-up offices, so that a server can be called before there is any knowledge, and
no citizen's text or administration's index leaves the machine.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Any

from ieim.pipeline import contract as contracts
from ieim.pipeline import request
from ieim.pipeline.knowledge import Agency, Category, Label, Release, Service
from ieim.pipeline.ports import ModelRequest, Query
from ieim.pipeline.stages.base import Context, Inputs
from ieim.pipeline.topology import STAGES
from ieim.search import index_for

TEXT = "I want to book a pavilion in a public garden on 3 May."
TEXT_TO_TWO = f"{TEXT} Who collects the rubbish afterwards?"
TODAY = date(2026, 4, 20)
SESSION = "00000000-0000-4000-8000-000000000000"

_PARKS = Agency("parks", "Parks Office", "https://parks.example", "Looks after public gardens.")
_WASTE = Agency("waste", "Waste Service", "https://waste.example", "Collects what is thrown away.")
_PAVILION = Service(
    agency="parks",
    key="parks.pavilion",
    name="Book a pavilion",
    path="https://parks.example/pavilion",
    overview="You book a pavilion in a public garden for a day.",
    categories=("rooms",),
    requirements=("A deposit",),
    how_to_apply=("Choose a day online.",),
    url="https://parks.example/pavilion",
)
_PICK_UP = Service(
    agency="waste",
    key="waste.pickup",
    name="Collect rubbish",
    path="https://waste.example/pickup",
    overview="The Waste Service collects rubbish from public gardens afterwards.",
    categories=("collection",),
    how_to_apply=("Call two days ahead.",),
    url="https://waste.example/pickup",
)
_OF_TWO = ("semantic_analysis_v1", "multi_agency_service_answer_v1")
"""The contracts of a message to several agencies."""

_ROOMS = Category("parks", "rooms", "Rooms and pavilions", ("rent", "party", "birthday"))
_COLLECTION = Category("waste", "collection", "Collection", ("rubbish", "pick-up"))
_LABELS = {
    "intents": {"book": "Book something", "other": "Anything else"},
    "product_lines": {"leisure": "Leisure", "other": "Anything else"},
    "urgencies": {"normal": "No hurry", "high": "Within a day"},
    "risk_flags": {"threat": "A threat"},
    "entity_types": {"date": "A date"},
    "key_types": {"case_reference": "A case reference"},
}


def release() -> Release:
    """Return the knowledge that the question is asked over."""
    return Release(
        number=0,
        sha256="doctor",
        agencies={agency.id: agency for agency in (_PARKS, _WASTE)},
        categories={(each.agency, each.key): each for each in (_ROOMS, _COLLECTION)},
        services={(each.agency, each.key): each for each in (_PAVILION, _PICK_UP)},
        labels={
            name: {code: Label(name, code, text) for code, text in codes.items()}
            for name, codes in _LABELS.items()
        },
    )


def request_for(
    contract_id: str, *, temperature: float, max_output_tokens: int
) -> tuple[ModelRequest, Context]:
    """Return the request of a contract, as a turn makes it, and what its answer is judged by."""
    knowledge = release()
    text = TEXT_TO_TWO if contract_id in _OF_TWO else TEXT
    context = Context(
        attempt=1,
        user_prompt=text,
        cached_state=_state(contract_id),
        release=knowledge,
        labels={name: frozenset(codes) for name, codes in knowledge.labels.items()},
    )
    inputs = Inputs(
        text=text,
        query=Query(text),
        today=TODAY,
        history=(),
        context=context,
        shortlist=index_for(knowledge),
        limits={"agencies": 2, "categories": 2, "services": 2},
    )
    built = request.build(
        contracts.load(contract_id),
        inputs,
        request_id=f"doctor/{contract_id}",
        temperature=temperature,
        max_output_tokens=max_output_tokens,
    )
    return built, context


def _state(contract_id: str) -> dict[str, Any]:
    """Return the state of a session that has come to a contract."""
    low = contract_id in ("category_select_v1", "service_select_v1")
    service = {"serviceKey": _PAVILION.key, "name": _PAVILION.name, "path": _PAVILION.path}
    done: dict[str, Any] = {
        "judgement_v1": {"inquiry": True},
        "agency_detect_v1": _detected(_PARKS) if low else _detected(_PARKS, _WASTE),
        "category_select_v1": {"candidates": _candidates(_ROOMS)},
        "semantic_analysis_v1": {
            "agencies": [_analysed(_PARKS, _ROOMS), _analysed(_WASTE, _COLLECTION)],
            "primaryAgency": {"agencyId": "parks", "reason": "It is the main wish."},
        },
        "service_select_v1": {
            "serviceSelection": {**service, "matchedField": "name", "score": 0.9},
            "template": {
                "placeholders": {"service_name": "{service_name}"},
                "rules": "Open with {service_name}.",
            },
        },
    }
    branch = "semantic_analysis_v1" if low else "category_select_v1"
    read = {name: done[name] for name in STAGES[contract_id].reads if name != branch}
    return {"session_id": SESSION, "judgement_v1": done["judgement_v1"], **read}


def _detected(*agencies: Agency) -> dict[str, Any]:
    infos = []
    for agency in agencies:
        info = asdict(agency)
        infos.append({"agencyId": info.pop("id"), **info})
    return {
        "agencyDetected": [agency.id for agency in agencies],
        "agencyInfo": infos,
        "agencyCount": len(agencies),
        "complexity": "low" if len(agencies) == 1 else "high",
    }


def _candidates(category: Category) -> dict[str, Any]:
    return {category.key: {"value": category.value, "score": 0.9}}


def _analysed(agency: Agency, category: Category) -> dict[str, Any]:
    chosen = {"candidates": _candidates(category)}
    return {"agencyId": agency.id, "agencyName": agency.name, "categorySelection": chosen}
