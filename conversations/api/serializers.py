"""What the API takes and gives, as JSON: made from the page's own views, so both show the same."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.api.reply_serializers import (
    CardSerializer,
    CorrectionSerializer,
    FeedbackSerializer,
    IdentifierSerializer,
    ReplySerializer,
    StepSerializer,
)
from conversations.mail.serializers import MailStateField
from conversations.models import Reason
from conversations.person.serializers import LineSerializer, RequestSerializer
from conversations.personal.choices import CHOICES
from conversations.rating import MAX_CHARS as FEEDBACK_CHARS
from conversations.states import TurnState
from conversations.turns.messages import CLIENT_ID, is_client_id
from ieim.pipeline.message.screen import MAX_CHARS


class ExactTextField(serializers.CharField):
    """A JSON string, taken as it is: a number or a boolean is none, and nothing is trimmed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)
        # What a message may hold is the service's to say (422), not the field's.
        self.validators = []

    def to_internal_value(self, data: Any) -> str:
        """Return ``data``; raises ValidationError for what is not a string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(data)


@extend_schema_field({"type": "string", "pattern": CLIENT_ID})
class ClientIdField(ExactTextField):
    """A client's own name for its message."""

    default_error_messages = {
        "form": "Use 1 to 64 letters, digits and . _ ~ : - for a client_id, such as a UUID."
    }

    def to_internal_value(self, data: Any) -> str:
        """Return ``data``; raises ValidationError for what is no name."""
        value = super().to_internal_value(data)
        if not is_client_id(value):
            self.fail("form")
        return value


# The parser takes no NUL anywhere, so that is part of the shape.
@extend_schema_field(
    {"type": "string", "minLength": 1, "maxLength": MAX_CHARS, "pattern": r"^[^\u0000]*$"}
)
class MessageField(ExactTextField):
    """A citizen's message."""


class ClosedSerializer(serializers.Serializer[Any]):
    """A body that has no other fields."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the fields; raises ValidationError for one that is not known here: a misspelt
        ``client_id`` must not pass for none."""
        unknown = [n for n in data if n not in self.fields] if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError(
                {name: ["This field is not known here."] for name in unknown}
            )
        return super().to_internal_value(data)


class AskSerializer(ClosedSerializer):
    """A citizen's message."""

    text = MessageField(
        allow_blank=True,
        help_text=f"The message, up to {MAX_CHARS:,} characters (Unicode code points).",
    )
    client_id = ClientIdField(
        required=False,
        help_text=(
            "Your own name for this message, unique in the session. Sending the same name with "
            "the same text again gives the same turn."
        ),
    )
    personal_data = serializers.ChoiceField(
        choices=list(CHOICES),
        required=False,
        help_text=(
            "What the citizen chose after `urn:ieim:problem:personal-data`: `remove` stores the "
            "message with a mark in place of the numbers that were found, `send` stores it as it "
            "is. Nothing happens to a message without such numbers. Ask the citizen: never send "
            "it with the first try."
        ),
    )


