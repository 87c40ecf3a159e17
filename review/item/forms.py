"""What every form of the item page has: where it reads from, what it offers, what can be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from conversations.chat.reply_views import HEADINGS
from conversations.models import Attempt, Stage, Turn
from conversations.turns import languages
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline.findings import pointer
from ieim.pipeline.gate.gate import MINIMUM_SCORE
from ieim.pipeline.knowledge import Category, Release, Service
from ieim.pipeline.ports import Shortlist
from review.item import message as evidence
from review.item import outputs
from review.item.outputs import agency_name
from review.item.stages import call_payload

Output = dict[str, Any]
SURE = Decimal("1.00")
"""How sure a person is who picks something and says no number."""
MOST_OPTIONS = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a form: a sentence, the HTML id of the field, and the gate's code."""

    message: str
    field: str = ""
    code: str = ""


class Invalid(Exception):
    """A form that cannot be used as it is."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*(problem.message for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Option:
    """Something to pick. ``by_model`` says that the model's last answer has it, ``offered`` whether
    the model was given it (None: nobody knows); ``facts`` are (heading, lines) to read before."""

    value: str
    id: str
    name: str
    hint: str = ""
    checked: bool = False
    by_model: bool = False
    offered: bool | None = None
    score: str = ""
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Desk:
    """What a form is made from: the turn, its release, and what the model said last.

    ``said`` is the model's last answer for the stage when it has the contract's shape.
    """

    contract: str
    turn: Turn
    stages: Mapping[str, Stage]
    release: Release = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "release", languages.release_of(self.turn))

    @cached_property
    def index(self) -> Shortlist:
        """The search over the turn's release."""
        return shortlist_for(self.release)

    @cached_property
    def attempts(self) -> list[Attempt]:
        """The attempts of the stage's present round."""
        stage = self.stages.get(self.contract)
        return [a for a in stage.attempts.all() if a.round == stage.round] if stage else []

    @cached_property
    def said(self) -> Mapping[str, Any]:
        """The model's last answer, empty where it cannot be used."""
        stage = self.stages.get(self.contract)
        return (evidence.last_answer(stage) if stage else None) or {}

    @cached_property
    def wrong(self) -> frozenset[str]:
        """The JSON Pointers of what was wrong with that answer."""
        last = self.attempts[-1].findings if self.attempts else []
        return frozenset(finding["path"] for finding in last)

    @cached_property
    def state(self) -> dict[str, Any]:
        """The merged state of the turn's stages."""
        merged: dict[str, Any] = {}
        for stage in self.stages.values():
            merged |= stage.state_merge or {}
        return merged

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """The per-call JSON of the first attempt, empty where there was none."""
        return next((p for p in map(call_payload, self.attempts) if p), {})

    @cached_property
    def detected(self) -> tuple[str, ...]:
        """Ids of the agencies found."""
        return tuple(agency.id for agency in outputs.detected_agencies(self.state, self.release))

    @cached_property
    def answering(self) -> str | None:
        """The id of the agency that answers; None before it is known."""
        return outputs.answering_agency(self.state)


class Form:
    """A form over posted ``data`` (None: nothing was posted yet)."""

    template = ""

    def __init__(self, desk: Desk, data: QueryDict | None) -> None:
        self.desk = desk
        self.data = data if data is not None else QueryDict()
        self.posted = data is not None

    def payload(self) -> Output:
        """Return what is decided with; raises :class:`Invalid`."""
        raise NotImplementedError

    def field_of(self, path: str) -> str:
        """Return the HTML id of the field that a finding's JSON Pointer concerns."""
        return ""

    def text(self, name: str) -> str:
        """Return a posted text with its line ends as the citizen will get them."""
        return self.data.get(name, "").replace("\r\n", "\n").strip()


