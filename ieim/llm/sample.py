"""One small question to every contract, with nobody's words in it.

It is about two made-up offices, so that a server can be called before there is any knowledge, and
no citizen's text or administration's index leaves the machine.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

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

_OF_TWO = ("semantic_analysis_v1", "multi_agency_service_answer_v1")
"""The contracts of a message to several agencies."""


@cache
def release() -> Release:
    """Return the knowledge of ``sample.yaml``, over which the question is asked."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    tables = yaml.safe_load(text)
    categories = [Category(**_tuples(row)) for row in tables["categories"]]
    services = [Service(**_tuples(row)) for row in tables["services"]]
    return Release(
        number=0,
        sha256="doctor",
        agencies={row["id"]: Agency(**row) for row in tables["agencies"]},
        categories={(category.agency, category.key): category for category in categories},
        services={(service.agency, service.key): service for service in services},
        labels={
            name: {code: Label(name, code, text) for code, text in codes.items()}
            for name, codes in tables["labels"].items()
        },
    )


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


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
        labels=knowledge.label_codes,
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
    knowledge = release()
    parks, waste = knowledge.agencies.values()
    rooms, collection = knowledge.categories.values()
    pavilion = knowledge.services["parks", "parks.pavilion"]
    service = {"serviceKey": pavilion.key, "name": pavilion.name, "path": pavilion.path}
    results: dict[str, Any] = {
        "judgement_v1": {"inquiry": True},
        "agency_detect_v1": _detected(parks) if low else _detected(parks, waste),
        "category_select_v1": {"candidates": _candidates(rooms)},
        "semantic_analysis_v1": {
            "agencies": [_analysed(parks, rooms), _analysed(waste, collection)],
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
    read = {name: results[name] for name in STAGES[contract_id].reads if name != branch}
    return {"session_id": SESSION, "judgement_v1": results["judgement_v1"], **read}


def _detected(*agencies: Agency) -> dict[str, Any]:
    infos = [{("agencyId" if k == "id" else k): v for k, v in asdict(a).items()} for a in agencies]
    return {
        "agencyDetected": [agency.id for agency in agencies],
        "agencyInfo": infos,
        "agencyCount": len(agencies),
        "complexity": "low" if len(agencies) == 1 else "high",
    }


def _candidates(category: Category) -> dict[str, Any]:
    return {category.key: {"value": category.value, "score": 0.9}}


def _analysed(agency: Agency, category: Category) -> dict[str, Any]:
    candidates = {"candidates": _candidates(category)}
    return {"agencyId": agency.id, "agencyName": agency.name, "categorySelection": candidates}
