"""service_select_v1: the best service of the answering agency, and the reply's placeholders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import subject
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Ranked
from ieim.pipeline.reply import template
from ieim.pipeline.reply.cards import AROUND, SECTIONS
from ieim.pipeline.reply.reply import Reply, render_service
from ieim.pipeline.stages.base import (
    Context,
    Inputs,
    Output,
    Score,
    Stage,
    mismatch,
    selected_categories,
    selected_category,
    unknown,
)
from ieim.pipeline.stages.slots import service_slot


def _build_input(inputs: Inputs) -> dict[str, Any]:
    return {
        "service_index": [service_slot(r, detail=False) for r in _offered(inputs)],
        "entity_types": sorted(inputs.context.labels.get("entity_types", ())),
    }


def _offered(inputs: Inputs) -> list[Ranked[Service]]:
    """Return the services to choose from, as the search ranks them: the best up to the limit, and
    behind them the best of the selected categories."""
    agency, limit = inputs.context.answering_agency or "", inputs.limits["services"]
    every = len(inputs.context.release.services_by_agency.get(agency, ()))
    ranked = inputs.ranking_of(agency).services(agencies=[agency], limit=max(limit, every))
    selected = selected_categories(inputs.context).keys()
    fitting = [r for r in ranked[limit:] if not selected.isdisjoint(r.item.categories)]
    return [*ranked[:limit], *fitting[:OF_SELECTED]]


OF_SELECTED = 2
"""So many services of the selected categories are offered behind the limit: a selection may be
wrong, so it takes no better ranked service's place."""

SHOWN = ("service_name", *(f"service_{field}" for field in SECTIONS), *AROUND)
"""The placeholders that a reply shows something for: what else there is stands in it anyway."""


def _branch(context: Context) -> bool:
    if context.complexity == "low":
        return context.cached("category_select_v1") is not None
    return context.complexity == "high" and context.answering_agency is not None


def _knowledge(output: Output, context: Context) -> Iterable[Finding]:
    selection = output["serviceSelection"]
    key = (context.answering_agency or "", selection["serviceKey"])
    service = context.release.services.get(key)
    if service is None:
        yield unknown("/serviceSelection/serviceKey", "service")
        return
    for name in ("name", "path"):
        if selection[name] != getattr(service, name):
            yield mismatch(f"/serviceSelection/{name}", f"service's {name}")
    if not getattr(service, selection["matchedField"]).strip():
        message = "The service has nothing in this field that could have matched."
        yield Finding(Code.KNOWLEDGE_MISMATCH, "/serviceSelection/matchedField", message)


def _scores(output: Output) -> Iterable[Score]:
    yield Score("/serviceSelection/score", output["serviceSelection"]["score"])


def _semantics(output: Output, context: Context) -> Iterable[Finding]:
    agency_id = context.answering_agency or ""
    key = output["serviceSelection"]["serviceKey"]
    yield from template.check(
        output["template"],
        service=context.release.services[(agency_id, key)],
        agency=context.release.agencies[agency_id],
        category_value=selected_category(context),
        entities=context.entities,
    )
    if context.request is not None:
        score = None if context.complexity == "high" else output["serviceSelection"]["score"]
        yield from subject.check(agency_id, key, context.request, score)


def _legal_next(_output: Output, context: Context) -> str:
    return "multi_agency_service_answer_v1" if context.complexity == "high" else "session_end"


def _reply(outputs: Mapping[str, Output], context: Context) -> Reply:
    output = outputs["service_select_v1"]
    agency_id = context.answering_agency or ""
    return render_service(
        output["template"]["placeholders"],
        service=context.release.services[agency_id, output["serviceSelection"]["serviceKey"]],
        agency=context.release.agencies[agency_id],
        category_value=selected_category(context),
        entities=context.entities,
        rules=output["template"]["rules"],
    )


def _state_slice(output: Output) -> dict[str, Any]:
    selection = {name: output[name] for name in ("serviceSelection", "template")}
    return {"service_select_v1": selection, "nextStep": output["nextStep"]}


def _enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    keys = [service["serviceKey"] for service in payload["service_index"]]
    return {
        ("properties", "serviceSelection", "properties", "serviceKey"): keys,
        ("properties", "template", "properties", "placeholders"): [
            *SHOWN,
            *(f"{template.ENTITY_PREFIX}{code}" for code in payload["entity_types"]),
        ],
    }


STAGE = Stage(
    id="service_select_v1",
    build_input=_build_input,
    state_slice=_state_slice,
    legal_next=_legal_next,
    reads=("agency_detect_v1", "category_select_v1", "semantic_analysis_v1"),
    branch=_branch,
    knowledge=_knowledge,
    scores=_scores,
    semantics=_semantics,
    reply=_reply,
    uses_entities=template.names_entities,
    enums=_enums,
)
