"""The per-call JSON of each contract, made by hand over the release of the gate's tests."""

from __future__ import annotations

import json
from typing import Any

from ieim.llm.offline import OfflineModel
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Message, ModelRequest
from ieim.pipeline.topology import STAGES
from tests.llm.requested import RANKING, request
from tests.pipeline.build import PARKS, PASS, PAVILION, RELEASE, RENEW, REPLACE, TEXT, context

TRIAGE = {
    "classify": ("intents", "product_lines", "urgencies", "risk_flags"),
    "extract": ("entity_types",),
    "identity_assist": ("key_types",),
}
HIGH = ("semantic_analysis_v1", "multi_agency_service_answer_v1")


def service_slot(service: Service, rank: int) -> dict[str, Any]:
    """Return a candidate with all that an answer is made from."""
    return {
        "agencyId": service.agency,
        "serviceKey": service.key,
        "name": service.name,
        "path": service.path,
        "overview": service.overview,
        "how_to_apply": list(service.how_to_apply),
        "categories": list(service.categories),
        "rank": rank,
    }


AGENCIES = [
    {
        "agencyId": agency.id,
        "name": agency.name,
        "path": agency.path,
        "description": agency.description,
        "rank": rank,
    }
    for rank, agency in ((2, PARKS), (1, PASS))
]
DICTIONARY = [
    {"agencyId": agency, "key": key, "value": value, "rank": rank}
    for agency, key, value, rank in (
        ("passports", "new", "New passports", 2),
        ("passports", "lost", "Lost passports", 1),
        ("parks", "rooms", "Rooms and pavilions", 1),
    )
]
SERVICES = [service_slot(RENEW, 2), service_slot(REPLACE, 1)]


def slots(contract: str) -> dict[str, Any]:
    """Return what a stage puts into its payload; the best rank is never the first in its list."""
    if contract in TRIAGE:
        labels = {
            name: {code: f"{label.name}: " for code, label in RELEASE.labels[name].items()}
            for name in TRIAGE[contract]
        }
        return {"labels": labels}
    named = [{"agencyId": agency.id, "name": agency.name} for agency in (PASS, PARKS)]
    made: dict[str, dict[str, Any]] = {
        "judgement_v1": {"guidance": {"language": "en", "texts": {"thanks": "You are welcome."}}},
        "agency_detect_v1": {"agencies": AGENCIES},
        "category_select_v1": {"KnowledgeBase_Dictionary": DICTIONARY[:2]},
        "semantic_analysis_v1": {"agencies": named, "KnowledgeBase_Dictionary": DICTIONARY},
        "service_select_v1": {"service_index": SERVICES},
        "multi_agency_service_answer_v1": {
            "agencies": named,
            "service_index": [*SERVICES, service_slot(PAVILION, 1)],
        },
    }
    return made[contract]


def asked(
    contract: str, *, ranking: dict[str, Any] | None = RANKING, **changes: Any
) -> ModelRequest:
    """Return a request to ``contract``; ``changes`` replace slots, no ``ranking`` leaves it out."""
    payload = {
        "contract": contract,
        "attempt": 1,
        "user_prompt": TEXT,
        "chat_context_summary": [],
        **({} if ranking is None else {"ranking": ranking}),
        **slots(contract),
        **changes,
    }
    if STAGES[contract].has_session:
        state = {"cached_state": context(contract).cached_state, "request_id": "r-1"}
        payload = state | payload
    messages = (*request().messages[:2], Message("user", json.dumps(payload, ensure_ascii=False)))
    return request(
        contract=contract,
        attempt=payload["attempt"],
        messages=messages,
        max_output_tokens=4096,
    )


def answered(contract: str, **changes: Any) -> str:
    """Return the engine's raw answer to :func:`asked`."""
    return OfflineModel().complete(asked(contract, **changes), deadline=1).raw
