"""Time limits, and lists of services to see to: that of a situation, and an answer over several.

A situation's list has the order that its editors gave it. Else what presses comes first, and what
another one needs: a service with fewer days comes first, and one that another needs comes before
it, however many days it has itself; all else keeps the order of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from ieim.pipeline.facts import facts
from ieim.pipeline.knowledge import Service
from ieim.pipeline.reply.cards import Card, Source

if TYPE_CHECKING:
    from ieim.pipeline.ports import Shortlist
    from ieim.pipeline.reply.reply import Reply
    from ieim.pipeline.stages.base import Inputs


SOON: Final = timedelta(days=2)
LONG_AGO: Final = timedelta(days=365)  # so long over: no limit was counted from a day of birth


@dataclass(frozen=True, slots=True)
class Line:
    """A service of a situation: ``condition`` says for whom it is, empty for everybody;
    ``deadline_days`` as in the service."""

    title: str
    condition: str
    deadline_days: str
    source: Source


@dataclass(frozen=True, slots=True)
class Checklist:
    """The services of a situation, in their order.

    ``is_open``: the message surely tells of it; else the list is only offered. ``leads``: the reply
    above it is about its first service, because the message names none of its own.
    """

    key: str
    name: str
    lines: tuple[Line, ...]
    is_open: bool = False
    leads: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the list as JSON values; :meth:`from_dict` takes them back."""
        return asdict(self) | {"lines": [asdict(line) for line in self.lines]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checklist:
        """Return the list of :meth:`as_dict`'s values, which are taken to be right."""
        lines = (Line(**{**line, "source": Source(**line["source"])}) for line in data["lines"])
        return cls(**{**data, "lines": tuple(lines)})

    def as_text(self) -> str:
        """Return the list as plain text, empty where it is only offered."""
        if not self.is_open:
            return ""
        lines = (
            f"{line.title} ({line.condition})" if line.condition else line.title
            for line in self.lines
        )
        return "\n".join([f"{self.name}:", *(f"{n}. {text}" for n, text in enumerate(lines, 1))])


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
