"""Base classes of the forms of the item page, and what they read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext

from conversations.models import Attempt, Stage, Turn
from conversations.turns import languages
from ieim.knowledge.headings import HEADINGS
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline.findings import pointer, steps
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.ports import Query, Ranking, Shortlist
from ieim.pipeline.reply.reply import Reply
from review.item.message import last_answer
from review.item.stages import call_payload
from review.labels import agency_name

Output = dict[str, Any]
MAX_WORDS = 200
"""Characters of the words that services are searched by; what comes after them is not read."""
MAX_MATCHES = 8
"""Services that a search shows."""
MIN_PROBABILITY = 0.01
"""A service that is less likely than this is not what the words are about."""
VALUES = forms.Field(required=False, widget=forms.MultipleHiddenInput)
"""A field that several values are posted for; its form cleans them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error of a form: a sentence, the HTML id of the field, and the gate's code."""

    message: str
    field: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """Something to pick. ``by_model`` says that the model's last answer has it, ``offered`` whether
    the model was given it (None: unknown); ``facts`` are (heading, lines) to read before."""

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
class FormContext:
    """A turn, its release, and the model's last answer to the stage ``contract``.

    ``earlier`` is the reply in somebody's words that waits for others or was sent back.
    ``preselects``: the best answer is chosen beforehand, which it is not for several messages, nor
    in a crisis.
    """

    contract: str
    turn: Turn
    stages: Mapping[str, Stage]
    earlier: Reply | None = None
    preselects: bool = True

    @cached_property
    def release(self) -> Release:
        """The turn's release as it was written: what staff choose from has names that they read."""
        return languages.written_release(self.turn)

    @cached_property
    def search(self) -> Shortlist:
        """The search over the turn's release, in the turn's language."""
        return shortlist_for(languages.release_of(self.turn))

    @cached_property
    def ranking(self) -> Ranking:
        """The ranking of the turn's message."""
        return self.search.rank(Query(self.turn.text))

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
    def call(self) -> Mapping[str, Any]:
        """The per-call JSON of the first attempt, empty without one."""
        return next((p for p in map(call_payload, self.attempts) if p), {})

    @cached_property
    def detected(self) -> tuple[str, ...]:
        """Ids of the detected agencies, as far as the release has them."""
        ids = self.state.get("agency_detect_v1", {}).get("agencyDetected", [])
        return tuple(agency for agency in ids if agency in self.release.agencies)

    @cached_property
    def answering(self) -> str | None:
        """The id of the agency that answers, the only one or the first; None before it is known."""
        ids = self.state.get("agency_detect_v1", {}).get("agencyDetected", [])
        if len(ids) == 1:
            return str(ids[0])
        primary = self.state.get("semantic_analysis_v1", {}).get("primaryAgency", {})
        agency: str | None = primary.get("agencyId")
        return agency


class TextField(forms.Field):
    """Text with the line ends that the citizen gets. Its characters are checked on sending."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        """Return the text without the space around it."""
        return (value or "").replace("\r\n", "\n").strip()

    def bound_data(self, data: Any, initial: Any) -> str:
        """Return what the page shows again."""
        return self.to_python(data)


class ActionForm(forms.Form):
    """Base class of the forms of actions, and the form of an action that needs nothing more.

    ``template`` shows the fields. ``answer_fields`` are the fields that begin with what the model
    answered: the field's name and that of the answer's. ``error_ids`` are the HTML ids that errors
    lead to, by field, where they are not the fields' names.
    """

    data: Any
    template = ""
    answer_fields: Mapping[str, str] = {}
    error_ids: Mapping[str, str] = {}

    def __init__(self, context: FormContext, data: QueryDict | None) -> None:
        self.context = context
        answer = context.model_answer
        initial = {name: answer.get(key) or "" for name, key in self.answer_fields.items()}
        super().__init__(data, initial=initial)

    @property
    def problems(self) -> list[Problem]:
        """The errors, each with the HTML id of its field."""
        return [
            Problem(str(message), self.error_id(field))
            for field, messages in self.errors.items()
            for message in messages
        ]

    def error_id(self, field: str) -> str:
        """Return the HTML id that an error of a field leads to."""
        return self.error_ids.get(field) or self.add_prefix(field)

    def field_of(self, path: str) -> str:
        """Return the HTML id of the field that a finding's JSON Pointer concerns."""
        return self.error_id(next(iter(self.fields))) if self.fields else ""

    def payload(self) -> Output:
        """Return what is decided with; for a valid form."""
        return {}


