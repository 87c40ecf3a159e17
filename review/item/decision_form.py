"""The form of a decision: all actions, each with what a person fills in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext, gettext_noop

from ieim.pipeline.topology import ANSWERING
from ieim.studio.labels import stage_label
from review import labels
from review.deciding import Refused, answers
from review.deciding.locking import checked_reason
from review.item.correction_forms import OVERRIDES
from review.item.forms import Desk, Form, Invalid, Output, Problem, ServicePicker
from review.models import Action

REASON_ID = "reason"
CONFIRMED = "approve-confirmed"
"""What the step posts that asks once more."""
CONFIRMABLE = frozenset({Action.APPROVE, Action.OVERRIDE, Action.WRITE})


class TextForm(Form):
    """Words for the citizen; ``missing`` asks for them where there have to be some."""

    missing = ""

    @property
    def written(self) -> str:
        """The text so far."""
        return self.text(self.field_id)

    def payload(self) -> Output:
        if not self.written and self.missing:
            raise self.invalid(gettext(self.missing))
        return {"text": self.written} if self.written else {}


class WriteForm(TextForm, ServicePicker):
    """The reply in a person's words, and the services of any agency that it stands on."""

    template = "review/deciding/answering/write.html"
    field_id = "write-text"
    input_name = "write-source"
    words_id = "write-words"
    missing = gettext_noop("Write the reply.")

    def payload(self) -> Output:
        text = super().payload()
        sources = [{"agency": each.agency, "service": each.key} for each in self.chosen()]
        return text | {"sources": sources}

    def field_of(self, path: str) -> str:
        return self.words_id if "source" in path else self.field_id


class AskForm(TextForm):
    """A question back to the citizen."""

    template = "review/deciding/answering/ask.html"
    field_id = "ask-text"
    missing = gettext_noop("Write what you want to know from the citizen.")


class DismissForm(TextForm):
    """A closing word for the citizen, if there is to be one."""

    template = "review/deciding/answering/dismiss.html"
    field_id = "dismiss-text"


class HandOverForm(Form):
    """Another agency of the release."""

    template = "review/deciding/answering/hand_over.html"
    field_id = "hand-agency"

    @property
    def chosen(self) -> str:
        """The agency's id, nothing yet at first."""
        return self.data.get("hand-agency", "")

    @property
    def agencies(self) -> list[tuple[str, str]]:
        """(id, name) of every agency, by name."""
        listed = [(agency.id, agency.name) for agency in self.desk.release.agencies.values()]
        return sorted(listed, key=lambda each: each[1].casefold())

    def payload(self) -> Output:
        if self.chosen not in self.desk.release.agencies:
            raise self.invalid(gettext("Choose the agency that gets it."))
        return {"agency": self.chosen}


FORMS: Mapping[str, type[Form]] = {
    Action.WRITE: WriteForm,
    Action.ASK: AskForm,
    Action.HAND_OVER: HandOverForm,
    Action.DISMISS: DismissForm,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One action that may be done."""

    action: str
    name: str
    hint: str
    checked: bool
    form: Form

    @property
    def id(self) -> str:
        """The HTML id of its radio button."""
        return f"action-{self.action}"


@dataclass(frozen=True)
class DecisionForm:
    """All actions with their forms over the same posted data.

    ``desk`` is of the stage that a correction would be of: the item's own, or an earlier one.
    ``careful``: approving may do harm, so that writing the reply comes first and it last.
    """

    desk: Desk
    data: QueryDict | None
    allowed: Mapping[Action, str]
    chosen: Action | None = None
    careful: bool = False

    @property
    def choices(self) -> list[Choice]:
        """What can be done now, in the order of the page."""
        order = labels.CAREFUL_ORDER if self.careful else tuple(labels.ACTION_CHOICES)
        return [self._choice(Action(a)) for a in order if self._offered(Action(a))]

    @property
    def refused(self) -> list[tuple[str, str]]:
        """(name, why not) of what cannot be done."""
        return [
            (gettext(labels.ACTION_CHOICES[action][0]), why)
            for action, why in self.allowed.items()
            if why and action in labels.ACTION_CHOICES
        ]

    @property
    def action(self) -> Action | None:
        """The chosen action, None before there is one that may be done."""
        name = self.data.get("action", "") if self.data is not None else self.chosen
        return Action(name) if name in Action.values and self._offered(Action(name)) else None

    @property
    def reason(self) -> str:
        """Why it is done, as typed."""
        return (self.data or QueryDict()).get("reason", "").strip()

    @property
    def version(self) -> int:
        """The version of the item that the person saw; 0 where none was sent."""
        sent = (self.data or QueryDict()).get("version", "")
        return int(sent) if sent.isascii() and sent.isdigit() and len(sent) < 10 else 0

    def form(self, action: Action) -> Form:
        """Return the form of an action."""
        if action == Action.OVERRIDE:
            return OVERRIDES[self.desk.contract](self.desk, self.data)
        return FORMS.get(action, Form)(self.desk, self.data)

    def payload(self) -> tuple[Action, Output]:
        """Return the action and what it is decided with; raises :class:`Invalid`."""
        action = self.action
        if action is None:
            raise Invalid(
                Problem(gettext("Choose what to do."), self.choices[0].id if self.choices else "")
            )
        problems: list[Problem] = []
        payload: Output = {}
        try:
            payload = self._filled(action)
        except Invalid as invalid:
            problems += invalid.problems
        try:
            checked_reason(self.reason)
        except Refused as refused:
            problems.append(Problem(refused.message, REASON_ID))
        if problems:
            raise Invalid(*problems)
        return action, payload

    def draft(self) -> tuple[Action, Output]:
        """Return the same without asking for the reason: to look at what there is so far."""
        if self.action is None:
            raise Invalid(Problem(gettext("Choose what to do.")))
        return self.action, self._filled(self.action)

    def _filled(self, action: Action) -> Output:
        filled = self.form(action).payload()
        if action == Action.OVERRIDE:
            filled = {"stage": self.desk.contract, "output": filled}
        confirmed = self.data is not None and self.data.get(CONFIRMED) == "yes"
        return filled | {"confirmed": True} if confirmed and action in CONFIRMABLE else filled

    def _offered(self, action: Action) -> bool:
        has_form = action != Action.OVERRIDE or self.desk.contract in OVERRIDES
        return action in labels.ACTION_CHOICES and self.allowed.get(action) == "" and has_form

    def _choice(self, action: Action) -> Choice:
        name, hint = map(gettext, labels.ACTION_CHOICES[action])
        if action == Action.OVERRIDE:
            name = f"{name}: {stage_label(self.desk.contract)}"
            hint = hint if self.desk.contract in ANSWERING else gettext(labels.TRIAGE_HINT)
        stage = self.desk.stages.get(self.desk.contract)
        if action == Action.APPROVE and stage and (extra := answers.unknown_fields(stage)):
            name, hint = map(gettext, labels.TAKE_WITHOUT)
            hint = hint.format(fields=", ".join(extra))
        return Choice(
            action=action.value,
            name=name,
            hint=hint,
            checked=self.action == action,
            form=self.form(action),
        )
