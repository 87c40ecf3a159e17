"""Asking back: the choices offered after an abstention, and the results made from a choice.

An abstention is a valid answer: the call is not repeated, because a model that is asked to correct
an honest 0.20 answers 0.50. The choice of the citizen becomes the results of the missing stages,
built from the release and judged by the gate like any answer. What the message asks about is kept:
the reply opens with it.

Several services of several agencies are the high path. Several of one agency are on no path: the
contracts answer one agency with one service. They stay on the low path with the first one, each of
the others having passed the gate on the same path by itself, and the reply is put together from the
list of what was chosen (:func:`reply_about_several`), which is stored with the turn's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from ieim.pipeline import contract as contracts
from ieim.pipeline.canonical import dumps
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import gate
from ieim.pipeline.gate.gate import MINIMUM_SCORE, Judgement
from ieim.pipeline.knowledge import Release, Service, Situation
from ieim.pipeline.ports import ModelAnswer, Ranking
from ieim.pipeline.reply import template
from ieim.pipeline.reply.cards import AROUND, CHECKLIST, SECTIONS
from ieim.pipeline.reply.reply import Reply, render_several
from ieim.pipeline.stages import (
    agency_detect,
    category_select,
    judgement,
    multi_agency_answer,
    semantic_analysis,
    service_select,
)
from ieim.pipeline.stages.base import Context, Inputs, Output, Stage, selected_category
from ieim.pipeline.work import Abstained, Chosen, Key

LEAST, MOST = 2, 4
"""So many services are offered: with fewer there is nothing to choose, more are a list to read."""

FLOOR = 0.03
"""A service that is less likely than this is offered only where there are too few others."""

NEAR = 0.2
NEAR_BY_WORDS = 0.3
"""From this probability on an event is near, also where no service is."""
OFFERED = 0.1
MOST_SITUATIONS = 2
"""So many situations are options beside services at most, from this probability on."""
NEAREST = 4
"""So many situations are looked at."""

SURE = Decimal("1.00")
"""The score of a choice by the citizen."""

_STATE_NAMES = ("session_id", "judgement_v1")
_USUAL = ("overview", *CHECKLIST)
"""What is open of a chosen service where the message asks for nothing in particular."""


class NotOffered(ValueError):
    """A service that no valid stage results lead to: it cannot be chosen."""


def abstains(stage: Stage, output: Output | None, findings: Iterable[Finding]) -> bool:
    """Whether an answer with these findings says, in good form, that it does not know.

    Its highest score is under 0.50, it found no agency or nothing at any, or what it chose may not
    be what the message is about; nothing else is wrong with it.
    """
    all_findings = tuple(findings)
    codes = {finding.code for finding in all_findings}
    if output is None:
        return False
    if codes == {Code.ROUTE_SUBJECT}:
        return True
    if codes == {Code.SCORE_MINIMUM}:
        return all(Decimal(s.value) < MINIMUM_SCORE for s in stage.scores(output))
    if codes != {Code.AGENCY_COUNT}:
        return False
    if stage.id == semantic_analysis.STAGE.id:
        return len(all_findings) == 1 and not semantic_analysis.has_candidates(output)
    judgements = output["judgements"]
    return not any(judgements[k] for k in ("agencyDetected", "agencyInfo", "agencyCount"))


def ask_back(
    stage: str, findings: Iterable[Finding], output: Output | None, inputs: Inputs
) -> Abstained | None:
    """Return that the citizen is asked back, None where there is nothing to offer.

    ``output`` is that of the stage that abstained. The services of the topics that were selected
    come first, of each agency in turns, then those that match the message; of topics that were
    named unsurely, in turns with these. Several may be chosen where the message has several
    requests, or was found to concern several agencies.
    """
    several = inputs.context.complexity == "high" or bool(inputs.requests)
    selected, unsure = _of_topics(output or {}, inputs)
    services = [*_in_turns(selected), *_in_turns([*unsure, matching(inputs)])]
    offered = offers(services, output, inputs.context, inputs.query.without)
    if not offered:
        return None
    # Of several that are chosen one checklist is shown, so there is one to choose then.
    situations = near_situations(inputs, OFFERED)[: 1 if several else MOST_SITUATIONS]
    offered = offered[: MOST - 1] if situations else offered
    return Abstained(stage, tuple(findings), offered, several=several, situations=situations)


def near_situations(inputs: Inputs, least: float = NEAR) -> tuple[Situation, ...]:
    """Return the situations that a citizen can be asked about, the nearest first: those that are at
    least so probable, and whose checklist the talk has not shown already."""
    shown_codes = {item.get("situation") for item in inputs.history if item.get("opened")}
    release = inputs.context.release
    return tuple(
        hit
        for hit in near(inputs.ranking, least)
        if hit.key not in shown_codes and release.steps(hit)
    )


def near(ranking: Ranking, least: float) -> list[Situation]:
    """Return the situations that are at least so probable, the nearest first."""
    least = least if ranking.by_meaning else NEAR_BY_WORDS
    ranked = ranking.situations(limit=NEAREST)
    return [hit.item for hit in ranked if hit.probability >= least]


def chosen_situation(options: Iterable[Key], release: Release) -> Situation | None:
    """Return the situation among the options that a citizen has chosen, None for none."""
    return next(filter(None, (release.situation(key) for _, key in options)), None)


def chosen_services(options: Iterable[Key], release: Release) -> tuple[Key, ...]:
    """Return the services among the options that a citizen has chosen; the first one of a situation
    that was chosen alone."""
    options = tuple(options)
    services = tuple(key for key in options if key in release.services)
    situation = chosen_situation(options, release)
    return services or (release.steps(situation)[:1] if situation else ())


def matching(inputs: Inputs) -> list[Service]:
    """Return the services that a citizen can be asked about, best first: those that are likely
    enough, of each request in turns, and so many at least that there is something to choose."""
    rankings = [ranking for _, ranking in inputs.requests] or [inputs.ranking]
    return list(_in_turns([_likely(ranking) for ranking in rankings]))


def _likely(ranking: Ranking) -> list[Service]:
    ranked = ranking.services(limit=MOST)
    return [hit.item for hit in ranked if hit.rank <= LEAST or hit.probability >= FLOOR]


def _in_turns(lists: Iterable[Iterable[Service]]) -> Iterator[Service]:
    for turn in zip_longest(*lists):
        yield from filter(None, turn)


def _of_topics(output: Output, inputs: Inputs) -> tuple[list[list[Service]], list[list[Service]]]:
    """Return, of each agency, the services of the topics that a stage selected, and those of the
    topics that it named unsurely, the best match first."""
    selected, unsure = [], []
    for agency, candidates in _topics(output, inputs.context):
        everything = len(inputs.context.release.services)
        ranked = inputs.ranking_of(agency).services(agencies=[agency], limit=everything)
        sure = {key for key, candidate in candidates.items() if candidate["score"] >= MINIMUM_SCORE}
        named = {key for key, candidate in candidates.items() if candidate["score"] > 0} - sure
        selected.append([r.item for r in ranked if sure.intersection(r.item.categories)])
        unsure.append([r.item for r in ranked if named.intersection(r.item.categories)])
    return selected, unsure


def _topics(output: Output, context: Context) -> Iterator[tuple[str, Mapping[str, Any]]]:
    of_one = output.get("categorySelection") or context.cached("category_select_v1") or {}
    if "candidates" in of_one:
        yield context.answering_agency or "", of_one["candidates"]
    analysis = output.get("semanticAnalysis") or context.cached("semantic_analysis_v1") or {}
    for agency in analysis.get("agencies", ()):
        yield agency["agencyId"], agency["categorySelection"]["candidates"]


def offers(
    ranked: Sequence[Service],
    output: Output | None,
    context: Context,
    without: Collection[Key] = (),
) -> tuple[Service, ...]:
    """Return what the citizen is offered, best first: two to four services, or none.

    ``ranked`` are the services that match the message, best first; ``output`` is that of the stage
    that abstained: the services that it named come first, but for those ``without`` which the
    citizen wants it.
    """
    keys = (key for key in _named(output or {}, context) if key not in without)
    named = (context.release.services.get(key) for key in keys)
    services = dict.fromkeys([*filter(None, named), *ranked])
    chosen: list[Service] = []
    for candidate in services:
        if len(chosen) == MOST:
            break
        try:
            results([candidate], context)
        except NotOffered:
            continue
        chosen.append(candidate)
    return tuple(chosen) if len(chosen) >= LEAST else ()


def _named(output: Output, context: Context) -> Iterator[Key]:
    selected = output.get("serviceSelection", {}).get("serviceKey", "")
    yield context.answering_agency or "", selected
    for source in output.get("sourcesUsed", ()):
        yield source["agencyId"], source["serviceKey"]


def results(
    services: Sequence[Service],
    context: Context,
    response_id: Callable[[], str] = lambda: "choice",
    *,
    of_model: Output | None = None,
) -> tuple[Chosen, ...]:
    """Return the stage results that a choice of ``services`` makes, in the order of the flow.

    ``of_model`` is the template of a well-formed answer of service_select_v1, where there is one.
    What the state holds already and leads there stays as it is. Each result went through the gate.
    Raises :class:`NotOffered` where one does not pass: of an agency without a dictionary, say.
    """
    # Attempt 1: a person's choice has no attempt before it to tell of.
    start = context = replace(_leading_to(services, context), attempt=1)
    one_agency = len(_agencies(services)) == 1
    made = []
    for stage, build in _LOW if one_agency else _HIGH:
        if stage.id in context.cached_state:
            continue
        output = {
            "session_id": context.cached("session_id"),
            "response_id": response_id(),
            "stage": stage.id,
            "telemetry": {"notes": None},
            **build(services, context, of_model),
        }
        judged = _judged(stage, output, context)
        assert judged.output is not None  # noqa: S101  # it passed
        assert judged.state_merge is not None  # noqa: S101  # it passed
        context = replace(context, cached_state={**context.cached_state, **judged.state_merge})
        cards_alone = {"text": ""} if stage is multi_agency_answer.STAGE else None
        made.append(Chosen(stage.id, judged.output, judged.state_merge, cards_alone))
    if one_agency:
        for other in services[1:]:
            results([other], start)
    return tuple(made)


def from_the_start(
    services: Sequence[Service], context: Context, response_id: Callable[[], str]
) -> tuple[Chosen, ...]:
    """Return the results of all stages, the judgement among them, that lead to ``services``; raises
    :class:`NotOffered`."""
    output = {
        "stage": judgement.STAGE.id,
        "stageStatus": "ready",
        "judgements": {"inquiry": True},
        "assistantReply": None,
        "nextStep": agency_detect.STAGE.id,
        "telemetry": {"notes": None},
    }
    judged = _judged(judgement.STAGE, output, context)
    merge = judged.state_merge or {}
    context = replace(context, cached_state={**context.cached_state, **merge})
    made = results(services, context, response_id)
    return (Chosen(judgement.STAGE.id, judged.output or {}, merge), *made)


def reply_about_several(
    chosen: Sequence[Key], outputs: Mapping[str, Output], context: Context
) -> Reply | None:
    """Return the reply about several ``chosen`` services of one agency: what to do first at each,
    and their cards.

    None where the stages' own reply stands: one was chosen, they are of several agencies, or
    somebody has since put another service in the place of the first one.
    """
    chosen = chosen_services(chosen, context.release)
    selected = outputs.get(service_select.STAGE.id, {}).get("serviceSelection", {})
    agencies = {agency for agency, _ in chosen}
    first = (context.answering_agency or "", selected.get("serviceKey", ""))
    if len(chosen) < LEAST or len(agencies) > 1 or chosen[0] != first:
        return None
    services = [context.release.services[key] for key in chosen]
    rules = outputs[service_select.STAGE.id]["template"]["rules"]
    return render_several("", services, context.release, rules=rules)


def _agencies(services: Sequence[Service]) -> list[str]:
    return list(dict.fromkeys(service.agency for service in services))


def _leading_to(services: Sequence[Service], context: Context) -> Context:
    """Return the context with those slices of the state that lead to ``services``."""
    names = list(_STATE_NAMES)
    agencies = _agencies(services)
    if set(context.detected) == set(agencies):
        names += ["agency_detect_v1"]
    if context.complexity == "low" and [context.answering_agency] == agencies:
        names += ["category_select_v1"]
    state = {name: context.cached_state[name] for name in names if name in context.cached_state}
    return replace(context, cached_state=state)


def _judged(stage: Stage, output: dict[str, Any], context: Context) -> Judgement:
    judgement = gate.judge(contracts.load(stage.id), ModelAnswer(raw=dumps(output)), context)
    if not judgement.passed:
        raise NotOffered(f"{stage.id} does not pass: {_codes(judgement.findings)}")
    return judgement


def _codes(findings: Iterable[Finding]) -> str:
    return ", ".join(sorted({finding.code.value for finding in findings}))


def _agency(
    services: Sequence[Service], context: Context, _of_model: Output | None
) -> dict[str, Any]:
    agencies = context.release.agencies
    return agency_detect.output_for(*(agencies[agency] for agency in _agencies(services)))


def _category(
    services: Sequence[Service], context: Context, _of_model: Output | None
) -> dict[str, Any]:
    return {
        "categorySelection": {"candidates": _candidates(services, context)},
        "nextStep": service_select.STAGE.id,
    }


def _candidates(services: Sequence[Service], context: Context) -> dict[str, Any]:
    """Return the categories of ``services`` of one agency, as a stage's candidates."""
    categories = context.release.categories
    entries = [entry for (owner, _), entry in categories.items() if owner == services[0].agency]
    keys = {key for service in services for key in service.categories}
    chosen = {
        entry.key: {"value": entry.value, "score": SURE} for entry in entries if entry.key in keys
    }
    # The contract requires a category even of a service that has none: any, with the least score.
    least = {entry.key: {"value": entry.value, "score": MINIMUM_SCORE} for entry in entries[:1]}
    return chosen or least