class ServicePicker(ActionForm):
    """A form to pick services in, found by words and shown with what they say.

    ``input_name`` is the name of the options' inputs, ``words_id`` that of the words searched for.
    """

    legend: Any = ""
    input_name = ""
    input_type = "checkbox"
    words_id = ""

    @property
    def words(self) -> str:
        """The words that were searched for."""
        return str(self.data.get(self.words_id, ""))[:MAX_WORDS].strip()

    @property
    def chosen(self) -> list[str]:
        """The values of the services that are chosen."""
        return list(self.data.getlist(self.input_name)) if self.is_bound else []

    @property
    def chosen_services(self) -> list[Service]:
        """The services that are chosen, without values that name none."""
        return [service for service in map(self._service, self.chosen) if service]

    @property
    def agencies(self) -> Sequence[str] | None:
        """The agencies whose services are searched; None for every agency's."""
        return None

    @property
    def model_services(self) -> Sequence[tuple[str, str]]:
        """The (agency, key) of the services in the model's answer."""
        return ()

    @cached_property
    def options(self) -> list[Option]:
        """The chosen services first, then the model's, then what fits the words, or the message."""
        context, words, agencies = self.context, self.words, self.agencies
        services, by_model = context.release.services, self.model_services
        chosen, matches = self.chosen, self.chosen_services
        matches += [
            services[key]
            for key in by_model
            if key in services and (agencies is None or key[0] in agencies)
        ]
        ranking = context.search.rank(Query(words or context.turn.text))
        hits = ranking.services(agencies=agencies, limit=MAX_MATCHES)
        # The search is in the citizen's language: what staff read is the entry as it was written.
        matches += [
            services[hit.item.agency, hit.item.key]
            for hit in hits
            if hit.probability >= MIN_PROBABILITY or not words
        ]
        offered = {(s["agencyId"], s["serviceKey"]) for s in context.call.get("service_index", [])}
        return [
            Option(
                value=(value := pointer(service.agency, service.key)),
                id=f"{self.input_name}-{number}",
                name=service.name,
                hint=agency_name(context.release, service.agency),
                checked=value in chosen,
                by_model=(service.agency, service.key) in by_model,
                offered=(service.agency, service.key) in offered if offered else None,
                facts=_facts(service),
            )
            for number, service in enumerate(dict.fromkeys(matches))
        ]

    def clean_services(self, missing: str = "") -> list[Service]:
        """Return the chosen services; ``missing`` says that there has to be one."""
        services = list(map(self._service, self.chosen))
        if None in services:
            raise ValidationError(gettext("Choose the services from the list: one is not in it."))
        if missing and not services:
            raise ValidationError(missing)
        return [service for service in services if service]

    def _service(self, value: str) -> Service | None:
        keys = steps(value)
        return self.context.release.services.get((keys[0], keys[1])) if len(keys) == 2 else None


def _facts(service: Service) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what a service's entry says as (heading, lines), without what is empty."""
    facts = []
    for name, heading in HEADINGS.items():
        value = getattr(service, name)
        lines = (value,) if isinstance(value, str) else tuple(value)
        if any(lines):
            facts.append((str(heading), tuple(filter(None, lines))))
    if service.url:
        facts.append((gettext("Link"), (service.url,)))
    return tuple(facts)
