"""Forms of the actions on an item, and the decision form that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ieim.pipeline.findings import pointer
from ieim.pipeline.knowledge import Service
from ieim.pipeline.stages import service_select
from ieim.pipeline.topology import ANSWERING
from ieim.studio.labels import stage_label
from review import labels
from review.deciding import Refused, answers, outdated
from review.deciding.locking import checked_reason
from review.item.base_forms import (
    VALUES,
    ActionForm,
    FormContext,
    Option,
    Output,
    Problem,
    ServicePicker,
    TextField,
)
from review.item.correction_forms import CORRECTION_FORMS
from review.item.message import last_answer
from review.models import Action

CONFIRMED = "approve-confirmed"
"""The field that the step posts which asks once more."""
CONFIRMABLE = frozenset({Action.APPROVE, Action.OVERRIDE, Action.SERVICE, Action.WRITE})
ALTERNATIVES = 4
"""Services that are offered as the answer before anybody searches."""


class WriteForm(ServicePicker):
    """The reply in a person's words, and the services of any agency that it stands on."""

    template = "review/deciding/_answers.html#write"
    prefix = "write"
    legend = _("Services that it stands on (if any)")
    input_name = "write-source"
    words_id = "write-words"
    error_ids = {"source": words_id}
    text = TextField(error_messages={"required": _("Write the reply.")})
    source = VALUES

    def __init__(self, context: FormContext, data: QueryDict | None) -> None:
        super().__init__(context, data)
        if context.earlier is not None:
            self.initial["text"] = "\n\n".join(context.earlier.paragraphs)

    @property
    def chosen(self) -> list[str]:
        """Before anything is posted, the sources of what was decided before."""
        if self.is_bound or self.context.earlier is None:
            return super().chosen
        return [pointer(s.agency_id, s.service_key) for s in self.context.earlier.sources]

    def clean_source(self) -> list[Service]:
        return self.clean_services()

    def payload(self) -> Output:
        sources = [{"agency": s.agency, "service": s.key} for s in self.cleaned_data["source"]]
        return {"text": self.cleaned_data["text"], "sources": sources}

    def field_of(self, path: str) -> str:
        return self.error_id("source" if "source" in path else "text")


class ServeForm(ServicePicker):
    """The service that is the answer: the model's or the nearest one, three others, or one that is
    searched for."""

    template = "review/deciding/_answers.html#serve"
    prefix = "serve"
    legend = _("Send another service")
    input_name = "serve-service"
    input_type = "radio"
    words_id = "serve-words"
    error_ids = {"service": words_id}
    service = VALUES

    @property
    def model_services(self) -> list[tuple[str, str]]:
        """The service of the model's last readable selection."""
        stage = self.context.stages.get(service_select.STAGE.id)
        answer = (last_answer(stage) if stage else None) or {}
        key = answer.get("serviceSelection", {}).get("serviceKey")
        return [(self.context.answering, key)] if key and self.context.answering else []

    @cached_property
    def options(self) -> list[Option]:
        """The best answer first, which is chosen before anybody has chosen."""
        options = super().options if self.words else super().options[:ALTERNATIVES]
        is_chosen = any(option.checked for option in options)
        if options and self.context.preselects and not is_chosen:
            options = [replace(options[0], checked=True), *options[1:]]
        return options

    @property
    def best(self) -> Option | None:
        """The option that is chosen, the best one before anybody has chosen; None for none."""
        return next((option for option in self.options if option.checked), None)

    def clean_service(self) -> Service:
        return self.clean_services(gettext("Choose the service that is the answer."))[0]

    def payload(self) -> Output:
        service = self.cleaned_data["service"]
        return {"agency": service.agency, "service": service.key}


class AskForm(ActionForm):
    """A question back to the citizen."""

    template = "review/deciding/_answers.html#ask"
    prefix = "ask"
    text = TextField(
        error_messages={"required": _("Write what you want to know from the citizen.")}
    )

    def payload(self) -> Output:
        return self.cleaned_data


