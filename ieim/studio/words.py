"""What staff read instead of stages' ids: editors and caseworkers alike."""

from __future__ import annotations

from collections.abc import Mapping

from ieim.pipeline.topology import PERSON, REPLY

STAGES: Mapping[str, str] = {
    "judgement_v1": "Is it a question for us?",
    "agency_detect_v1": "Which agency?",
    "category_select_v1": "Which topic?",
    "semantic_analysis_v1": "Which topics at each agency?",
    "service_select_v1": "Which service?",
    "multi_agency_service_answer_v1": "One answer from several agencies",
    "classify": "Intent, product and urgency",
    "extract": "Facts in the message",
    "identity_assist": "Numbers and names that identify",
    REPLY: "The reply as a whole",
    PERSON: "A person",
}


def stage_words(stage: str) -> str:
    """Return what a stage is about; a stage that has no words is shown by its id."""
    return STAGES.get(stage, stage)
