"""Serializers of the reviewers' API."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from conversations.api.bodies import ClosedSerializer, ExactBooleanField, LimitedTextField
from conversations.models import Attempt
from conversations.person.models import RequestState, Way
from conversations.states import StageStatus, TurnState
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.studio.labels import stage_label
from review import finding_texts
from review.api.errors import NotDecided
from review.crisis import is_crisis
from review.deciding import Action, Refused
from review.deciding.locking import MAX_REASON
from review.deciding.texts import MAX_SOURCES, MAX_TEXT
from review.models import Priority, ReviewItem
from review.queue.filters import TABS, ItemFilter
from review.states import ReviewState


class WishSerializer(serializers.Serializer[Any]):
    """What a citizen who asks for a person wants."""

    state = serializers.ChoiceField(source="request.state", choices=RequestState.values)
    way = serializers.ChoiceField(source="request.way", choices=Way.values)
    contact = serializers.CharField(
        help_text="Only for who may decide on the item, and until it ends; empty otherwise."
    )
    wanted_from = serializers.DateTimeField(source="request.wanted_from", allow_null=True)
    wanted_until = serializers.DateTimeField(source="request.wanted_until", allow_null=True)
    about = serializers.UUIDField(
        source="request.about_id", allow_null=True, help_text="The turn that it is about."
    )


class SaidSerializer(serializers.Serializer[Any]):
    """Something that was said to the citizen."""

    id = serializers.UUIDField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class TakeoverSerializer(serializers.Serializer[Any]):
    """That you have a conversation."""

    since = serializers.DateTimeField()
    silent_at = serializers.DateTimeField(
        help_text="When the assistant answers again, unless you write before."
    )


POSITION = r"^([0-9]{1,6}-)?[0-9]{1,17}-[0-9a-f]{32}$"
"""A place in a list, as the links to other pages have it."""
ACTIONS = [action.value for action in Action if action is not Action.UNDO]
"""What can be decided; a decision is undone in the console."""
PAYLOAD_FIELDS: Mapping[Action, frozenset[str]] = {
    Action.APPROVE: frozenset({"confirmed"}),
    Action.OVERRIDE: frozenset({"output", "stage", "confirmed"}),
    Action.SERVICE: frozenset({"agency", "service", "confirmed"}),
    Action.WRITE: frozenset({"text", "sources", "confirmed"}),
    Action.ASK: frozenset({"text"}),
    Action.HAND_OVER: frozenset({"agency"}),
    Action.DISMISS: frozenset({"text"}),
}
"""The fields that an action's payload may have; none for actions that are not listed."""


