"""Additions to a composed reply: its time limit, the order of its cards, what comes next, and the
parts of the message that it does not cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from ieim.pipeline.facts import facts
from ieim.pipeline.gate.subject import about_before
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Key, Shortlist
from ieim.pipeline.reply.cards import Card, source
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.stages.base import Inputs

SOON: Final = timedelta(days=2)
NEAREST: Final = 4
"""So many services of an agency stand below a reply about it."""
COVERED: Final = 0.1
"""A source is about a part of a message from this probability on."""
LONG_AGO: Final = timedelta(days=365)  # so long over: no limit was counted from a day of birth


def mark_deadline(reply: Reply, inputs: Inputs) -> Reply:
    """Return a reply about one service with its time limit, and with the day that it is counted
    from where the message names one whole date, and the limit ends within two days or is over."""
    if reply.kind != "service" or reply.is_about_agency:
        return reply
    source = reply.sources[0]
    days = inputs.context.release.services[source.agency_id, source.service_key].deadline_days
    reply = replace(reply, deadline_days=days)
    try:
        (value,) = {fact.value for fact in facts(inputs.text) if days and fact.kind == "date"}
        first = date.fromisoformat(value)
    except ValueError:
        return reply
    left = first + timedelta(int(days)) - inputs.today
    is_near = first <= inputs.today and -LONG_AGO < left <= SOON
    return replace(reply, counted_from=value) if is_near else reply


def in_order(reply: Reply, inputs: Inputs) -> Reply:
    """Return ``reply`` with its cards in the order in which a citizen has to see to them."""
    if len(reply.cards) < 2:
        return reply
    services = inputs.context.release.services
    cited = [services[card.source.agency_id, card.source.service_key] for card in reply.cards]
    order = ordered(reply.cards, _needs(cited, inputs.shortlist))
    return replace(reply, cards=tuple(reply.cards[index] for index in order))


def ordered(cards: Sequence[Card], needs: Mapping[int, set[int]]) -> list[int]:
    """Return the places of ``cards`` in order; ``needs`` has the places of what each needs first.

    Cards that need each other stand as if they did not.
    """
    due = [float(card.deadline_days or "inf") for card in cards]
    for _ in cards:  # so far a need may reach
        for index, needed in needs.items():
            for needed_index in needed:
                due[needed_index] = min(due[needed_index], due[index])
    left, order = list(range(len(cards))), list[int]()
    while left:
        free = [index for index in left if needs.get(index, set()).isdisjoint(left)] or left
        order.append(min(free, key=lambda index: (due[index], index)))
        left.remove(order[-1])
    return order


def _needs(cited: Sequence[Service], shortlist: Shortlist) -> dict[int, set[int]]:
    places = {service.reference: index for index, service in enumerate(cited)}
    needs: dict[int, set[int]] = {index: set() for index in places.values()}
    for index, service in enumerate(cited):
        for linked in shortlist.next_services(service):
            other = places.get(linked.service.reference, index)
            if other != index:
                needs[index if linked.before else other].add(other if linked.before else index)
    return needs


def mark_continuation(reply: Reply, inputs: Inputs) -> Reply:
    """Return ``reply`` with the name of the service that it is still about: its first source is the
    service of the last answer that had one."""
    before = about_before(inputs.history)
    if before is None or not reply.sources:
        return reply
    first = reply.sources[0]
    goes_on = (first.agency_id, first.service_key) == before
    return replace(reply, still_about=first.service_name) if goes_on else reply


def mark_next(reply: Reply, inputs: Inputs) -> Reply:
    """Return a reply about one service with those that its entry sends on to, but for the one that
    the answer before was about; one about an agency with its services that are nearest."""
    if reply.kind != "service" or not reply.sources:
        return reply
    release = inputs.context.release
    first = reply.sources[0]
    if reply.is_about_agency:
        agency = release.agencies[first.agency_id]
        ranked = inputs.ranking.services(agencies=[agency.id], limit=NEAREST)
        nearest = tuple(source(service.item, agency) for service in ranked)
        return replace(reply, next_services=nearest)
    linked = inputs.shortlist.next_services(release.services[first.agency_id, first.service_key])
    before = about_before(inputs.history)
    return replace(
        reply,
        next_services=tuple(
            source(release.services[to.agency, to.key], release.agencies[to.agency])
            for to in (link.service for link in linked)
            if (to.agency, to.key) != before
        ),
    )


def mark_uncovered(reply: Reply, inputs: Inputs, listed: Sequence[Key] = ()) -> Reply:
    """Return ``reply`` with the parts of the message that none of its sources is about, nor any of
    the services that are ``listed`` beside it.

    Such is a request for another service, and a question beside others that does not even go on
    with the sources: words alone cannot tell that. Spans are of the citizen's text as sent, because
    a model may have been given another.
    """
    if not reply.sources:
        return reply
    sources = tuple((source.agency_id, source.service_key) for source in reply.sources)
    cited = (*sources, *listed)
    beside = [(span, inputs.rank_beside(span, cited)) for span in inputs.questions_beside]
    parts = [*inputs.requests, *((span, rank) for span, rank in beside if rank.by_meaning)]
    left = [span for span, rank in parts if max(map(rank.probability, cited)) < COVERED]
    spans = (inputs.context.original(span.start, span.end) for span in sorted(left))
    return replace(reply, uncovered=tuple(spans))
