"""What opens a session with a webhook, and what a webhook is told, as JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.api.serializers import ClosedSerializer, ExactTextField
from conversations.webhooks.models import Event
from conversations.webhooks.services import NAME

EVENTS = Event.values


@extend_schema_field({"type": "string", "pattern": f"^{NAME}$"})
class NameField(ExactTextField):
    """A webhook's name."""


class OpenSerializer(ClosedSerializer):
    """A new session."""

    webhook = NameField(
        required=False,
        help_text="The name of the webhook that is told what comes of this session.",
    )


class EventDataSerializer(serializers.Serializer[Any]):
    """What an event is about."""

    session = serializers.UUIDField()
    turn = serializers.UUIDField()


class EventSerializer(serializers.Serializer[Any]):
    """What a webhook is told: what to read, and nothing of its words."""

    type = serializers.ChoiceField(choices=EVENTS)
    timestamp = serializers.DateTimeField(help_text="When it happened.")
    # The framework takes fields out of the class; its own `data` stays what it is.
    data = EventDataSerializer()  # type: ignore[assignment]  # see above
