"""The order and the branches of the answering stages, as one table."""

from __future__ import annotations

from collections.abc import Mapping

from ieim.pipeline.stages import (
    agency_detect,
    category_select,
    judgement,
    multi_agency_answer,
    semantic_analysis,
    service_select,
    triage,
)
from ieim.pipeline.stages.base import Stage

SESSION_END = "session_end"

REPLY = "reply"
"""What stands in place of a stage where the reply as a whole waits."""
PERSON = "person"
"""What stands in place of a stage where the citizen asks for a person."""

FLOW: tuple[Stage, ...] = (
    judgement.STAGE,  #            not an inquiry: session_end
    agency_detect.STAGE,  #        low: category_select_v1, high: semantic_analysis_v1
    category_select.STAGE,  #      low branch
    semantic_analysis.STAGE,  #    high branch
    service_select.STAGE,  #       low: session_end, high: multi_agency_service_answer_v1
    multi_agency_answer.STAGE,  #  session_end
)
"""Which stage follows is the stage's own ``legal_next``, from validated facts only."""

FIRST = FLOW[0].id

TRIAGE: tuple[Stage, ...] = (triage.CLASSIFY, triage.EXTRACT, triage.IDENTITY_ASSIST)
"""Run beside the flow: classify of every inquiry, because what it finds may hold the reply; the
others where a person will look, or a placeholder names an entity."""

CLASSIFY = triage.CLASSIFY.id

STAGES: Mapping[str, Stage] = {stage.id: stage for stage in (*FLOW, *TRIAGE)}
"""Every contract's rules by its id."""

ORDER: Mapping[str, int] = {stage: i for i, stage in enumerate(STAGES)}
"""Where a stage stands in a list of all: the flow, then triage."""

ANSWERING: frozenset[str] = frozenset(stage.id for stage in FLOW)
"""Ids of the stages without which there is no reply."""
AWAITED: frozenset[str] = ANSWERING | {REPLY, PERSON}
"""What a review item is of while a citizen waits for it."""
