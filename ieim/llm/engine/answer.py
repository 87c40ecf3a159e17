"""multi_agency_service_answer_v1: what to do first at each agency, in the index's own words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ieim.llm.engine import envelope
from ieim.llm.engine.selection import MINIMUM, Slot, best_service, questions

_TOO_MUCH = ("sources.missing", "reply.ungrounded")
"""After one of these the second attempt leaves out all free text: only names stay."""

_OWN_SHARE = 0.5
"""A service that is not sure by its words is told of where it is the nearest of an agency that the
message names, with so much of the best evidence for a part of it: who reads the answer sees what it
is, and nobody waits for a person with the rest."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def compose(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer multi_agency_service_answer_v1, the primary agency first.

    An agency without a matching service is left out, and the gate stops the answer: no answer cites
    a service that is not about the message.
    """
    names = {agency["agencyId"]: agency["name"] for agency in payload["agencies"]}
    primary = payload["cached_state"]["semantic_analysis_v1"]["primaryAgency"]["agencyId"]
    ordered = sorted(names, key=lambda agency_id: agency_id != primary)
    used = [service for agency_id in ordered if (service := _service(payload, agency_id))]
    foreign = _foreign_names(payload, names, used)
    terse = any(f["code"] in _TOO_MUCH for f in payload.get("previous_findings", ()))
    return envelope(
        payload,
        "session_end",
        assistantReply="\n\n".join(
            _sentence(f"{names[each['agencyId']]}: {_first(each, [] if terse else foreign, terse)}")
            for each in used
        ),
        sourcesUsed=[
            {name: service[name] for name in ("agencyId", "serviceKey", "path")} for service in used
        ],
    )


def _service(payload: Mapping[str, Any], agency_id: str) -> Slot | None:
    """Return the service to tell of: the one that was selected, else the best that fits."""
    services = [slot for slot in payload["service_index"] if slot["agencyId"] == agency_id]
    state = payload["cached_state"]
    if agency_id == state["semantic_analysis_v1"]["primaryAgency"]["agencyId"]:
        key = state["service_select_v1"]["serviceSelection"]["serviceKey"]
        return next((slot for slot in services if slot["serviceKey"] == key), None)
    if not services:
        return None
    choice = best_service(payload, services, questions(payload))
    if choice.score >= MINIMUM:
        return choice.slot
    nearest = max(services, key=lambda slot: slot.get("own", 0.0))
    return nearest if nearest.get("own", 0.0) >= _OWN_SHARE else None


def _foreign_names(
    payload: Mapping[str, Any], names: Mapping[str, str], used: Sequence[Slot]
) -> list[str]:
    """Return the names that the reply must not mention, because it does not cite their owners."""
    cited = {(service["agencyId"], service["serviceKey"]) for service in used}
    cited_names = {service["name"] for service in used}
    agencies = {service["agencyId"] for service in used}
    services = [
        slot["name"]
        for slot in payload["service_index"]
        if (slot["agencyId"], slot["serviceKey"]) not in cited and slot["name"] not in cited_names
    ]
    return services + [name for agency_id, name in names.items() if agency_id not in agencies]


def _first(service: Slot, foreign: Sequence[str], terse: bool) -> str:
    """Return what to do first, as the index has it: the first step, or what the service is.

    Without what names something that is not cited; the service's card holds the rest.
    """
    if terse:
        return str(service["name"])
    about = _SENTENCE_END.split(service["overview"])
    return next(
        iter(_without_names([*service["how_to_apply"], *about], foreign)), str(service["name"])
    )


def _without_names(texts: Sequence[str], foreign: Sequence[str]) -> list[str]:
    return [
        text.strip()
        for text in texts
        if text.strip() and not any(name and name.casefold() in text.casefold() for name in foreign)
    ]


def _sentence(text: str) -> str:
    """Return ``text`` with an end, unless it has one or ends in an address."""
    last = text.rpartition(" ")[2]
    return text if last.endswith((".", "!", "?", ":")) or "/" in last or "@" in last else f"{text}."