class QueueQuerySerializer(ClosedSerializer):
    """The address of a list: the filters of the queue's page, and the place in the list."""

    after = serializers.RegexField(
        POSITION, required=False, trim_whitespace=False, help_text="As in `next`."
    )
    before = serializers.RegexField(
        POSITION, required=False, trim_whitespace=False, help_text="As in `previous`."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return a field for each filter, then the place."""
        filters = {name: _field_of(field) for name, field in ItemFilter().form.fields.items()}
        return filters | super().get_fields()


def _field_of(field: forms.Field) -> serializers.Field[Any, Any, Any, Any]:
    options: dict[str, Any] = {"required": False, "help_text": field.help_text}
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        return serializers.ChoiceField(choices=[value for value, _ in choices if value], **options)
    length = field.widget.attrs["maxlength"]
    return serializers.CharField(max_length=int(length), trim_whitespace=False, **options)


def filters_of(request: Request) -> tuple[ItemFilter, str, str]:
    """Return a list's filters, and the positions after and before its page.

    Raises:
        ParseError: An unknown, repeated or unusable parameter.
        BadAddress: Filters that the queue refuses.
    """
    params = request.query_params
    if any(len(values) > 1 for _, values in params.lists()):
        raise ParseError("A parameter stands in the address twice. Send each once.")
    query = QueueQuerySerializer(data=params.dict())
    if not query.is_valid():
        name, messages = next(iter(query.errors.items()))
        raise ParseError(f"The parameter “{name}” cannot be used: {' '.join(messages)}")
    after, before = params.get("after", ""), params.get("before", "")
    if after and before:
        raise ParseError("Ask for the page after a place or before one, not for both.")
    return ItemFilter.parse(params.dict()), after, before


class CitedSerializer(ClosedSerializer):
    """A service that a written reply rests on."""

    agency = LimitedTextField(longest=ID_LIMIT, allow_blank=True)
    service = LimitedTextField(longest=ID_LIMIT, allow_blank=True)


class PayloadSerializer(ClosedSerializer):
    """What an action needs."""

    confirmed = ExactBooleanField(
        required=False,
        help_text=(
            "`approve`: true where the item is in `crisis`, or the citizen has refused the service "
            "that would be sent, once a person was asked again. Without it the problem is "
            "`urn:ieim:problem:crisis-unconfirmed`, or `urn:ieim:problem:refused-unconfirmed`. "
            "`approve`, `override`, `write`: true where a service that would be sent was withdrawn "
            "or changed since; without it the problem is "
            "`urn:ieim:problem:service-changed-unconfirmed`. `write`, and `override` of the common "
            "answer: true where the text states what none of its sources does; without it the "
            "problem is `urn:ieim:problem:text-unconfirmed`."
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
    stage = LimitedTextField(
        longest=ID_LIMIT,
        required=False,
        allow_blank=True,
        help_text="`override`: the stage that is corrected, where it is one before the item's own.",
    )
    text = LimitedTextField(
        longest=MAX_TEXT,
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
    agency = LimitedTextField(
        longest=ID_LIMIT,
        required=False,
        allow_blank=True,
        help_text="`hand_over`: the other agency's id; `service`: the service's.",
    )
    service = LimitedTextField(
        longest=ID_LIMIT, required=False, allow_blank=True, help_text="`service`: its key."
    )


class DecideSerializer(ClosedSerializer):
    """A decision."""

    action = serializers.ChoiceField(choices=ACTIONS)
    reason = LimitedTextField(
        longest=MAX_REASON, allow_blank=True, help_text="Why. It is kept with the decision."
    )
    payload = PayloadSerializer(required=False)


class SaySerializer(ClosedSerializer):
    """Something for the citizen."""

    text = LimitedTextField(
        longest=MAX_TEXT, allow_blank=True, help_text="What the citizen will read, at once."
    )
    services = serializers.ListField(
        child=CitedSerializer(),
        default=list,
        max_length=MAX_SOURCES,
        help_text="Services of the release that are sent with it as cards.",
    )
    seen = serializers.ListField(
        child=serializers.CharField(max_length=MAX_TEXT),
        default=list,
        max_length=MAX_TEXT,
        help_text="Amounts and dates of the text, as written there, that no source gives, and "
        "services that have changed since, as 422 names them, that you have checked.",
    )


def decision_of(
    request: Request, body: DecideSerializer | None = None
) -> tuple[Action, str, Mapping[str, Any]]:
    """Return the action, the reason and the payload of a decision.

    Raises:
        ValidationError: A body of another shape.
        NotDecided: A payload with fields that the action does not have.
    """
    body = body or DecideSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    data = body.validated_data
    action, payload = Action(data["action"]), data.get("payload", {})
    unknown = sorted(set(payload) - PAYLOAD_FIELDS.get(action, frozenset()))
    if unknown:
        names = ", ".join(unknown)
        refused = Refused(f"The action {action} does not take: {names}. Leave it out.")
        raise NotDecided(refused, action)
    return action, data["reason"], payload


STATES = [state.value for state in ReviewState]
TURN_STATES = [state.value for state in TurnState]
RECORDED = [action.value for action in Action]
"""What the document has names for, in ``ieim/config/settings.py``."""
ANY_OBJECT = {"type": "object", "additionalProperties": True}


@extend_schema_field({"type": ["object", "null"], "additionalProperties": True})
class StoredField(serializers.JSONField):
    """A stored JSON object, or null."""


@extend_schema_field({"type": ["array", "null"], "items": ANY_OBJECT})
class PatchField(serializers.JSONField):
    """An RFC 6902 patch, or null."""


class ReasonSerializer(serializers.Serializer[Any]):
    """Why an item is there."""

    code = serializers.CharField(source="*", help_text="A finding's code: stable, for programs.")
    words = serializers.SerializerMethodField()

    def get_words(self, code: str) -> str:
        """Return the sentence."""
        return finding_texts.sentence(code)


class HeldUntilField(serializers.DateTimeField):
    """Until when somebody has the item; null while it is free, also when a claim ran out."""

    def get_attribute(self, instance: ReviewItem) -> datetime | None:
        """Return the moment."""
        return instance.claimed_until if instance.holder(timezone.now()) else None


class StandingSerializer(serializers.Serializer[Any]):
    """Where an item stands: what a claim or a decision changes."""

    id = serializers.UUIDField()
    version = serializers.IntegerField(min_value=1, help_text="The ETag without its quotes.")
    state = serializers.ChoiceField(choices=STATES)
    claimed_by = serializers.SerializerMethodField(help_text="Null while it is free.")
    claimed_until = HeldUntilField(source="*", allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    snoozed_until = serializers.DateTimeField(
        allow_null=True, help_text="Put away until then, or until the citizen writes."
    )

    def get_claimed_by(self, item: ReviewItem) -> str | None:
        """Return the user name of who has the item now."""
        holder = item.holder(timezone.now())
        return holder.get_username() if holder else None


class RowSerializer(StandingSerializer):
    """One item of a list."""

    reference = serializers.CharField(
        source="turn.session.reference", help_text="The conversation's, like K7M-4QX9."
    )
    message = serializers.CharField(source="turn.text", help_text="As the citizen sent it.")
    stage = serializers.CharField(help_text="The contract that stopped, `reply` or `person`.")
    reasons = ReasonSerializer(many=True)
    priority = serializers.SerializerMethodField()
    agency = serializers.CharField(
        help_text="The one that has the item now; empty while none is known, or several are."
    )
    agencies = serializers.ListField(
        source="agency_ids",
        child=serializers.CharField(),
        help_text="All that it belongs to, sorted: who works for one of them may work on it.",
    )
    urgency = serializers.CharField(help_text="A label's code; empty while none is known.")
    crisis = serializers.SerializerMethodField(
        help_text="Whether a risk flag escalates: such items come first, for every agency."
    )
    language = serializers.CharField(help_text="ISO 639-1; empty where it cannot be told.")
    flags = serializers.SerializerMethodField(help_text="The codes of its risk flags.")
    needs_second = serializers.BooleanField(help_text="Whether a second person has to agree.")
    opened_at = serializers.DateTimeField()
    due_at = serializers.DateTimeField(help_text="By when it should be decided.")

    @extend_schema_field(serializers.ChoiceField(choices=[p.name.lower() for p in Priority]))
    def get_priority(self, item: ReviewItem) -> str:
        """Return how much the item matters."""
        return Priority(item.priority).name.lower()

    def get_crisis(self, item: ReviewItem) -> bool:
        """Return whether a life may be at stake."""
        return is_crisis(item)

    def get_flags(self, item: ReviewItem) -> list[str]:
        """Return the risk flags."""
        return sorted(flag.code for flag in item.flags.all())


class ConversationSerializer(serializers.Serializer[Any]):
    """The conversation whose reference was searched for."""

    reference = serializers.CharField()
    started_at = serializers.DateTimeField()
    messages = serializers.IntegerField()
    state = serializers.CharField(help_text="Of its last message; empty once it is erased.")
    elsewhere = serializers.BooleanField(help_text="Whether its items are other agencies' alone.")


class PageSerializer(serializers.Serializer[Any]):
    """A part of a list."""

    tab = serializers.ChoiceField(choices=list(TABS))
    in_crisis = serializers.IntegerField(help_text="Open items in crisis, whatever the filters.")
    session = ConversationSerializer(
        allow_null=True, help_text="Null unless `q` is a conversation's reference."
    )
    items = RowSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="The address of the next page.")
    previous = serializers.CharField(allow_null=True, help_text="The address of the page before.")


class FindingSerializer(serializers.Serializer[Any]):
    """One failed check."""

    code = serializers.CharField()
    path = serializers.CharField(help_text="JSON Pointer into the answer; empty for all of it.")
    message = serializers.CharField()
    waivable = serializers.BooleanField(help_text="Whether a person may approve in spite of it.")


class AttemptSerializer(serializers.Serializer[Any]):
    """One model call. Hashes are lower-case hex SHA-256."""

    round = serializers.IntegerField(help_text="Counts a person's retries, from 1.")
    number = serializers.IntegerField()
    model = serializers.CharField()
    temperature = serializers.DecimalField(max_digits=4, decimal_places=2, coerce_to_string=False)
    raw = serializers.CharField(
        source="raw_text", help_text="What the model said; what is not UTF-8 is replaced."
    )
    refusal = serializers.SerializerMethodField()
    finish_reason = serializers.CharField()
    findings = FindingSerializer(many=True)
    prompt_tokens = serializers.IntegerField(allow_null=True)
    completion_tokens = serializers.IntegerField(allow_null=True)
    cached_tokens = serializers.IntegerField(
        allow_null=True, help_text="Of the prompt's tokens, those that a prefix cache had."
    )
    duration_ms = serializers.IntegerField(help_text="Milliseconds.")
    raw_sha256 = serializers.SerializerMethodField()
    request_sha256 = serializers.CharField()
    contract_sha256 = serializers.CharField()
    prompt_sha256 = serializers.CharField()

    def get_refusal(self, attempt: Attempt) -> str:
        """Return why the model would not answer, empty when it did."""
        return bytes(attempt.refusal).decode("utf-8", "replace")

    def get_raw_sha256(self, attempt: Attempt) -> str:
        """Return the digest of the answer's bytes."""
        return hashlib.sha256(bytes(attempt.raw)).hexdigest()


class StageSerializer(serializers.Serializer[Any]):
    """One stage of the turn; ``result`` is what came of a triage contract, or is shown instead."""

    contract = serializers.CharField()
    words = serializers.SerializerMethodField(help_text="The stage in plain words.")
    status = serializers.ChoiceField(choices=[status.value for status in StageStatus])
    round = serializers.IntegerField()
    findings = FindingSerializer(many=True)
    output = StoredField(help_text="The answer that passed, or was put in its place.")
    result = StoredField(
        help_text="What came of a triage contract, or what is shown in place of a free text."
    )
    attempts = AttemptSerializer(many=True)

    def get_words(self, stage: Any) -> str:
        """Return the stage's name."""
        return stage_label(stage.contract)


class SpanSerializer(serializers.Serializer[Any]):
    """Evidence: half-open offsets in Unicode code points into ``message``."""

    stage = serializers.CharField(source="stage.contract")
    path = serializers.CharField(help_text="JSON Pointer to the quote in the stage's answer.")
    # The framework takes fields out of the class; its own attributes stay what they are.
    source = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=0)
    quote = serializers.CharField()
    snippet_sha256 = serializers.CharField(help_text="Over the UTF-8 of the slice.")
    occurrences = serializers.IntegerField(min_value=0)


