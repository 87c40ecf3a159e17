"""What the API takes, as JSON: the shape is checked here, what it says by the services."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.validators import MaxLengthValidator
from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.models import Reason
from conversations.person.contacts import MAX_EMAIL
from conversations.person.models import Way
from conversations.reactions import MAX_CHARS as FEEDBACK_CHARS
from conversations.turns.message import CHOICES
from conversations.turns.services import CLIENT_ID, is_client_id
from conversations.webhooks.services import NAME
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.pipeline.choosing import MOST
from ieim.pipeline.message.screen import MAX_CHARS

NO_NUL = r"^[^\u0000]*$"
"""The parser takes no NUL anywhere, so that is part of the shape."""


LONGEST = 50_000
"""Code points of any text, whatever the service that gets it takes."""


class ExactTextField(serializers.CharField):
    """A JSON string, taken as it is: a number or a boolean is none, and nothing is trimmed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, max_length=LONGEST, **options)
        # What a message may hold is the service's to say (422); the field's is that it has an end.
        self.validators = [v for v in self.validators if isinstance(v, MaxLengthValidator)]

    def to_internal_value(self, data: Any) -> str:
        """Return ``data``; raises ValidationError for what is not a string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(data)


class LimitedTextField(ExactTextField):
    """Such a string, with the most code points that the service takes in the document."""

    def __init__(self, *, longest: int, **options: Any) -> None:
        super().__init__(**options)
        limits = {"type": "string", "maxLength": longest, "pattern": NO_NUL}
        set_override(self, "field", limits)


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


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": MAX_CHARS, "pattern": NO_NUL})
class MessageField(ExactTextField):
    """A citizen's message."""


@extend_schema_field({"type": "string", "maxLength": 40, "pattern": f"^{NAME}$"})
class WebhookNameField(ExactTextField):
    """The name of a webhook."""


class ExactBooleanField(serializers.BooleanField):
    """A JSON boolean: a word or a number that looks like one is none."""

    default_error_messages = {"invalid": "Send true or false, not in quotes."}

    def to_internal_value(self, data: Any) -> bool:
        """Return ``data``; raises ValidationError for what is not a boolean."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class NumberField(serializers.IntegerField):
    """A JSON number: a word that looks like one is none."""

    default_error_messages = {"invalid": "Send a whole number, not in quotes, or null."}

    def to_internal_value(self, data: Any) -> int:
        """Return ``data``; raises ValidationError for what is not a whole number."""
        # For JSON Schema 2.0, which is read as a Decimal, is a whole number too.
        whole = isinstance(data, int) or (isinstance(data, Decimal) and data == int(data))
        if not whole or isinstance(data, bool):
            self.fail("invalid")
        return int(data)


@extend_schema_field(
    {
        "oneOf": [
            {"type": "integer"},
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": MOST},
        ]
    }
)
class NumbersField(NumberField):
    """A JSON number or a list of some."""

    default_error_messages = {
        "invalid": "Send a whole number, not in quotes, a list of one to four of them, or null."
    }

    def to_internal_value(self, data: Any) -> list[int]:  # type: ignore[override]  # of each
        """Return the numbers; raises ValidationError for what is neither one nor a list."""
        numbers = data if isinstance(data, list) else [data]
        if not 1 <= len(numbers) <= MOST:
            self.fail("invalid")
        return [super(NumbersField, self).to_internal_value(number) for number in numbers]


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


class OpenSerializer(ClosedSerializer):
    """A new session."""

    webhook = WebhookNameField(
        required=False,
        help_text="The name of the webhook that is told what comes of this session.",
    )


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


class RatingSerializer(ClosedSerializer):
    """What a citizen thinks of an answer."""

    useful = ExactBooleanField(help_text="Whether the answer was useful.")
    reason = serializers.ChoiceField(
        choices=Reason.values,
        required=False,
        help_text="Why it was not; only where `useful` is false.",
    )
    text = LimitedTextField(
        longest=FEEDBACK_CHARS,
        required=False,
        allow_blank=True,
        help_text=(
            f"Why, in the citizen's own words, up to {FEEDBACK_CHARS} characters (Unicode code "
            "points). Personal data are taken out before it is stored."
        ),
    )


class ChooseSerializer(ClosedSerializer):
    """What a citizen chose."""

    choice = NumbersField(
        allow_null=True,
        help_text="The `number` of an option, or, where the choice has `several`, a list of them; "
        "null for none of these.",
    )


class MailSerializer(ClosedSerializer):
    """Where the citizen wants to be told."""

    address = LimitedTextField(longest=MAX_EMAIL, help_text="An e-mail address. Never told again.")


class PersonSerializer(ClosedSerializer):
    """A wish to have a person."""

    text = LimitedTextField(
        longest=MAX_CHARS,
        required=False,
        allow_blank=True,
        help_text="What it is about, in the citizen's words.",
    )
    about = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="A turn of the session that it is about. This or `text` is needed.",
    )
    way = serializers.ChoiceField(choices=Way.values)
    contact = LimitedTextField(
        longest=MAX_EMAIL,
        required=False,
        allow_blank=True,
        help_text="For `email` an address, for `call` a telephone number. Never told again.",
    )
    time = LimitedTextField(
        longest=17,
        required=False,
        allow_blank=True,
        help_text="For `call`: the `value` of one of the `times`; left out for any time.",
    )


class TickSerializer(ClosedSerializer):
    """That a citizen has seen to a service of a checklist, or has not."""

    service = LimitedTextField(
        longest=2 * ID_LIMIT + 1, help_text="The `reference` of one of the reply's cards."
    )
    done = ExactBooleanField()
