"""What the OpenAPI document says of webhooks."""

from __future__ import annotations

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiRequest,
    OpenApiResponse,
    OpenApiWebhook,
    extend_schema,
)

from conversations.api import examples
from conversations.webhooks.serializers import EventSerializer

turn_event = OpenApiWebhook(
    "turn",
    extend_schema(
        summary="There is something to read",
        description=(
            "Sent for the sessions that were opened with the webhook's name, as Standard Webhooks "
            "has it, with the headers `webhook-id` (the same at every try), `webhook-timestamp` "
            "(seconds since 1970) and `webhook-signature` (`v1,` and the HMAC-SHA256 in base64; "
            "several, with spaces between them). Check the signature, answer with 2xx, then read "
            "the turn with the session's token. An event may come more than once, and late; 410 "
            "ends all of them."
        ),
        request=OpenApiRequest(
            EventSerializer,
            examples=[
                OpenApiExample(
                    "An answer",
                    value={
                        "type": "answered",
                        "timestamp": "2026-11-21T10:15:34.123456Z",
                        "data": {"session": examples.SESSION, "turn": examples.TURN},
                    },
                    request_only=True,
                )
            ],
        ),
        responses={
            204: OpenApiResponse(description="Taken."),
            410: OpenApiResponse(description="Not wanted any more: nothing else is sent."),
        },
    ),
)