class DismissForm(ActionForm):
    """A closing word for the citizen, if there is to be one."""

    template = "review/deciding/_answers.html#dismiss"
    prefix = "dismiss"
    text = TextField(required=False)

    def payload(self) -> Output:
        return self.cleaned_data if self.cleaned_data["text"] else {}


class HandOverForm(ActionForm):
    """Another agency of the release."""

    template = "review/deciding/_answers.html#hand_over"
    prefix = "hand"
    agency = forms.CharField(required=False)

    @property
    def agencies(self) -> list[tuple[str, str]]:
        """(id, name) of every agency, by name."""
        agencies = self.context.release.agencies.values()
        return sorted(((a.id, a.name) for a in agencies), key=lambda pair: pair[1].casefold())

    def clean_agency(self) -> str:
        agency: str = self.cleaned_data["agency"]
        if agency not in self.context.release.agencies:
            raise ValidationError(gettext("Choose the agency that gets it."))
        return agency

    def payload(self) -> Output:
        return self.cleaned_data


FORMS: Mapping[str, type[ActionForm]] = {
    Action.SERVICE: ServeForm,
    Action.WRITE: WriteForm,
    Action.ASK: AskForm,
    Action.HAND_OVER: HandOverForm,
    Action.DISMISS: DismissForm,
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A usual reason for an action; ``name`` and ``value`` are those of its radio button."""

    name: str
    value: str
    words: str
    checked: bool

    @property
    def id(self) -> str:
        return f"{self.name}-{self.value}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One action that may be taken; ``id`` is the HTML id of its radio button, ``key`` what
    chooses it on a keyboard, "" for none."""

    action: str
    name: str
    hint: str
    checked: bool
    form: ActionForm
    reasons: Sequence[Reason] = ()
    key: str = ""

    @property
    def id(self) -> str:
        return f"action-{self.action}"


class DecisionForm(forms.Form):
    """The reason, and all actions with their forms over the same posted data.

    ``context`` is of the stage that a correction would be of: the item's own, or an earlier one.
    ``allowed`` has for each action why it may not be taken, empty where it may. ``preselected`` is
    chosen before anything is posted. ``careful``: approving may do harm, so that writing the reply
    comes first and it last.
    """

    reason = TextField(required=False)

    def __init__(
        self,
        context: FormContext,
        data: QueryDict | None,
        allowed: Mapping[Action, str],
        *,
        preselected: Action | None = None,
        careful: bool = False,
    ) -> None:
        super().__init__(data)
        self.posted = data or QueryDict()
        self.context, self.allowed, self.careful = context, allowed, careful
        name = self.data.get("action", "") if self.is_bound else preselected
        self.action = Action(name) if name in Action.values and self._is_offered(name) else None
        """The chosen action, None before there is one that may be taken."""

    @cached_property
    def choices(self) -> list[Choice]:
        """The actions that may be taken now, in the order of the page."""
        order = labels.CAREFUL_ORDER if self.careful else tuple(labels.ACTION_CHOICES)
        if self._is_offered(Action.AGREE):
            order = tuple(dict.fromkeys((*labels.SECOND_ORDER, *order)))
        actions = [Action(action) for action in order if self._is_offered(action)]
        # Of two with one key the first one has it.
        by_key = {labels.KEYS[action]: action for action in reversed(actions)}
        keys = {action: key for key, action in by_key.items()}
        return [self._choice(action, keys.get(action, "")) for action in actions]

    @property
    def refused(self) -> list[tuple[str, str]]:
        """(name, why not) of the actions that may not be taken."""
        return [
            (gettext(labels.ACTION_CHOICES[action][0]), why)
            for action, why in self.allowed.items()
            if why and action in labels.ACTION_CHOICES
        ]

    @property
    def has_approval(self) -> bool:
        """Whether what the assistant has may be approved: it is shown there then."""
        return any(choice.action == Action.APPROVE for choice in self.choices)

    @property
    def is_quick(self) -> bool:
        """Whether one confirmation is enough, with what the citizen will see beside it."""
        return not self.careful

    @property
    def version(self) -> int:
        """The version of the item that the person saw; 0 where none was sent."""
        version = self.data.get("version", "")
        return int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0

    @cached_property
    def action_form(self) -> ActionForm | None:
        """The form of the chosen action; None before there is one."""
        return None if self.action is None else self._form_of(self.action)

    def clean_reason(self) -> str:
        """Return the reason as it is stored: the one that was picked, and what was typed."""
        picked = [reason.words for reason in self._reasons(self.action) if reason.checked]
        typed = self.cleaned_data["reason"]
        try:
            return checked_reason(" ".join(filter(None, [*picked, typed])))
        except Refused as refused:
            raise ValidationError(refused.message) from refused

    def is_valid(self) -> bool:
        """Whether the decision can be taken as it is filled in."""
        return not self.problems

    @property
    def problems(self) -> list[Problem]:
        """The errors of the chosen action's form, then those of the reason."""
        errors = self.errors.get("reason", ()) if self.action else ()
        return [*self.draft_problems, *(Problem(str(error), "reason") for error in errors)]

    @property
    def draft_problems(self) -> list[Problem]:
        """The errors of a draft, which needs no reason yet."""
        if self.action_form is None:
            message = gettext("Choose what to do.")
            return [Problem(message, self.choices[0].id if self.choices else "")]
        return self.action_form.problems

    def payload(self) -> Output:
        """Return what is decided with; for a valid form."""
        payload = self.action_form.payload() if self.action_form else {}
        if self.action == Action.OVERRIDE:
            payload = {"stage": self.context.contract, "output": payload}
        if self.data.get(CONFIRMED) == "yes" and self.action in CONFIRMABLE:
            payload["confirmed"] = True
        return payload

    def field_of(self, path: str) -> str:
        """Return the HTML id of the field that a finding's JSON Pointer concerns."""
        return self.action_form.field_of(path) if self.action_form else path

    def _form_of(self, action: Action) -> ActionForm:
        data = self.posted if self.is_bound else None
        if action == Action.OVERRIDE:
            return CORRECTION_FORMS[self.context.contract](self.context, data)
        return FORMS.get(action, ActionForm)(self.context, data)

    def _reasons(self, action: Action | None) -> list[Reason]:
        """Return the reasons to pick from; the first is picked until somebody picks another."""
        if action is None:
            return []
        name = f"why-{action.value}"
        picked = self.data.get(name, "0" if not self.is_bound else "")
        return [
            Reason(name, str(number), gettext(words), picked == str(number))
            for number, words in enumerate(labels.REASONS.get(action, ()))
        ]

    def _is_offered(self, action: str) -> bool:
        has_form = action != Action.OVERRIDE or self.context.contract in CORRECTION_FORMS
        is_allowed = self.allowed.get(Action(action)) == ""
        return action in labels.ACTION_CHOICES and is_allowed and has_form

    def _choice(self, action: Action, key: str) -> Choice:
        name, hint = map(gettext, labels.ACTION_CHOICES[action])
        contract = self.context.contract
        if action == Action.OVERRIDE:
            hint = hint if contract in ANSWERING else gettext(labels.TRIAGE_HINT)
            hint = f"{stage_label(contract)} {hint}"
        if action == Action.RETRY and (newer := outdated.askable_release(self.context.turn)):
            hint = outdated.from_newer(newer)
        if action == Action.WRITE and self._is_offered(Action.AGREE):
            name, hint = map(gettext, labels.CHANGE)
        stage = self.context.stages.get(contract)
        if action == Action.APPROVE and stage and (extra := answers.unknown_fields(stage)):
            name, hint = map(gettext, labels.TAKE_WITHOUT)
            hint = hint.format(fields=", ".join(extra))
        is_chosen = action == self.action
        form = self.action_form if is_chosen and self.action_form else self._form_of(action)
        return Choice(action.value, name, hint, is_chosen, form, self._reasons(action), key)
