"""multi_agency_service_answer_v1: what each agency does and asks for, in the index's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ieim.llm.engine.envelope import envelope
from ieim.llm.engine.selection import MINIMUM, Slot, best_service, questions

_PARTLY = (
    "I did not find a service for every part of your question. You can ask the rest of it again, "
    "in a message of its own."
)
_TOO_MUCH = ("sources.missing", "reply.ungrounded")
"""After one of these the second attempt leaves out all free text: only names stay."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def compose(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer multi_agency_service_answer_v1.

    An agency without a service that fits is left out, and the reply says so; when none is left the
    reply is empty, and the gate stops it.
    """
    names = {agency["agencyId"]: agency["name"] for agency in payload["agencies"]}
    used = [service for agency_id in names if (service := _service(payload, agency_id))]
    foreign = _foreign_names(payload, names, used)
    terse = any(f["code"] in _TOO_MUCH for f in payload.get("previous_findings", ()))
    paragraphs = [
        paragraph
        for service in used
        for paragraph in _paragraphs(names[service["agencyId"]], service, foreign, terse=terse)
    ]
    if used and len(used) < len(names):
        paragraphs.append(_PARTLY)
    return envelope(
        payload,
        "session_end",
        assistantReply="\n\n".join(paragraphs),
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
    return choice.slot if choice.score >= MINIMUM else None


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


def _paragraphs(
    agency: str, service: Slot, foreign: Sequence[str], *, terse: bool
) -> Iterator[str]:
    """Yield what the index says of ``service``, without what names something not cited.

    The rest, and the link, stand with the source below the reply.
    """
    heading = _sentence(f"{agency}: {service['name']}")
    if terse:
        yield heading
        return
    steps = list(_list("What to do:", service["how_to_apply"], foreign))
    about = _own(_SENTENCE_END.split(service["overview"]), foreign)
    yield " ".join([heading, *map(_sentence, about[:1] if steps else about)])
    yield from steps
    yield from _list("What it costs:", [service["fees"]], foreign)
    yield from _list("How long it takes:", [service["processing_time"]], foreign)


def _list(label: str, texts: Sequence[str], foreign: Sequence[str]) -> Iterator[str]:
    if kept := _own(texts, foreign):
        yield " ".join([label, *map(_sentence, kept)])


def _own(texts: Sequence[str], foreign: Sequence[str]) -> list[str]:
    return [
        text.strip()
        for text in texts
        if text.strip() and not any(name and name.casefold() in text.casefold() for name in foreign)
    ]


def _sentence(text: str) -> str:
    """Return ``text`` with an end, unless it has one or ends in an address."""
    last = text.rpartition(" ")[2]
    return text if last.endswith((".", "!", "?", ":")) or "/" in last or "@" in last else f"{text}."
