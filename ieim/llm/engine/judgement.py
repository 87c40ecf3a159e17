"""judgement_v1: is the message a question to a public administration?"""

from __future__ import annotations

from typing import Any

from ieim.llm.engine import Payload, situation, telemetry
from ieim.llm.engine.thresholds import NOT_INQUIRY


def judge(payload: Payload) -> dict[str, Any]:
    """Answer judgement_v1.

    A message is no inquiry where it surely is of a kind that the administration has a text for:
    greetings and thanks have one, corrections and inquiries have none. One that surely tells of a
    situation is an inquiry, whatever else it may be.
    """
    ranking = payload["ranking"]
    guidance = payload["guidance"]["texts"].get(ranking["kind"])
    unsure = guidance is None or ranking["kind_probability"] < NOT_INQUIRY
    inquiry = unsure or situation(payload) is not None
    return {
        "stage": "judgement_v1",
        "stageStatus": "ready",
        "judgements": {"inquiry": inquiry},
        "assistantReply": None if inquiry else guidance,
        "nextStep": "agency_detect_v1" if inquiry else "session_end",
        "telemetry": telemetry(payload),
    }