class ExactBooleanField(serializers.BooleanField):
    """A JSON boolean: a word or a number that looks like one is none."""

    default_error_messages = {"invalid": "Send true or false, not in quotes."}

    def to_internal_value(self, data: Any) -> bool:
        """Return ``data``; raises ValidationError for what is not a boolean."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


@extend_schema_field({"type": "string", "maxLength": FEEDBACK_CHARS, "pattern": r"^[^\u0000]*$"})
class FeedbackField(ExactTextField):
    """What a citizen says of an answer."""


class RatingSerializer(ClosedSerializer):
    """What a citizen thinks of an answer."""

    useful = ExactBooleanField(help_text="Whether the answer was useful.")
    reason = serializers.ChoiceField(
        choices=Reason.values,
        required=False,
        help_text="Why it was not; only where `useful` is false.",
    )
    text = FeedbackField(
        required=False,
        allow_blank=True,
        help_text=(
            f"Why, in the citizen's own words, up to {FEEDBACK_CHARS} characters (Unicode code "
            "points). Personal data are taken out before it is stored."
        ),
    )


class NumberField(serializers.IntegerField):
    """A JSON number: a word that looks like one is none."""

    default_error_messages = {"invalid": "Send a whole number, not in quotes, or null."}

    def to_internal_value(self, data: Any) -> int:
        """Return ``data``; raises ValidationError for what is not a whole number."""
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class ChooseSerializer(ClosedSerializer):
    """What a citizen chose."""

    choice = NumberField(
        allow_null=True, help_text="The `number` of an option; null for none of these."
    )


class OptionSerializer(serializers.Serializer[Any]):
    """A service that the citizen may choose."""

    number = serializers.IntegerField(min_value=1)
    agency = serializers.CharField(help_text="The agency's id.")
    service = serializers.CharField(help_text="The service's key.")
    name = serializers.CharField()
    agency_name = serializers.CharField()
    line = serializers.CharField(help_text="What it is, in a sentence. May be empty.")


class ChoiceSerializer(serializers.Serializer[Any]):
    """What the citizen is asked: which of these services they mean."""

    options = OptionSerializer(many=True)
    until = serializers.DateTimeField(help_text="Without a choice until then, a person answers.")
    reason = serializers.ChoiceField(
        choices=["unsure", "language"],
        help_text="Why they are asked: the assistant is not sure, or lacks their language.",
    )
    language = serializers.CharField(help_text="ISO 639-1: that of the options.")
    notice = serializers.CharField(
        help_text="That the options are not in the citizen's language, and which one the message "
        "was read in. Mostly empty."
    )


class TurnSerializer(serializers.Serializer[Any]):
    """One message and what came of it so far."""

    id = serializers.UUIDField()
    number = serializers.IntegerField(min_value=1, help_text="Its place in the session, from 1.")
    text = serializers.CharField(help_text="The message as it was sent.")
    asked_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=[state.value for state in TurnState])
    longer = serializers.BooleanField(
        help_text="Whether the answer takes longer than usual at the moment."
    )
    contacts = serializers.ListField(
        source="contact_texts",
        child=serializers.CharField(),
        help_text="What the citizen has to see at once, before anything else. Mostly empty.",
    )
    steps = StepSerializer(many=True)
    choice = ChoiceSerializer(
        allow_null=True, help_text="What the citizen has to choose from; null for nothing."
    )
    may_help = CardSerializer(
        many=True,
        help_text="While a person is waited for: up to three services that the search found. Not "
        "the answer: say so. Their `lead` is empty.",
    )
    reply = ReplySerializer(allow_null=True)
    useful = serializers.BooleanField(
        allow_null=True, help_text="What the citizen said of the reply; null while nothing was."
    )
    feedback = FeedbackSerializer(
        allow_null=True, help_text="Why, where the citizen said so; mostly null."
    )
    replaces = serializers.UUIDField(
        allow_null=True, help_text="The turn whose answer was about something else; mostly null."
    )
    replaced_by = serializers.UUIDField(
        allow_null=True, help_text="The turn that asks again, where this answer was not meant."
    )
    corrections = CorrectionSerializer(
        many=True, help_text="To be shown beneath the reply, the first one first. Mostly empty."
    )
    person = RequestSerializer(
        allow_null=True, help_text="That this message asks for a person; mostly null."
    )
    lines = LineSerializer(
        many=True,
        help_text="What a caseworker wrote after this message, the first one first. Mostly empty.",
    )
    mail = MailStateField()


class SessionSerializer(serializers.Serializer[Any]):
    """A conversation."""

    id = serializers.UUIDField()
    reference = serializers.CharField(help_text="To say on the telephone, like K7M-4QX9.")
    created_at = serializers.DateTimeField()
    turns = TurnSerializer(many=True)


class NewSessionSerializer(serializers.Serializer[Any]):
    """A conversation that was just made."""

    id = serializers.UUIDField()
    reference = serializers.CharField(help_text="To say on the telephone, like K7M-4QX9.")
    token = serializers.CharField(
        help_text="The bearer token of this session. It is told here and never again."
    )


class FieldErrorSerializer(serializers.Serializer[Any]):
    """What is wrong with one field."""

    pointer = serializers.CharField(help_text="JSON Pointer (RFC 6901) into the body.")
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """Problem details as in RFC 9457."""

    type = serializers.CharField(help_text="Names the kind of problem: stable, for programs.")
    title = serializers.CharField()
    status = serializers.IntegerField(min_value=400, max_value=599)
    detail = serializers.CharField(help_text="What happened and what to do, for people.")
    # The framework takes fields out of the class; its own `errors` stays what it is.
    errors = FieldErrorSerializer(many=True, required=False)  # type: ignore[assignment]
    contacts = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text=(
            "What the citizen has to see at once although the message was not taken: it tells of "
            "danger. Absent otherwise."
        ),
    )
    found = IdentifierSerializer(
        many=True,
        required=False,
        help_text=(
            "The numbers that the citizen has to choose about, from left to right. Only with "
            "`urn:ieim:problem:personal-data`."
        ),
    )
    mark = serializers.CharField(required=False, help_text="What stands for each after `remove`.")
