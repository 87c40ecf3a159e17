"""The offline engine: its answer to each contract, from the ranking in the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ieim.llm.engine.thresholds import SITUATION, SURE_ENOUGH, SURE_TO_GO_ON
from ieim.pipeline.gate.gate import MINIMUM_SCORE

Payload = Mapping[str, Any]
"""The per-call JSON."""

Slot = Mapping[str, Any]
"""A candidate of the per-call JSON."""

_LOWEST: Final = float(MINIMUM_SCORE)
"""The lowest score that passes the gate."""

_UNSURE: Final = 0.49
"""The highest score that abstains."""


def telemetry(payload: Payload) -> dict[str, str | None]:
    """Return the telemetry block: a second attempt names the findings of the first."""
    if payload["attempt"] == 1:
        return {"notes": None}
    codes = sorted({finding["code"] for finding in payload.get("previous_findings", ())})
    return {"notes": f"Asked again after: {', '.join(codes) or 'an answer that did not pass'}."}


def envelope(payload: Payload, next_step: str, **fields: Any) -> dict[str, Any]:
    """Return a stage's answer with its ``fields``."""
    return {
        "session_id": payload["cached_state"]["session_id"],
        "response_id": payload["request_id"],
        "stage": payload["contract"],
        **fields,
        "nextStep": next_step,
        "telemetry": telemetry(payload),
    }


def is_high(payload: Payload) -> bool:
    """Whether several agencies were detected."""
    return bool(payload["cached_state"]["agency_detect_v1"]["complexity"] == "high")


def score(payload: Payload) -> float:
    """Return the score of whatever is ranked first, with two decimals: it passes the gate where the
    ranking is sure enough, else it abstains.

    On the high branch it always passes: the search names several agencies only where it is sure of
    each, and the probability of one of their services says nothing of the others.
    """
    ranking = payload["ranking"]
    first: float = round(ranking["first"], 2)
    enough = SURE_TO_GO_ON if ranking["goes_on"] else SURE_ENOUGH
    if is_high(payload) or first >= enough:
        return max(first, _LOWEST)
    return min(first, _UNSURE)


def situation(payload: Payload) -> tuple[str, float] | None:
    """Return the label and the probability of the situation that the message surely tells of."""
    nearest = payload["ranking"].get("situation")
    if nearest is None or nearest["probability"] < SITUATION:
        return None
    return nearest["label"], nearest["probability"]


def best(slots: Iterable[Slot], agency: str = "") -> Slot | None:
    """Return the slot with the best rank, of an ``agency`` where one is given; None where there is
    none. Slots without an agency belong to any."""
    eligible = [slot for slot in slots if not agency or slot.get("agencyId", agency) == agency]
    return min(eligible, key=lambda slot: slot["rank"], default=None)
