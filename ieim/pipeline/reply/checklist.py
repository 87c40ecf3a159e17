"""What presses: the time limit of a service, and the order of an answer over several.

A service with fewer days comes first, and one that another needs comes before it, however many days
it has itself; all else keeps the order of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from ieim.pipeline.facts import facts
from ieim.pipeline.knowledge import Service
from ieim.pipeline.reply.cards import Card

if TYPE_CHECKING:
    from ieim.pipeline.ports import Shortlist
    from ieim.pipeline.reply.reply import Reply
    from ieim.pipeline.stages.base import Inputs


SOON: Final = timedelta(days=2)
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
    return replace(reply, cards=tuple(reply.cards[place] for place in order))


def ordered(cards: Sequence[Card], needs: Mapping[int, set[int]]) -> list[int]:
    """Return the places of ``cards`` in order; ``needs`` has the places of what each needs first.

    Cards that need each other stand as if they did not.
    """
    due = [float(card.deadline_days or "inf") for card in cards]
    for _ in cards:  # so far a need may reach
        for place, needed in needs.items():
            for each in needed:
                due[each] = min(due[each], due[place])
    left, order = list(range(len(cards))), list[int]()
    while left:
        free = [place for place in left if needs.get(place, set()).isdisjoint(left)] or left
        order.append(min(free, key=lambda place: (due[place], place)))
        left.remove(order[-1])
    return order


def _needs(cited: Sequence[Service], shortlist: Shortlist) -> dict[int, set[int]]:
    places = {service.reference: place for place, service in enumerate(cited)}
    needs: dict[int, set[int]] = {place: set() for place in places.values()}
    for place, service in enumerate(cited):
        for linked in shortlist.next_services(service):
            other = places.get(linked.service.reference, place)
            if other != place:
                needs[place if linked.before else other].add(other if linked.before else place)
    return needs