class RecordSerializer(serializers.Serializer[Any]):
    """What a person decided."""

    id = serializers.UUIDField()
    action = serializers.ChoiceField(choices=RECORDED)
    by = serializers.CharField(source="actor.username", help_text="A user name.")
    at = serializers.DateTimeField(source="created_at")
    reason = serializers.CharField()
    output = StoredField()
    patch = PatchField(help_text="RFC 6902: from what the model said to `output`.")
    about = serializers.UUIDField(
        source="about_id",
        allow_null=True,
        help_text="The record that this one answers, replaces or undoes.",
    )


class ComparisonSerializer(serializers.Serializer[Any]):
    """What waits for a second person or another agency, beside what the assistant had."""

    decision = serializers.UUIDField(source="decision.pk")
    sent_back = serializers.UUIDField(
        source="sent_back.pk", allow_null=True, help_text="The record with the note; else null."
    )
    decided = serializers.CharField(source="decided.text", help_text="As plain text.")
    model = serializers.CharField(source="model.text", help_text="Likewise; empty for nothing.")


class SignatureSerializer(serializers.Serializer[Any]):
    """An agency's signature under what was decided."""

    agency = serializers.CharField()
    by = serializers.CharField(source="by.username", help_text="A user name.")
    at = serializers.DateTimeField()
    reason = serializers.CharField(help_text="Why it is right for this agency.")