def _analysis(
    services: Sequence[Service], context: Context, _of_model: Output | None
) -> dict[str, Any]:
    selections = {
        agency: _candidates([service for service in services if service.agency == agency], context)
        for agency in _agencies(services)
    }
    sums = {
        agency: sum(Decimal(candidate["score"]) for candidate in candidates.values())
        for agency, candidates in selections.items()
    }
    return {
        "semanticAnalysis": {
            "agencies": [
                {
                    "agencyId": agency,
                    "agencyName": context.release.agencies[agency].name,
                    "categorySelection": {"candidates": candidates},
                }
                for agency, candidates in selections.items()
            ],
            "primaryAgency": {
                "agencyId": max(sums, key=lambda agency: sums[agency]),
                "reason": "The citizen chose services of each of these agencies.",
            },
        },
        "nextStep": service_select.STAGE.id,
    }


def _service(
    services: Sequence[Service], context: Context, of_model: Output | None
) -> dict[str, Any]:
    service = next(
        candidate for candidate in services if candidate.agency == context.answering_agency
    )
    high = context.complexity == "high"
    return {
        "serviceSelection": {
            "serviceKey": service.key,
            "name": service.name,
            "path": service.path,
            "matchedField": "name",
            "score": SURE,
        },
        "template": _template(service, context, of_model),
        "nextStep": multi_agency_answer.STAGE.id if high else "session_end",
    }


