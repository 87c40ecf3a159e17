"""Asking back: the choices offered after an abstention, and the results made from a choice.

An abstention is a valid answer: the call is not repeated, because a model that is asked to correct
an honest 0.20 answers 0.50. The choice of the citizen becomes the results of the missing stages,
built from the release and judged by the gate like any answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ieim.pipeline import contract as contracts
from ieim.pipeline.canonical import dumps
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import gate
from ieim.pipeline.gate.gate import MINIMUM_SCORE, Judgement
from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.stages import agency_detect, category_select, service_select
from ieim.pipeline.stages.base import Context, Output, Stage
from ieim.pipeline.stages.slots import DETAIL_FIELDS, SUMMARY_FIELDS

LEAST, MOST = 2, 4
"""So many services are offered: with fewer there is nothing to choose, more are a list to read."""

SURE = Decimal("1.00")
"""The score of a choice by the citizen."""

Key = tuple[str, str]
"""A service's agency and key."""

_STATE_NAMES = ("session_id", "judgement_v1")
_SHOWN = tuple(name for name in SUMMARY_FIELDS + DETAIL_FIELDS if name not in ("name", "path"))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A stage's result as the citizen's choice makes it."""

    contract: str
    output: Output
    state_merge: Output


class NotOffered(ValueError):
    """A service that no valid stage results lead to: it cannot be chosen."""


def abstains(stage: Stage, output: Output | None, findings: Iterable[Finding]) -> bool:
    """Whether an answer with these findings says, in good form, that it does not know.

    Its highest score is under 0.50, it found no agency, or what it chose may not be what the
    message is about; nothing else is wrong with it.
    """
    codes = {finding.code for finding in findings}
    if output is None:
        return False
    if codes == {Code.ROUTE_SUBJECT}:
        return True
    if codes == {Code.SCORE_MINIMUM}:
        return all(Decimal(s.value) < MINIMUM_SCORE for s in stage.scores(output) if s.minimum)
    if codes == {Code.AGENCY_COUNT} and stage.id == agency_detect.STAGE.id:
        judgements = output["judgements"]
        return not any(judgements[k] for k in ("agencyDetected", "agencyInfo", "agencyCount"))
    return False


def offers(
    ranked: Sequence[Service], output: Output | None, context: Context
) -> tuple[Service, ...]:
    """Return what the citizen is offered, best first: two to four services, or none.

    ``ranked`` are the services that match the message, best first; ``output`` is that of the stage
    that abstained: the services that it named come first.
    """
    named = (context.release.services.get(key) for key in _named(output or {}, context))
    found = dict.fromkeys([*filter(None, named), *ranked])
    chosen: list[Service] = []
    for each in found:
        if len(chosen) == MOST:
            break
        try:
            results(each, context)
        except NotOffered:
            continue
        chosen.append(each)
    return tuple(chosen) if len(chosen) >= LEAST else ()


def _named(output: Output, context: Context) -> Iterator[Key]:
    selected = output.get("serviceSelection", {}).get("serviceKey", "")
    yield context.answering_agency or "", selected
    for source in output.get("sourcesUsed", ()):
        yield source["agencyId"], source["serviceKey"]


def results(
    service: Service, context: Context, response_id: Callable[[], str] = lambda: "choice"
) -> tuple[Chosen, ...]:
    """Return the stage results that a choice of ``service`` makes, in the order of the flow.

    What the state holds already and leads there stays as it is. Each result went through the gate.
    Raises :class:`NotOffered` where one does not pass: of an agency without a dictionary, say.
    """
    agency = context.release.agencies[service.agency]
    made = []
    # Attempt 1: a person's choice has no attempt before it to tell of.
    context = replace(_leading_to(service, context), attempt=1)
    for stage, build in _BUILD:
        if stage.id in context.cached_state:
            continue
        output = {
            "session_id": context.cached("session_id"),
            "response_id": response_id(),
            "stage": stage.id,
            "telemetry": {"notes": None},
            **build(service, agency, context.release),
        }
        judgement = _judged(stage, output, context)
        assert judgement.output is not None  # noqa: S101  # it passed
        assert judgement.state_merge is not None  # noqa: S101  # it passed
        context = replace(context, cached_state={**context.cached_state, **judgement.state_merge})
        made.append(Chosen(stage.id, judgement.output, judgement.state_merge))
    return tuple(made)


def _leading_to(service: Service, context: Context) -> Context:
    """Return the context with those slices of the state that lead to ``service``."""
    names = list(_STATE_NAMES)
    if context.complexity == "low" and context.answering_agency == service.agency:
        names += ["agency_detect_v1", "category_select_v1"]
    state = {name: context.cached_state[name] for name in names if name in context.cached_state}
    return replace(context, cached_state=state)


def _judged(stage: Stage, output: dict[str, Any], context: Context) -> Judgement:
    judgement = gate.judge(contracts.load(stage.id), ModelAnswer(raw=dumps(output)), context)
    if not judgement.passed:
        codes = ", ".join(sorted({finding.code.value for finding in judgement.findings}))
        raise NotOffered(f"{stage.id} does not pass: {codes}")
    return judgement


def _category(service: Service, _agency: Agency, release: Release) -> dict[str, Any]:
    entries = [entry for (owner, _), entry in release.categories.items() if owner == service.agency]
    chosen = {
        entry.key: {"value": entry.value, "score": SURE}
        for entry in entries
        if entry.key in service.categories
    }
    # The contract requires a category even of a service that has none: any, with the least score.
    least = {entry.key: {"value": entry.value, "score": MINIMUM_SCORE} for entry in entries[:1]}
    return {
        "categorySelection": {"candidates": chosen or least},
        "nextStep": service_select.STAGE.id,
    }


def _service(service: Service, _agency: Agency, _release: Release) -> dict[str, Any]:
    shown = [f"service_{name}" for name in _SHOWN if getattr(service, name)]
    placeholders = shown or ["service_name"]
    return {
        "serviceSelection": {
            "serviceKey": service.key,
            "name": service.name,
            "path": service.path,
            "matchedField": "name",
            "score": SURE,
        },
        "template": {
            "placeholders": {name: f"{{{name}}}" for name in placeholders},
            "rules": f"Open with {', '.join(f'{{{name}}}' for name in placeholders)}.",
        },
        "nextStep": "session_end",
    }


_BUILD = (
    (agency_detect.STAGE, lambda _service, agency, _release: agency_detect.output_for(agency)),
    (category_select.STAGE, _category),
    (service_select.STAGE, _service),
)
