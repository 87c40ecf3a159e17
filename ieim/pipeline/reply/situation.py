"""The checklist of a situation in a reply: its services in order, open or offered.

It is open where the message surely tells of the situation, because a model says so with evidence or
the citizen has chosen it, and leads where the message names no service of its own. Where the search
only thinks it near, it is offered below the answer. Every word of it comes from the release.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from ieim.pipeline.gate.gate import MINIMUM_SCORE
from ieim.pipeline.knowledge import Release, Situation
from ieim.pipeline.choosing import chosen_situation, nearest_situation
from ieim.pipeline.ports import Key
from ieim.pipeline.reply.cards import SECTIONS, source
from ieim.pipeline.reply.checklist import Checklist, Line
from ieim.pipeline.reply.reply import Reply, in_language, render_service
from ieim.pipeline.work import Abstained, Answered, Turn

if TYPE_CHECKING:
    from ieim.pipeline.stages.base import Inputs, Output

NAMED: Final = 0.65
"""From this probability of its first service on a message names a service of its own."""

HOLDS: Final = 0.07
"""From this probability on the nearest situation is offered below an answer that is part of it."""


def said(classified: Output | None, release: Release) -> Situation | None:
    """Return the situation that a model says a message tells of: the intent of an answer of
    classify that passed which it is surest of; None for none."""
    intents = () if classified is None else classified["intents"]
    sure = [
        (Decimal(str(intent["confidence"])), situation)
        for intent in intents
        if (situation := release.situation(intent["label"])) is not None
    ]
    confidence, situation = max(sure, key=lambda each: each[0], default=(Decimal(0), None))
    return situation if confidence >= MINIMUM_SCORE else None


def complete(
    outcome: Answered | Abstained, turn: Turn, inputs: Inputs, classified: Output | None
) -> Answered | Abstained:
    """Return ``outcome`` with the checklist of the situation that the message tells of, if any.

    ``classified`` is the answer of classify, None where it did not run or pass. A checklist takes
    the place of a question back, and of an answer where the message names no service of its own and
    nobody has decided on one.
    """
    release = inputs.context.release
    situation = chosen_situation(turn.chosen, release) or said(classified, release)
    if situation is not None and (not release.steps(situation) or _is_known(situation, inputs)):
        situation = None
    if situation is None:
        return _with_offer(outcome, inputs)
    reply = outcome.reply if isinstance(outcome, Answered) else None
    if reply is not None and reply.kind == "guidance":
        return outcome
    leads = reply is None or reply.kind == "outside" or not (turn.decided or _names_own(inputs))
    if reply is None or leads:
        reply = lead(situation, release, turn.language)
    return Answered(
        replace(reply, situation=checklist(situation, release, is_open=True, leads=leads))
    )


def _names_own(inputs: Inputs) -> bool:
    """Whether a message names a service of its own beside the situation that it tells of."""
    return bool(inputs.requests) or inputs.ranking.first >= NAMED


def _is_known(situation: Situation, inputs: Inputs) -> bool:
    """Whether the talk has shown the checklist already."""
    return any(item.get("situation") == situation.key for item in inputs.history)


def _with_offer(outcome: Answered | Abstained, inputs: Inputs) -> Answered | Abstained:
    """Return an answer with the folded checklist that it is part of: that of the talk, or of the
    nearest situation."""
    if not isinstance(outcome, Answered) or outcome.reply.kind not in ("service", "answer"):
        return outcome
    release = inputs.context.release
    answered = {(source.agency_id, source.service_key) for source in outcome.reply.sources}
    shown = (str(item.get("situation", "")) for item in reversed(inputs.history))
    of_talk = (release.situations[key] for key in shown if key in release.situations)
    nearest = nearest_situation(inputs.ranking, HOLDS)
    for situation in filter(None, (*of_talk, nearest)):
        if answered.intersection(release.steps(situation)):
            offered = checklist(situation, release, is_open=False)
            return Answered(replace(outcome.reply, situation=offered))
    return outcome


def checklist(
    situation: Situation, release: Release, *, is_open: bool, leads: bool = False
) -> Checklist:
    """Return the services of a situation, as ``release`` words them, in its order."""
    lines = []
    for step in situation.steps:
        service = release.services.get((step.agency, step.service))
        if service is not None:
            of_release = source(service, release.agencies[service.agency])
            lines.append(Line(service.name, step.condition, service.deadline_days, of_release))
    return Checklist(situation.key, situation.name, tuple(lines), is_open=is_open, leads=leads)


def lead(situation: Situation, release: Release, language: str) -> Reply:
    """Return the reply about the first service of a situation, all of it open."""
    service = release.services[release.steps(situation)[0]]
    reply = render_service(
        {f"service_{field}": f"{{service_{field}}}" for field in SECTIONS},
        service=service,
        agency=release.agencies[service.agency],
        category_value=None,
        entities={},
    )
    return in_language(reply, language, release)


def again(original: Checklist | None, told: Collection[str], release: Release) -> Checklist | None:
    """Return the checklist of a stored reply, made again from its release.

    ``told`` are the keys of the situations that a model said or the citizen chose: no other one may
    be open. What is only offered is the search's to say.
    """
    if original is None or (original.is_open and original.key not in told):
        return None
    situation = release.situations.get(original.key)
    if situation is None:
        return None
    return checklist(situation, release, is_open=original.is_open, leads=original.leads)