def _template(service: Service, context: Context, of_model: Output | None) -> dict[str, Any]:
    """Return the template of a chosen service: the model's as far as the service has values for it,
    else all its fields.

    It opens with what the model's opens with, else with the usual.
    """
    of_model = of_model or {"placeholders": {}, "rules": ""}
    fields = [f"service_{name}" for name in SECTIONS]
    resolved = template.resolve(
        dict.fromkeys([*of_model["placeholders"], *fields]),
        service=service,
        agency=context.release.agencies[service.agency],
        category_value=selected_category(context),
        entities=context.entities,
    )
    values = [key for key, value in resolved.items() if value]
    filled = [key for key in values if key in fields]
    named = [key for key in values if key in of_model["placeholders"]]
    placeholders = named if set(named) & set(filled) else filled or ["service_name"]
    used = list(filter(_is_shown, placeholders))
    first = [key for key in template.opening(of_model["rules"]) if key in used]
    if set(first).issuperset(filled):
        first = []  # which opens with all there is says nothing of what was asked
    opens = (
        first
        or [key for key in (f"service_{name}" for name in _USUAL) if key in used]
        or (used or placeholders)[:1]
    )
    return {
        "placeholders": {key: f"{{{key}}}" for key in placeholders},
        "rules": ", ".join(f"{{{key}}}" for key in opens),
    }


def _is_shown(key: str) -> bool:
    """Whether a placeholder makes a section of the reply: names and addresses make none."""
    of_service = key.startswith("service_") and key.removeprefix("service_") in SECTIONS
    return of_service or key in AROUND or key.startswith(template.ENTITY_PREFIX)


def _answer(
    services: Sequence[Service], context: Context, _of_model: Output | None
) -> dict[str, Any]:
    agencies = context.release.agencies
    return {
        "assistantReply": "\n\n".join(
            f"{agencies[service.agency].name}: {service.name}." for service in services
        ),
        "sourcesUsed": [
            {"agencyId": service.agency, "serviceKey": service.key, "path": service.path}
            for service in services
        ],
        "nextStep": "session_end",
    }


_Build = Callable[[Sequence[Service], Context, Output | None], dict[str, Any]]
_LOW: tuple[tuple[Stage, _Build], ...] = (
    (agency_detect.STAGE, _agency),
    (category_select.STAGE, _category),
    (service_select.STAGE, _service),
)
_HIGH: tuple[tuple[Stage, _Build], ...] = (
    (agency_detect.STAGE, _agency),
    (semantic_analysis.STAGE, _analysis),
    (service_select.STAGE, _service),
    (multi_agency_answer.STAGE, _answer),
)
