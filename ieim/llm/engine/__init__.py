"""The offline engine: its answer to each contract, by ranking and templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def telemetry(payload: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the telemetry block: a second attempt names the findings of the first."""
    if payload["attempt"] == 1:
        return {"notes": None}
    codes = sorted({finding["code"] for finding in payload.get("previous_findings", ())})
    return {"notes": f"Asked again after: {', '.join(codes) or 'an answer that did not pass'}."}


def search_hints(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the search makes of the message, as far as the request says it."""
    found: Mapping[str, Any] = payload.get("search_hints", {})
    return found


def is_new_subject(payload: Mapping[str, Any]) -> bool:
    """Whether the message has left the talk."""
    return bool(search_hints(payload).get("new_subject"))


def may_not_go_on(payload: Mapping[str, Any]) -> bool:
    """Whether there is a talk that the message may not go on with."""
    surely = search_hints(payload).get("goes_on", 1.0) >= 1.0
    return bool(payload["chat_context_summary"]) and not surely


def envelope(payload: Mapping[str, Any], next_step: str, **fields: Any) -> dict[str, Any]:
    """Return a stage's answer with its ``fields``."""
    return {
        "session_id": payload["cached_state"]["session_id"],
        "response_id": payload["request_id"],
        "stage": payload["contract"],
        **fields,
        "nextStep": next_step,
        "telemetry": telemetry(payload),
    }
