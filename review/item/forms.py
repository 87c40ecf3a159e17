"""What every form of the item page has: where it reads from, what it offers, what can be wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from conversations.models import Attempt, Stage, Turn
from conversations.turns import languages
from ieim.knowledge.headings import HEADINGS
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline.findings import pointer, steps
from ieim.pipeline.gate.gate import MINIMUM_SCORE
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.ports import Query, Ranking, Shortlist
from review.item.message import last_answer
from review.item.stages import call_payload
from review.labels import agency_name

Output = dict[str, Any]
SURE = Decimal("1.00")
"""How sure a person is who picks something and says no number."""
MOST_FOUND = 8
"""Services that a search shows."""
LEAST = 0.01
"""A service that is less likely than this is not what the words are about."""


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
    """What a form is made from: the turn, its release, and what the model said last."""

    contract: str
    turn: Turn
    stages: Mapping[str, Stage]

    @cached_property
    def release(self) -> Release:
        """The turn's release, in its language."""
        return languages.release_of(self.turn)

    @cached_property
    def index(self) -> Shortlist:
        """The search over the turn's release."""
        return shortlist_for(self.release)

    @property
    def ranking(self) -> Ranking:
        """The ranking of the turn's message."""
        return self.index.rank(Query(self.turn.text))

    @cached_property
    def attempts(self) -> list[Attempt]:
        """The attempts of the stage's present round."""
        stage = self.stages.get(self.contract)
        return [a for a in stage.attempts.all() if a.round == stage.round] if stage else []

    @cached_property
    def model_answer(self) -> Mapping[str, Any]:
        """The model's last answer; empty where it has not the contract's shape."""
        stage = self.stages.get(self.contract)
        return (last_answer(stage) if stage else None) or {}

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
        """Ids of the agencies found, as far as the release has them."""
        found = self.state.get("agency_detect_v1", {}).get("agencyDetected", [])
        return tuple(agency for agency in found if agency in self.release.agencies)

    @cached_property
    def answering(self) -> str | None:
        """The id of the agency that answers, the only one or the first; None before it is known."""
        found = self.state.get("agency_detect_v1", {}).get("agencyDetected", [])
        if len(found) == 1:
            return str(found[0])
        primary = self.state.get("semantic_analysis_v1", {}).get("primaryAgency", {})
        agency: str | None = primary.get("agencyId")
        return agency


class Form:
    """A form over posted ``data`` (None: nothing was posted yet).

    ``field_id`` is the HTML id of its field, of the first one where it has several.
    """

    template = ""
    field_id = ""

    def __init__(self, desk: Desk, data: QueryDict | None) -> None:
        self.desk = desk
        self.data = data if data is not None else QueryDict()
        self.posted = data is not None

    def payload(self) -> Output:
        """Return what is decided with; raises :class:`Invalid`."""
        return {}

    def field_of(self, path: str) -> str:
        """Return the HTML id of the field that a finding's JSON Pointer concerns."""
        return self.field_id

    def text(self, name: str) -> str:
        """Return a posted text with its line ends as the citizen will get them."""
        return self.data.get(name, "").replace("\r\n", "\n").strip()

    def invalid(self, message: str, field_id: str = "") -> Invalid:
        """Return that something is wrong with a field, the form's own when none is named."""
        return Invalid(Problem(message, field_id or self.field_id))


class ServicePicker(Form):
    """A form to pick services in, found by words and shown with what they say."""

    input_name = ""
    input_type = "checkbox"
    words_id = ""

    @property
    def words(self) -> str:
        """What was searched for."""
        return self.text(self.words_id)

    @property
    def agencies(self) -> Sequence[str] | None:
        """The agencies whose services are found; None for every agency's."""
        return None

    @property
    def model_services(self) -> Sequence[tuple[str, str]]:
        """The (agency, key) of the services in the model's answer."""
        return ()

    @property
    def options(self) -> list[Option]:
        """The chosen services first, then the model's, then what fits the words, or the message."""
        desk, words = self.desk, self.words
        chosen, by_model = self.data.getlist(self.input_name), self.model_services
        agencies, services = self.agencies, desk.release.services
        found = [service for value in chosen if (service := self._picked(value)) is not None]
        found += [
            services[key]
            for key in by_model
            if key in services and (agencies is None or key[0] in agencies)
        ]
        ranking = desk.index.rank(Query(words or desk.turn.text))
        ranked = ranking.services(agencies=agencies, limit=MOST_FOUND)
        found += [each.item for each in ranked if each.probability >= LEAST or not words]
        given = {(s["agencyId"], s["serviceKey"]) for s in desk.given.get("service_index", [])}
        return [
            Option(
                value=(value := pointer(service.agency, service.key)),
                id=f"{self.input_name}-{place}",
                name=service.name,
                hint=agency_name(desk.release, service.agency),
                checked=value in chosen,
                by_model=(service.agency, service.key) in by_model,
                offered=(service.agency, service.key) in given if given else None,
                facts=_facts(service),
            )
            for place, service in enumerate(dict.fromkeys(found))
        ]

    def chosen(self) -> list[Service]:
        """Return the chosen services; raises :class:`Invalid` for one that is not there."""
        found = [self._picked(value) for value in self.data.getlist(self.input_name)]
        if None in found:
            message = gettext("Choose the services from the list: one is not in it.")
            raise self.invalid(message, self.words_id)
        return [service for service in found if service is not None]

    def _picked(self, value: str) -> Service | None:
        names = steps(value)
        return self.desk.release.services.get((names[0], names[1])) if len(names) == 2 else None


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


def _facts(service: Service) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what a service's entry says as (heading, lines), without what is empty."""
    found = []
    for name, heading in HEADINGS.items():
        value = getattr(service, name)
        lines = (value,) if isinstance(value, str) else tuple(value)
        if any(lines):
            found.append((str(heading), tuple(filter(None, lines))))
    if service.url:
        found.append((gettext("Link"), (service.url,)))
    return tuple(found)
