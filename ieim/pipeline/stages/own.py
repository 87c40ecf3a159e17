"""What a candidate shares with the message alone, in a talk: what ``route.subject`` judges by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ieim.pipeline.knowledge import Service
from ieim.pipeline.stages.base import Inputs


def own_evidence(
    inputs: Inputs,
    slots: Sequence[dict[str, Any]],
    services: Sequence[Service],
    *,
    by_part: bool,
) -> dict[str, Any]:
    """Give each slot its evidence by the message alone, in a talk; return the release's best.

    ``by_part``: what counts is that part of the message which is nearest to the service, as a share
    of the best that the release has for it. Who asks two agencies says little of each.
    """
    if not inputs.history:
        return {}
    own, best = inputs.shortlist.evidence(inputs.text, services)
    if by_part:
        own, best = _best_shares(inputs, services, (own, best)), 1.0
    for slot, found in zip(slots, own, strict=True):
        slot["own"] = round(found, 3)
    return {"best_own": round(best, 3)}


def _best_shares(
    inputs: Inputs, services: Sequence[Service], whole: tuple[Sequence[float], float]
) -> list[float]:
    parts = (inputs.text[part.start : part.end] for part in inputs.shortlist.parts(inputs.text))
    found = [whole, *(inputs.shortlist.evidence(part, services) for part in parts)]
    shares = [[each / best if best > 0 else 0.0 for each in own] for own, best in found]
    return [max(of_service) for of_service in zip(*shares, strict=True)]
