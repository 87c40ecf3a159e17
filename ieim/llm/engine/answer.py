"""multi_agency_service_answer_v1: what to do first at each agency, in the index's own words."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from ieim.llm.engine import Payload, Slot, best, envelope

_TOO_MUCH = ("sources.missing", "reply.ungrounded")
"""After one of these the second attempt has no text but names."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def compose(payload: Payload) -> dict[str, Any]:
    """Answer multi_agency_service_answer_v1 with the service ranked first at each agency, the
    primary agency first. An agency without a service is left out, which the gate stops."""
    agencies = {agency["agencyId"]: agency["name"] for agency in payload["agencies"]}
    primary = payload["cached_state"]["semantic_analysis_v1"]["primaryAgency"]["agencyId"]
    ordered = sorted(agencies, key=lambda agency_id: agency_id != primary)
    services = [s for agency_id in ordered if (s := best(payload["service_index"], agency_id))]
    names = {*agencies.values(), *(slot["name"] for slot in payload["service_index"])}
    cited = {name for s in services for name in (agencies[s["agencyId"]], s["name"])}
    terse = any(f["code"] in _TOO_MUCH for f in payload.get("previous_findings", ()))
    texts = [s["name"] if terse else _first_step(s, names - cited) for s in services]
    return envelope(
        payload,
        "session_end",
        assistantReply="\n\n".join(
            _with_full_stop(f"{agencies[service['agencyId']]}: {text}")
            for service, text in zip(services, texts, strict=True)
        ),
        sourcesUsed=[
            {name: service[name] for name in ("agencyId", "serviceKey", "path")}
            for service in services
        ],
    )


def _first_step(service: Slot, foreign: Collection[str]) -> str:
    """Return the first step, else the first sentence of the overview, that names nothing
    ``foreign``: a reply may name only what it cites. Else the service's name."""
    texts = [*service["how_to_apply"], *_SENTENCE_END.split(service["overview"])]
    names = [name.casefold() for name in foreign if name]
    usable = (
        text.strip()
        for text in texts
        if text.strip() and not any(name in text.casefold() for name in names)
    )
    return next(usable, str(service["name"]))


def _with_full_stop(text: str) -> str:
    """Return ``text`` with an end, unless it has one or ends in an address."""
    last = text.rpartition(" ")[2]
    return text if last.endswith((".", "!", "?", ":")) or "/" in last or "@" in last else f"{text}."
