"""The checklist of a situation in a reply: its services in order, open or offered.

It is open where the message surely tells of the situation, because a model says so with evidence or
the citizen has chosen it, and leads where the message names no service of its own. Where the search
only thinks it near, it is offered below the answer. Every word of it comes from the release.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from ieim.pipeline.choosing import chosen_situation, near
from ieim.pipeline.gate.gate import MINIMUM_SCORE
from ieim.pipeline.knowledge import Release, Situation
from ieim.pipeline.ports import Key
from ieim.pipeline.reply.cards import SECTIONS, Checklist, Line, Source, source
from ieim.pipeline.reply.marks import mark_deadline, mark_uncovered
from ieim.pipeline.reply.reply import Reply, in_language, render_service
from ieim.pipeline.stages.base import NAMED
from ieim.pipeline.work import Abstained, Answered, Held, NeedsReview, Outcome, Turn

if TYPE_CHECKING:
    from ieim.pipeline.stages.base import Inputs, Output

HOLDS: Final = 0.12
"""From this probability on a situation is offered below an answer that is part of it."""


def classified_situation(classified: Output | None, release: Release) -> Situation | None:
    """Return the situation that a model says a message tells of: the intent of an answer of
    classify that passed which it is surest of; None for none."""
    intents = () if classified is None else classified["intents"]
    sure = [
        (Decimal(str(intent["confidence"])), situation)
        for intent in intents
        if (situation := release.situation(intent["label"])) is not None
    ]
    confidence, situation = max(sure, key=lambda pair: pair[0], default=(Decimal(0), None))
    return situation if confidence >= MINIMUM_SCORE else None


def complete(outcome: Outcome, turn: Turn, inputs: Inputs, classified: Output | None) -> Outcome:
    """Return ``outcome`` with the checklist of the situation that the message tells of, if any.

    ``classified`` is the answer of classify, None where it did not run or pass. A checklist takes
    the place of a question back, and of an answer where the message names no service of its own,
    nobody has decided on one, and no person waits for it.
    """
    if isinstance(outcome, NeedsReview):
        return outcome
    reply = None if isinstance(outcome, Abstained) else outcome.reply
    if reply is not None and reply.kind not in _ANSWERS:
        return outcome
    release = inputs.context.release
    situation = situation_of(turn.chosen, classified, release)
    if situation is None or _is_known(situation, inputs):
        return outcome if reply is None else _with(outcome, _offered(reply, inputs))
    if isinstance(outcome, Held):
        return _with(outcome, _opened(outcome.reply, situation, inputs))
    applies = turn.decided or _names_own(inputs) or _is_listed(reply, situation, release)
    if reply is not None and reply.kind != "outside" and applies:
        return Answered(_opened(reply, situation, inputs))
    first = max(release.first_steps(situation), key=inputs.ranking.probability)
    return Answered(mark_deadline(lead(situation, first, release, turn.language), inputs))


def _is_listed(reply: Reply | None, situation: Situation, release: Release) -> bool:
    """Whether a reply is about a service of a situation."""
    reply_sources = () if reply is None else reply.sources
    sources = {(source.agency_id, source.service_key) for source in reply_sources}
    return not sources.isdisjoint(release.steps(situation))


def _opened(reply: Reply, situation: Situation, inputs: Inputs) -> Reply:
    """Return a reply with the open checklist below it, which answers parts of the message too."""
    release = inputs.context.release
    opened = with_open(reply, situation, release)
    return mark_uncovered(opened, inputs, release.steps(situation))


_ANSWERS: Final = ("service", "answer", "outside")


def _with(outcome: Answered | Held | Abstained, reply: Reply) -> Outcome:
    return outcome if isinstance(outcome, Abstained) else replace(outcome, reply=reply)


def situation_of(
    options: Iterable[Key], classified: Output | None, release: Release
) -> Situation | None:
    """Return the situation that the citizen has chosen, or that a model says the message tells of;
    None for one of whose services there is none."""
    situation = chosen_situation(options, release) or classified_situation(classified, release)
    return situation if situation is not None and release.steps(situation) else None


def with_open(reply: Reply, situation: Situation, release: Release) -> Reply:
    """Return a reply with the open checklist of a situation below it."""
    return replace(reply, situation=checklist(situation, release, is_open=True))


def _names_own(inputs: Inputs) -> bool:
    """Whether a message names a service of its own beside the situation that it tells of."""
    return bool(inputs.requests) or inputs.ranking.first >= NAMED


def _is_known(situation: Situation, inputs: Inputs) -> bool:
    """Whether the talk has shown the checklist already."""
    return any(
        item.get("situation") == situation.key and item.get("opened") for item in inputs.history
    )


def _offered(reply: Reply, inputs: Inputs) -> Reply:
    """Return a reply with the folded checklist that it is part of: that of the talk, or of the
    nearest situation that leads to its service."""
    release = inputs.context.release
    answered = {(source.agency_id, source.service_key) for source in reply.sources}
    keys = (str(item.get("situation", "")) for item in reversed(inputs.history))
    of_talk = (release.situations[key] for key in keys if key in release.situations)
    for situation in (*of_talk, *near(inputs.ranking, HOLDS)):
        if answered.intersection(release.steps(situation)):
            return replace(reply, situation=checklist(situation, release))
    return reply


def checklist(
    situation: Situation, release: Release, *, is_open: bool = False, leads: bool = False
) -> Checklist:
    """Return the services of a situation, as ``release`` words them, in its order."""
    lines = []
    for step in situation.steps:
        service = release.services.get((step.agency, step.service))
        if service is not None:
            of_release = source(service, release.agencies[service.agency])
            lines.append(Line(service.name, step.condition, service.deadline_days, of_release))
    return Checklist(situation.key, situation.name, tuple(lines), is_open=is_open, leads=leads)


def lead(situation: Situation, first: Key, release: Release, language: str) -> Reply:
    """Return the reply that is a checklist, under the ``first`` of its services to see to."""
    service = release.services[first]
    reply = render_service(
        {f"service_{field}": f"{{service_{field}}}" for field in SECTIONS},
        service=service,
        agency=release.agencies[service.agency],
        category_value=None,
        entities={},
    )
    opened = checklist(situation, release, is_open=True, leads=True)
    return replace(in_language(reply, language, release), situation=opened)


def again(
    original: Checklist | None, situation: Situation | None, release: Release
) -> Checklist | None:
    """Return the checklist of a stored reply, made again from its release.

    ``situation`` is that of :func:`situation_of`: no other one may be open. What is only offered is
    the search's to say.
    """
    if original is None or original.key not in release.situations:
        return None
    if original.is_open and (situation is None or situation.key != original.key):
        return None
    current = release.situations[original.key]
    return checklist(current, release, is_open=original.is_open, leads=original.leads)


def shown(reply: Reply) -> tuple[Source, ...]:
    """Return the services that a reply shows: its sources, and those of an open checklist."""
    situation = reply.situation
    lines = situation.lines if situation is not None and situation.is_open else ()
    return tuple(dict.fromkeys([*reply.sources, *(line.source for line in lines)]))


def without_offer(reply: Reply, off: Set[str]) -> Reply:
    """Return a reply without the checklist that it only offers, where that names an agency of which
    nothing may be answered."""
    offer = reply.situation
    if offer is None or offer.is_open:
        return reply
    named = {line.source.agency_id for line in offer.lines}
    return reply if named.isdisjoint(off) else replace(reply, situation=None)
