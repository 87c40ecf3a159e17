"""semantic_analysis_v1: categories of each detected agency, and the primary one (high branch)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.stages.base import (
    Context,
    Inputs,
    Output,
    Score,
    Stage,
    candidate_scores,
    check_candidates,
    mismatch,
    unknown,
)
from ieim.pipeline.stages.slots import agency_names, dictionary_keys, dictionary_slot


def _build_input(inputs: Inputs) -> dict[str, Any]:
    return {
        "agencies": agency_names(inputs.context, inputs.context.detected),
        "KnowledgeBase_Dictionary": dictionary_slot(inputs),
    }


def _branch(context: Context) -> bool:
    return context.complexity == "high"


def _entries(output: Output) -> Iterable[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    for i, entry in enumerate(output["semanticAnalysis"]["agencies"]):
        yield ("semanticAnalysis", "agencies", i), entry


def _knowledge(output: Output, context: Context) -> Iterable[Finding]:
    listed = set()
    for path, entry in _entries(output):
        agency = context.release.agencies.get(entry["agencyId"])
        if agency is None or agency.id not in context.detected:
            yield unknown(pointer(*path, "agencyId"), "agency")
            continue
        listed.add(agency.id)
        if entry["agencyName"] != agency.name:
            yield mismatch(pointer(*path, "agencyName"), "agency's name")
        candidates = entry["categorySelection"]["candidates"]
        yield from check_candidates(
            candidates, agency.id, context, *path, "categorySelection", "candidates"
        )
    if output["semanticAnalysis"]["primaryAgency"]["agencyId"] not in listed:
        yield Finding(
            Code.KNOWLEDGE_UNKNOWN,
            "/semanticAnalysis/primaryAgency/agencyId",
            "The primary agency is not one of the agencies that were analysed.",
        )


def _scores(output: Output) -> Iterable[Score]:
    for path, entry in _entries(output):
        candidates = entry["categorySelection"]["candidates"]
        yield from candidate_scores(candidates, *path, "categorySelection", "candidates")


def _semantics(output: Output, context: Context) -> Iterable[Finding]:
    ids = [entry["agencyId"] for _, entry in _entries(output)]
    if len(ids) < 2:
        yield Finding(
            Code.AGENCY_COUNT,
            "/semanticAnalysis/agencies",
            "This branch needs two or more agencies.",
        )
    for i, agency_id in enumerate(ids):
        if agency_id in ids[:i]:
            yield Finding(
                Code.AGENCY_COUNT,
                pointer("semanticAnalysis", "agencies", i, "agencyId"),
                "The same agency is listed twice.",
            )
    yield from _uncovered(output, context)


def _uncovered(output: Output, context: Context) -> Iterable[Finding]:
    """Yield what is missing of an analysis of each agency that was detected, of which one at least
    has a candidate, and of the primary agency that the scores name."""
    analysed = {entry["agencyId"] for _, entry in _entries(output)}
    for agency in context.detected:
        if agency not in analysed:
            message = f"The agency {agency} was detected and is not analysed."
            yield Finding(Code.REPLY_UNCOVERED, "/semanticAnalysis/agencies", message)
    if not has_candidates(output):
        message = "Nothing fits at any agency: none has a candidate."
        yield Finding(Code.AGENCY_COUNT, "/semanticAnalysis/agencies", message)
    elif output["semanticAnalysis"]["primaryAgency"]["agencyId"] not in highest(output):
        yield Finding(
            Code.ROUTE_BRANCH,
            "/semanticAnalysis/primaryAgency/agencyId",
            "Another agency has a higher sum of scores: that one is the primary agency.",
        )


def has_candidates(output: Output) -> bool:
    """Whether a category fits at any agency."""
    return any(entry["categorySelection"]["candidates"] for _, entry in _entries(output))


def highest(output: Output) -> frozenset[str]:
    """Return the agencies with the highest sum of scores, by value: each of several that have the
    same sum may be the primary one."""
    sums = {
        entry["agencyId"]: sum(
            Decimal(candidate["score"])
            for candidate in entry["categorySelection"]["candidates"].values()
        )
        for _, entry in _entries(output)
    }
    most = max(sums.values(), default=None)
    return frozenset(agency for agency, total in sums.items() if total == most)


def _legal_next(_output: Output, _context: Context) -> str:
    return "service_select_v1"


def _state_slice(output: Output) -> dict[str, Any]:
    return {"semantic_analysis_v1": output["semanticAnalysis"], "nextStep": output["nextStep"]}


def _enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    ids = [agency["agencyId"] for agency in payload["agencies"]]
    analysis = ("properties", "semanticAnalysis", "properties")
    entry = (*analysis, "agencies", "items", "properties")
    candidates = (*entry, "categorySelection", "properties", "candidates")
    return {
        (*entry, "agencyId"): ids,
        candidates: dictionary_keys(payload),
        (*analysis, "primaryAgency", "properties", "agencyId"): ids,
    }


STAGE = Stage(
    id="semantic_analysis_v1",
    build_input=_build_input,
    state_slice=_state_slice,
    legal_next=_legal_next,
    reads=("agency_detect_v1",),
    branch=_branch,
    knowledge=_knowledge,
    scores=_scores,
    semantics=_semantics,
    enums=_enums,
)
