"""What the search makes of a talk: the offline engine's scores say where it doubts."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.llm.capabilities import Capabilities
from ieim.llm.engine.selection import select_service
from ieim.llm.offline import NAME
from ieim.llm.openai_client import OpenAIModel
from tests.llm.offline.turns import release

EXTEND, APPLY = "immigration.extend-tourist-visa", "immigration.apply-tourist-visa"


def asked(goes_on: float, about: str = EXTEND, **own: float) -> dict[str, Any]:
    """What service_select_v1 is sent in a talk ``about`` a service; ``own`` is the evidence of the
    two candidates, the better one first."""
    keys = {"extend": EXTEND, "apply": APPLY}
    slots = []
    for rank, (name, share) in enumerate(own.items(), start=1):
        service = release().services["immigration", keys[name]]
        texts = {field: getattr(service, field) for field in ("name", "path", "overview")}
        numbers = {"rank": rank, "score": 4.0 - rank, "meaning": 2.5 - rank, "own": share}
        slots.append(
            {
                "agencyId": "immigration",
                "serviceKey": service.key,
                **texts,
                **numbers,
                "categories": [],
                "fields": ["name"],
            }
        )
    talk = {"role": "assistant", "text": "Extend.", "agency": "immigration", "service": about}
    return {
        "contract": "service_select_v1",
        "attempt": 1,
        "request_id": "r",
        "user_prompt": "how do I extend or apply for a tourist visa to stay longer",
        "chat_context_summary": [{"role": "user", "text": "tourist visa"}, talk],
        "cached_state": {"session_id": "s", "agency_detect_v1": {"complexity": "low"}},
        "service_index": slots,
        "best_own": max(own.values()),
        "entity_types": [],
        "search_hints": {"goes_on": goes_on, "new_subject": not goes_on},
    }


@pytest.mark.parametrize(
    ("payload", "least", "most"),
    [
        (asked(1.0, extend=0.0, apply=1.0), 0.80, 1.0),  # it surely goes on
        (asked(0.5, extend=1.0, apply=0.9), 0.0, 0.49),  # nobody can tell
        (asked(0.0, extend=0.9, apply=1.0), 0.0, 0.49),  # it has left the talk
        (asked(0.0, extend=0.95, apply=1.0), 0.5, 0.79),  # and names its service anew
        (asked(0.5, APPLY, extend=1.0, apply=0.9), 0.5, 0.79),  # the gate wants evidence
    ],
)
def test_it_is_unsure_where_the_search_doubts_that_the_talk_goes_on(
    payload: dict[str, Any], least: float, most: float
) -> None:
    selection = select_service(payload)["serviceSelection"]
    assert selection["serviceKey"] == EXTEND
    assert least <= selection["score"] <= most


@pytest.mark.parametrize(("model", "reads"), [(NAME, True), ("gpt-x", False)])
def test_the_client_reads_them_where_the_server_is_the_offline_engine(
    model: str, reads: bool
) -> None:
    client = OpenAIModel("http://x/v1", "", model, capabilities=Capabilities(), overrides={})
    assert client.reads_hints is reads