def score_of(text: str, field_id: str) -> Decimal:
    """Return a typed score; an empty one is 1.00. Raises :class:`Invalid`."""
    if not text.strip():
        return SURE
    try:
        score = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        score = Decimal(-1)
    if not (score.is_finite() and MINIMUM_SCORE <= score <= 1):
        raise Invalid(
            Problem(gettext("Give how sure you are as a number from 0.50 to 1.00."), field_id)
        )
    return score.quantize(Decimal("0.01"))


def service_facts(service: Service) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what a service's entry says as (heading, lines), without what is empty."""
    found = []
    for name, heading in HEADINGS.items():
        value = getattr(service, name)
        lines = (value,) if isinstance(value, str) else tuple(value)
        if any(lines):
            found.append((gettext(heading), tuple(filter(None, lines))))
    if service.url:
        found.append((gettext("Link"), (service.url,)))
    return tuple(found)


def topic_options(
    desk: Desk, agency: str, chosen: Iterable[str], scores: Mapping[str, str], said_keys: Any
) -> list[Option]:
    """Return an agency's dictionary to pick from, what fits the message first."""
    given = desk.given.get("KnowledgeBase_Dictionary", [])
    keys = {entry["key"] for entry in given if entry["agencyId"] == agency}
    ranked = desk.index.categories(desk.turn.text, agencies=[agency], limit=MOST_OPTIONS)
    picked = frozenset(chosen)
    return [
        Option(
            value=(value := pointer(agency, each.item.key)),
            id=f"topic-{list(desk.release.agencies).index(agency)}-{place}",
            name=each.item.value,
            hint=_keywords(each.item),
            checked=value in picked,
            by_model=each.item.key in said_keys,
            offered=each.item.key in keys if desk.given else None,
            score=scores.get(value, ""),
        )
        for place, each in enumerate(ranked)
    ]


def _keywords(category: Category) -> str:
    return ", ".join(category.keywords[:5])


def parts(value: str) -> Sequence[str]:
    """Return the parts of a JSON Pointer that an option's value is."""
    return [p.replace("~1", "/").replace("~0", "~") for p in value.split("/")[1:]]


MOST_FOUND = 8


def services(
    desk: Desk,
    *,
    name: str,
    words: str,
    chosen: Sequence[str],
    agencies: Sequence[str] | None,
    said: Sequence[tuple[str, str]] = (),
) -> list[Option]:
    """Return services to pick from: the chosen ones first, then what fits ``words``.

    Without words those that fit the message. ``name`` is the name of the inputs, ``agencies``
    limits the search (None: every agency), ``said`` are the (agency, key) of the model's answer.
    """
    found = [service for value in chosen if (service := picked(desk, value)) is not None]
    found += [
        desk.release.services[key]
        for key in said
        if key in desk.release.services and (agencies is None or key[0] in agencies)
    ]
    ranked = desk.index.services(words or desk.turn.text, agencies=agencies, limit=MOST_FOUND)
    found += [each.item for each in ranked if each.score > 0 or not words]
    given = {(s["agencyId"], s["serviceKey"]) for s in desk.given.get("service_index", [])}
    return [
        Option(
            value=(value := pointer(service.agency, service.key)),
            id=f"{name}-{place}",
            name=service.name,
            hint=agency_name(desk.release, service.agency),
            checked=value in chosen,
            by_model=(service.agency, service.key) in said,
            offered=(service.agency, service.key) in given if given else None,
            facts=service_facts(service),
        )
        for place, service in enumerate(dict.fromkeys(found))
    ]


def chosen_services(desk: Desk, values: Sequence[str], field: str) -> list[Service]:
    """Return the services that were chosen; raises :class:`Invalid` for one that is not there."""
    found = [picked(desk, value) for value in values]
    if None in found:
        raise Invalid(
            Problem(gettext("Choose the services from the list: one is not in it."), field)
        )
    return [service for service in found if service is not None]


def picked(desk: Desk, value: str) -> Service | None:
    """Return the service that an option's value stands for; None when there is none."""
    names = parts(value)
    return desk.release.services.get((names[0], names[1])) if len(names) == 2 else None