class AllowedSerializer(serializers.Serializer[Any]):
    """Whether you may take an action now."""

    action = serializers.ChoiceField(choices=ACTIONS)
    allowed = serializers.BooleanField()
    why_not = serializers.CharField(help_text="A sentence; empty where it is allowed.")


class ItemSerializer(RowSerializer):
    """An item with all that is needed to decide it."""

    parent = serializers.UUIDField(  # type: ignore[assignment]  # as above
        source="parent_id", allow_null=True, help_text="The item after which it stopped again."
    )
    turn_state = serializers.ChoiceField(source="turn.state", choices=TURN_STATES)
    asked_at = serializers.DateTimeField(source="turn.created_at")
    release = serializers.IntegerField(source="turn.release_number")
    stages = StageSerializer(many=True, source="turn.stages.all")
    spans = SpanSerializer(many=True)
    decisions = RecordSerializer(many=True, source="decisions.all")
    signatures = SignatureSerializer(many=True, source="sign_offs.all")
    unsigned = serializers.ListField(
        child=serializers.CharField(),
        help_text="The agencies whose signature a reply to this would still lack.",
    )
    actions = AllowedSerializer(many=True)
    second = ComparisonSerializer(allow_null=True, help_text="Of a decision that waits for others.")
    person = WishSerializer(allow_null=True, help_text="Of the stage `person` alone.")


class DecidedSerializer(serializers.Serializer[Any]):
    """A decision that was taken."""

    decision = serializers.UUIDField()
    item = StandingSerializer()
