"""category_select_v1: dictionary categories of the one detected agency (low branch)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ieim.pipeline.findings import Finding
from ieim.pipeline.stages.base import (
    Context,
    Inputs,
    Output,
    Score,
    Stage,
    candidate_scores,
    check_candidates,
    dictionary_keys,
    dictionary_slot,
)

_PATH = ("categorySelection", "candidates")


def _build_input(inputs: Inputs) -> dict[str, Any]:
    return {"KnowledgeBase_Dictionary": dictionary_slot(inputs)}


def _branch(context: Context) -> bool:
    return context.complexity == "low" and context.answering_agency is not None


def _knowledge(output: Output, context: Context) -> Iterable[Finding]:
    candidates = output["categorySelection"]["candidates"]
    return check_candidates(candidates, context.answering_agency or "", context, *_PATH)


def _scores(output: Output) -> Iterable[Score]:
    return candidate_scores(output["categorySelection"]["candidates"], *_PATH)


def _legal_next(_output: Output, _context: Context) -> str:
    return "service_select_v1"


def _state_slice(output: Output) -> dict[str, Any]:
    candidates = output["categorySelection"]["candidates"]
    return {"category_select_v1": {"candidates": candidates}, "nextStep": output["nextStep"]}


def _enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    return {
        ("properties", "categorySelection", "properties", "candidates"): dictionary_keys(payload)
    }


STAGE = Stage(
    id="category_select_v1",
    build_input=_build_input,
    state_slice=_state_slice,
    legal_next=_legal_next,
    reads=("agency_detect_v1",),
    branch=_branch,
    knowledge=_knowledge,
    scores=_scores,
    enums=_enums,
)
