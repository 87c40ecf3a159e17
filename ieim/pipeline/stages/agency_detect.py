"""agency_detect_v1: which agencies the inquiry concerns, and how complex it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Agency
from ieim.pipeline.stages.base import Context, Inputs, Output, Stage, mismatch, unknown

EXAMPLE_SERVICES = 2
"""So many of the services of each agency are named: its name alone seldom says what it does."""


def _build_input(inputs: Inputs) -> dict[str, Any]:
    ranked = inputs.ranking.agencies(limit=inputs.limits["agencies"])
    return {
        "agencies": [
            {
                "agencyId": r.item.id,
                "name": r.item.name,
                "path": r.item.path,
                "description": r.item.description,
                "rank": r.rank,
                "services": [
                    service.item.name
                    for service in inputs.ranking.services(
                        agencies=[r.item.id], limit=EXAMPLE_SERVICES
                    )
                ],
            }
            for r in ranked
        ],
    }


def _branch(context: Context) -> bool:
    return context.cached("judgement_v1", "inquiry") is True


def _knowledge(output: Output, context: Context) -> Iterable[Finding]:
    judgements = output["judgements"]
    agencies = context.release.agencies
    detected: list[str] = judgements["agencyDetected"]
    for i, agency_id in enumerate(detected):
        if agency_id not in agencies:
            yield unknown(pointer("judgements", "agencyDetected", i), "agency")
    for i, info in enumerate(judgements["agencyInfo"]):
        path = ("judgements", "agencyInfo", i)
        agency = agencies.get(info["agencyId"])
        if agency is None or agency.id not in detected:
            yield unknown(pointer(*path, "agencyId"), "agency")
            continue
        for name in ("name", "path", "description"):
            if info[name] != getattr(agency, name):
                yield mismatch(pointer(*path, name), f"agency's {name}")
    described = {info["agencyId"] for info in judgements["agencyInfo"]}
    if set(detected) - described:
        yield mismatch("/judgements/agencyInfo", "list of agency details")


def _semantics(output: Output, _context: Context) -> Iterable[Finding]:
    judgements = output["judgements"]
    detected: list[str] = judgements["agencyDetected"]
    described = [info["agencyId"] for info in judgements["agencyInfo"]]
    if not detected:
        yield Finding(
            Code.AGENCY_COUNT,
            "/judgements/agencyDetected",
            "This is an inquiry, but no agency was found for it.",
        )
    for name, ids in (("agencyDetected", detected), ("agencyInfo", described)):
        for i, agency_id in enumerate(ids):
            if agency_id in ids[:i]:
                yield Finding(
                    Code.AGENCY_COUNT,
                    pointer("judgements", name, i),
                    "The same agency is listed twice.",
                )
    if judgements["agencyCount"] != len(detected):
        yield Finding(
            Code.AGENCY_COUNT,
            "/judgements/agencyCount",
            f"The count does not fit the list: {len(detected)} listed.",
        )
    low = judgements["complexity"] == "low"
    # Where no agency was found there is no branch yet to be wrong about.
    if detected and ((len(detected) != 1) if low else (len(detected) < 2)):
        yield Finding(
            Code.ROUTE_BRANCH,
            "/judgements/complexity",
            "Low complexity needs exactly one agency, high complexity two or more.",
        )


def _legal_next(output: Output, _context: Context) -> str | None:
    if not output["judgements"]["agencyDetected"]:
        return None
    low = output["judgements"]["complexity"] == "low"
    return "category_select_v1" if low else "semantic_analysis_v1"


def _state_slice(output: Output) -> dict[str, Any]:
    return {"agency_detect_v1": output["judgements"], "nextStep": output["nextStep"]}


def _enums(payload: Mapping[str, Any]) -> Mapping[tuple[str, ...], Sequence[str]]:
    ids = [agency["agencyId"] for agency in payload["agencies"]]
    return {("properties", "judgements", "properties", "agencyDetected", "items"): ids}


def output_for(*agencies: Agency) -> dict[str, Any]:
    """Return the answer for an inquiry that concerns these agencies."""
    names = ("name", "path", "description")
    alone = len(agencies) == 1
    return {
        "judgements": {
            "agencyDetected": [agency.id for agency in agencies],
            "agencyInfo": [
                {"agencyId": agency.id, **{name: getattr(agency, name) for name in names}}
                for agency in agencies
            ],
            "agencyCount": len(agencies),
            "complexity": "low" if alone else "high",
        },
        "nextStep": "category_select_v1" if alone else "semantic_analysis_v1",
    }


def _guess(inputs: Inputs) -> Output | None:
    best = inputs.ranking.agencies(limit=1)
    return output_for(best[0].item) if best else None


STAGE = Stage(
    id="agency_detect_v1",
    build_input=_build_input,
    state_slice=_state_slice,
    legal_next=_legal_next,
    reads=("judgement_v1",),
    branch=_branch,
    knowledge=_knowledge,
    semantics=_semantics,
    guess=_guess,
    enums=_enums,
)
