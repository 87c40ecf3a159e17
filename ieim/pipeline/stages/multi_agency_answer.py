"""multi_agency_service_answer_v1: one grounded answer over several agencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.gate import grounding, subject
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Ranked
from ieim.pipeline.reply.reply import Reply, render_several
from ieim.pipeline.stages.base import (
    Context,
    Inputs,
    Output,
    Stage,
    mismatch,
    unknown,
)
from ieim.pipeline.stages.slots import agency_names, message_evidence, service_slot


def _build_input(inputs: Inputs) -> dict[str, Any]:
    context = inputs.context
    per_agency = max(2, inputs.limits["services"] // max(1, len(context.detected)))
    query = inputs.query
    found: list[Ranked[Service]] = []
    for agency in context.detected:
        ranked = list(inputs.shortlist.services(query, agencies=[agency], limit=per_agency))
        if agency == context.answering_agency:
            ranked = _selected_first(ranked, context)
        found += ranked
    slots = [service_slot(r, detail=True) for r in found]
    evidence = message_evidence(inputs, slots, [r.item for r in found], by_part=True)
    return {"agencies": agency_names(context), "service_index": slots, **evidence}


def _selected_first(ranked: list[Ranked[Service]], context: Context) -> list[Ranked[Service]]:
    """Put the service that service_select_v1 chose first, so that a shortened input keeps it."""
    key = context.cached("service_select_v1", "serviceSelection", "serviceKey")
    chosen = context.release.services.get((context.answering_agency or "", str(key)))
    if chosen is None:
        return ranked
    others = [r for r in ranked if r.item.key != chosen.key]
    return [Ranked(chosen, 1, 0.0), *(replace(r, rank=i) for i, r in enumerate(others, 2))]


def _branch(context: Context) -> bool:
    return (
        context.complexity == "high"
        and context.cached("semantic_analysis_v1") is not None
        and context.cached("service_select_v1") is not None
    )


def cited_services(output: Output, context: Context) -> list[Service]:
    """Return the services that ``sourcesUsed`` names and the release knows."""
    keys = [(source["agencyId"], source["serviceKey"]) for source in output["sourcesUsed"]]
    return [context.release.services[key] for key in keys if key in context.release.services]


def _knowledge(output: Output, context: Context) -> Iterable[Finding]:
    for i, source in enumerate(output["sourcesUsed"]):
        path = ("sourcesUsed", i)
        agency_id = source["agencyId"]
        if agency_id not in context.release.agencies or agency_id not in context.detected:
            yield unknown(pointer(*path, "agencyId"), "agency", Code.SOURCES_UNKNOWN)
            continue
        service = context.release.services.get((agency_id, source["serviceKey"]))
        if service is None:
            yield unknown(pointer(*path, "serviceKey"), "service", Code.SOURCES_UNKNOWN)
        elif source["path"] != service.path:
            yield mismatch(pointer(*path, "path"), "source's path")


def _semantics(output: Output, context: Context) -> Iterable[Finding]:
    cited = cited_services(output, context)
    yield from grounding.check(output["assistantReply"], cited, context.release)
    answered = {service.agency for service in cited}
    for agency in context.detected:
        # Where nothing at all is cited, that is the fault.
        if answered and agency not in answered:
            message = f"No service of the agency {agency}, which was detected, is cited."
            yield Finding(Code.REPLY_UNCOVERED, "/sourcesUsed", message)
    if context.request is not None:
        for i, source in enumerate(output["sourcesUsed"]):
            path = pointer("sourcesUsed", i, "serviceKey")
            key = (source["agencyId"], source["serviceKey"])
            yield from subject.check(*key, context.request, path=path)


def _legal_next(_output: Output, _context: Context) -> str:
    return "session_end"


def _reply(outputs: Mapping[str, Output], context: Context) -> Reply:
    output = outputs["multi_agency_service_answer_v1"]
    cited = cited_services(output, context)
    rules = outputs.get("service_select_v1", {}).get("template", {}).get("rules", "")
    return render_several(output["assistantReply"], cited, context.release, rules=rules)


def _state_slice(output: Output) -> dict[str, Any]:
    return {"multi_agency_service_answer_v1": dict(output), "nextStep": "session_end"}


def _enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    source = ("properties", "sourcesUsed", "items", "properties")
    return {
        (*source, "agencyId"): [agency["agencyId"] for agency in payload["agencies"]],
        (*source, "serviceKey"): [s["serviceKey"] for s in payload["service_index"]],
    }


STAGE = Stage(
    id="multi_agency_service_answer_v1",
    build_input=_build_input,
    state_slice=_state_slice,
    legal_next=_legal_next,
    reads=("agency_detect_v1", "semantic_analysis_v1", "service_select_v1"),
    branch=_branch,
    knowledge=_knowledge,
    semantics=_semantics,
    reply=_reply,
    enums=_enums,
)
