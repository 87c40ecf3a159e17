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
from ieim.pipeline.stages.slots import agency_names, service_slot

LEAST_SERVICES = 4
"""So many services of each agency are offered at least, as far as it has them."""
MOST_SERVICES = 8
"""And so many at most: each is sent with all its details."""


def _build_input(inputs: Inputs) -> dict[str, Any]:
    context = inputs.context
    services = [service for agency in context.answered for service in _offered(inputs, agency)]
    return {
        "agencies": agency_names(context, context.answered),
        "service_index": [service_slot(r, detail=True) for r in services],
    }


def _offered(inputs: Inputs, agency: str) -> list[Ranked[Service]]:
    """Return the services of an agency that an answer may cite, in the order of their new ranks.

    First the one that service_select_v1 chose, then those of the categories that were selected,
    then the others up to :data:`LEAST_SERVICES`; each group as the search ranks it. A shortened
    input keeps the first ones.
    """
    context = inputs.context
    selected = frozenset(context.analysed(agency) or ())
    every = len(context.release.services_by_agency.get(agency, ()))
    ranked = inputs.ranking_of(agency).services(agencies=[agency], limit=every)
    first, fitting, others = [], [], []
    for hit in ranked:
        if (agency, hit.item.key) == _chosen(context):
            first.append(hit)
        elif selected.isdisjoint(hit.item.categories):
            others.append(hit)
        else:
            fitting.append(hit)
    services = [*first, *fitting][:MOST_SERVICES]
    services += others[: max(0, LEAST_SERVICES - len(services))]
    return [replace(hit, rank=rank) for rank, hit in enumerate(services, 1)]


def _chosen(context: Context) -> tuple[str, str]:
    """Return the agency and the key of the service that service_select_v1 chose."""
    key = context.cached("service_select_v1", "serviceSelection", "serviceKey")
    return context.answering_agency or "", str(key)


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
    text = output["assistantReply"]
    findings = grounding.check(text, cited, context.release)
    yield from findings
    if not findings and not grounding.says_anything(text, cited, context.release):
        message = "The reply says nothing of what its sources say."
        yield Finding(Code.REPLY_EMPTY, grounding.REPLY, message)
    answered = {service.agency for service in cited}
    for agency in context.answered:
        # Where nothing at all is cited, that is the fault.
        if answered and agency not in answered:
            message = f"No service of the agency {agency}, for which something fits, is cited."
            yield Finding(Code.REPLY_UNCOVERED, "/sourcesUsed", message)
    if context.request is not None:
        chosen = _chosen(context)
        for i, source in enumerate(output["sourcesUsed"]):
            key = (source["agencyId"], source["serviceKey"])
            if key != chosen:  # that one was judged when it was chosen
                path = pointer("sourcesUsed", i, "serviceKey")
                yield from subject.check(*key, context.request, path=path)


def _legal_next(_output: Output, _context: Context) -> str:
    return "session_end"


def _reply(outputs: Mapping[str, Output], context: Context) -> Reply:
    output = outputs["multi_agency_service_answer_v1"]
    cited = cited_services(output, context)
    rules = outputs.get("service_select_v1", {}).get("template", {}).get("rules", "")
    left = [agency for agency in context.detected if agency not in context.answered]
    text = output["assistantReply"] if context.shown_text is None else context.shown_text
    return render_several(text, cited, context.release, rules=rules, unanswered=left)


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
