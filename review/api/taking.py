"""What a reviewer's request brings: filters in the address, a decision in the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from conversations.api.serializers import ClosedSerializer, ExactBooleanField, ExactTextField
from review.api.errors import NotDecided
from review.deciding import Action, Refused
from review.deciding.locking import MAX_REASON, MIN_LETTERS
from review.deciding.texts import MAX_SOURCES, MAX_TEXT
from review.queue.searching import AGES, LONGEST, LONGEST_SEARCH, TABS, Filters, UnknownFilter

PLACE = r"^([0-9]{1,6}-)?[0-9]{1,17}-[0-9a-f]{32}$"
"""A place in a list, as the links to other pages have it."""
ACTIONS = [action.value for action in Action if action is not Action.UNDO]
"""What can be decided; a decision is undone in the console."""
TAKES: Mapping[Action, frozenset[str]] = {
    Action.APPROVE: frozenset({"confirmed"}),
    Action.OVERRIDE: frozenset({"output", "stage"}),
    Action.WRITE: frozenset({"text", "sources"}),
    Action.ASK: frozenset({"text"}),
    Action.HAND_OVER: frozenset({"agency"}),
    Action.DISMISS: frozenset({"text"}),
}
"""What the payload of an action may have; nothing for those that are not named."""
# The parser takes no NUL anywhere, so that is part of the shape.
_NO_NUL = r"^[^\u0000]*$"


_SEARCH = (
    "Words that the message has, or their begin; or a conversation's reference, which finds its "
    "items in every list, whatever else is asked for."
)


def _filter(**options: Any) -> serializers.CharField:
    return serializers.CharField(
        required=False, trim_whitespace=False, **{"max_length": LONGEST, **options}
    )


class QueueQuerySerializer(ClosedSerializer):
    """The address of a list."""

    tab = serializers.ChoiceField(
        choices=list(TABS), required=False, help_text="Which list; `open` when left out."
    )
    q = _filter(max_length=LONGEST_SEARCH, help_text=_SEARCH)
    agency = _filter(help_text="An agency's id.")
    stage = _filter(help_text="A contract's id, `reply` or `person`.")
    reason = _filter(help_text="A finding's code: the first of the item's reasons.")
    urgency = _filter(help_text="A label's code.")
    flag = _filter(help_text="A risk flag's code.")
    language = _filter(help_text="ISO 639-1.")
    age = serializers.ChoiceField(
        choices=list(AGES), required=False, help_text="Open for longer than this."
    )
    overdue = serializers.ChoiceField(
        choices=["1"], required=False, help_text="Only what should have been decided by now."
    )
    held = serializers.ChoiceField(
        choices=["1"], required=False, help_text="In `open` also what colleagues work on."
    )
    after = serializers.RegexField(
        PLACE, required=False, trim_whitespace=False, help_text="As in `next`."
    )
    before = serializers.RegexField(
        PLACE, required=False, trim_whitespace=False, help_text="As in `previous`."
    )


def filters_of(request: Request) -> tuple[Filters, str, str]:
    """Return a list's filters, and after or before which place; raises ParseError."""
    given = request.query_params
    if any(len(values) > 1 for _, values in given.lists()):
        raise ParseError("A parameter stands in the address twice. Send each once.")
    query = QueueQuerySerializer(data=given.dict())
    if not query.is_valid():
        name, told = next(iter(query.errors.items()))
        raise ParseError(f"The parameter “{name}” cannot be used: {' '.join(told)}")
    after, before = given.get("after", ""), given.get("before", "")
    if after and before:
        raise ParseError("Ask for the page after a place or before one, not for both.")
    try:
        return Filters.parse(given.dict()), after, before
    except UnknownFilter as error:
        raise ParseError(str(error)) from error


@extend_schema_field({"type": "string", "pattern": _NO_NUL})
class NameField(ExactTextField):
    """An id or a key; whether it exists is not the field's to say."""


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": MAX_TEXT, "pattern": _NO_NUL})
class TextField(ExactTextField):
    """What the citizen will read."""


@extend_schema_field(
    {"type": "string", "minLength": MIN_LETTERS, "maxLength": MAX_REASON, "pattern": _NO_NUL}
)
class ReasonField(ExactTextField):
    """Why."""


class CitedSerializer(ClosedSerializer):
    """A service that a written reply rests on."""

    agency = NameField(allow_blank=True)
    service = NameField(allow_blank=True)


class PayloadSerializer(ClosedSerializer):
    """What an action needs."""

    confirmed = ExactBooleanField(
        required=False,
        help_text=(
            "`approve`: true where the item is in `crisis`, or the citizen has refused the service "
            "that would be sent, once a person was asked again. Without it the problem is "
            "`urn:ieim:problem:crisis-unconfirmed`, or `urn:ieim:problem:refused-unconfirmed`."
        ),
    )
    # Taken as it is: the gate judges it.
    output = serializers.DictField(
        required=False,
        error_messages={"not_a_dict": "This is no JSON object."},
        help_text=(
            "`override`: the stage's new answer, as its contract has it. `session_id`, "
            "`response_id`, `stage`, `stageStatus`, `telemetry` and `nextStep` may be left out."
        ),
    )
    stage = NameField(
        required=False,
        allow_blank=True,
        help_text="`override`: the stage that is corrected, where it is one before the item's own.",
    )
    text = TextField(
        required=False,
        allow_blank=True,
        help_text="`write`, `ask`, `dismiss`: what the citizen will read.",
    )
    sources = serializers.ListField(
        child=CitedSerializer(),
        required=False,
        max_length=MAX_SOURCES,
        help_text="`write`: what it rests on.",
    )
    agency = NameField(
        required=False, allow_blank=True, help_text="`hand_over`: the other agency's id."
    )


class DecideSerializer(ClosedSerializer):
    """A decision."""

    action = serializers.ChoiceField(choices=ACTIONS)
    reason = ReasonField(allow_blank=True, help_text="Why. It is kept with the decision.")
    payload = PayloadSerializer(required=False)


class SaySerializer(ClosedSerializer):
    """Something for the citizen."""

    text = TextField(allow_blank=True, help_text="What the citizen will read, at once.")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a body asks for."""

    action: Action
    reason: str
    payload: Mapping[str, Any]


def decision_of(request: Request) -> Wanted:
    """Return what a body asks for; raises ValidationError, and NotDecided for a payload that the
    action does not take."""
    body = DecideSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    given = body.validated_data
    wanted = Wanted(Action(given["action"]), given["reason"], given.get("payload", {}))
    strange = sorted(set(wanted.payload) - TAKES.get(wanted.action, frozenset()))
    if strange:
        names = ", ".join(strange)
        refused = Refused(f"The action {wanted.action} does not take: {names}. Leave it out.")
        raise NotDecided(refused, wanted.action)
    return wanted
