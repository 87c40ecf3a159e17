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
