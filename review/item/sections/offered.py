"""What the model could choose from, so that "it was never offered" can be seen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.utils.translation import gettext, gettext_noop

from conversations.models import Attempt
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages.slots import with_agencies
from ieim.search import KNOWN, index_for
from review.item.sections.said import agency_name

LOOKED_AT = 3
"""How many of the best matches of the whole release are compared with what was offered."""

_SLOTS: Mapping[str, str] = {
    "agencies": gettext_noop("Agencies"),
    "KnowledgeBase_Dictionary": gettext_noop("Topics"),
    "service_index": gettext_noop("Services"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """One candidate with its retrieval rank (1 is best; 0 where it has none) and score."""

    name: str
    key: str
    agency: str
    rank: int
    score: str


@dataclass(frozen=True, slots=True)
class Offered:
    """One list that the model was given. ``kept`` is how many of them a second attempt got."""

    title: str
    offers: tuple[Offer, ...]
    kept: int | None


@dataclass(frozen=True, slots=True)
class Missed:
    """An entry that fits the message best and was not among what the model was offered."""

    name: str
    agency: str
    why: str


def offered(attempts: Sequence[Attempt], release: Release) -> tuple[Offered, ...]:
    """Return the lists that a stage's attempts (one round, in order) were given."""
    payloads = [asked(attempt) for attempt in attempts]
    first = next((p for p in payloads if p), {})
    last = payloads[-1] if len(payloads) > 1 else None
    return tuple(
        Offered(
            gettext(title),
            tuple(_offer(slot, each, release) for each in first[slot]),
            len(last.get(slot, [])) if last else None,
        )
        for slot, title in _SLOTS.items()
        if first.get(slot)
    )


def asked(attempt: Attempt) -> dict[str, Any]:
    """Return the per-call JSON of an attempt; empty where it was not kept."""
    payload = json.loads(attempt.asked_text or "{}")
    return with_agencies(payload) if isinstance(payload, dict) else {}


def missed(attempts: Sequence[Attempt], text: str, release: Release) -> tuple[Missed, ...]:
    """Return the services (or agencies) of the whole release that fit ``text`` better than any
    that a stage's attempts were given.

    Empty for stages that are given neither, and where ``text`` is about nothing that the index
    knows: some service shares a word with nearly everything."""
    payload = next((p for p in map(asked, attempts) if p), {})
    index = index_for(release)
    known = [
        each for each in index.services(text, agencies=None, limit=LOOKED_AT) if each.score >= KNOWN
    ]
    if not known:
        return ()
    if "service_index" in payload:
        given = {(s["agencyId"], s["serviceKey"]) for s in payload["service_index"]}
        agencies = {agency for agency, _ in given}
        best = takewhile(lambda r: (r.item.agency, r.item.key) not in given, known)
        return tuple(
            Missed(
                r.item.name, agency_name(release, r.item.agency), _why(r.item.agency in agencies)
            )
            for r in best
        )
    if payload.get("contract") == "agency_detect_v1":
        ids = {agency["agencyId"] for agency in payload["agencies"]}
        ranked = takewhile(
            lambda r: r.score > 0 and r.item.id not in ids, index.agencies(text, limit=LOOKED_AT)
        )
        return tuple(Missed(r.item.name, "", _why(True)) for r in ranked)
    return ()


def _why(same_agency: bool) -> str:
    if same_agency:
        return gettext("It ranked below what was sent.")
    return gettext("It belongs to an agency that was not chosen.")


def _offer(slot: str, each: Mapping[str, Any], release: Release) -> Offer:
    agency = each["agencyId"]
    name, key = {
        "agencies": (each.get("name", ""), agency),
        "KnowledgeBase_Dictionary": (each.get("value", ""), each.get("key", "")),
        "service_index": (each.get("name", ""), each.get("serviceKey", "")),
    }[slot]
    score = each.get("score")
    return Offer(
        name=name,
        key=key,
        agency="" if slot == "agencies" else agency_name(release, agency),
        rank=each.get("rank", 0),
        score="" if score is None else f"{score:.2f}",
    )
