"""The settings of the REST API."""

from __future__ import annotations

from typing import Any

SPECTACULAR: dict[str, Any] = {
    "TITLE": "IEIM",
    "DESCRIPTION": (
        "Conversations of citizens with a public administration. Make a session, send a message, "
        "read the turn until it is answered. Reviewers decide what waits for a person. Errors are "
        "problem details (RFC 9457)."
    ),
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "TurnState": "review.api.serializers.TURN_STATES",
        "ReviewState": "review.api.serializers.STATES",
        "Action": "review.api.taking.ACTIONS",
        "RecordedAction": "review.api.serializers.RECORDED",
        "FeedbackReason": "conversations.api.reply_serializers.REASONS",
        "PersonRequestState": "conversations.person.serializers.STATES",
        "WebhookEvent": "conversations.webhooks.serializers.EVENTS",
    },
    "WEBHOOKS": ["conversations.webhooks.schema.turn_event"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True},
}
"""The OpenAPI document and its page."""

CORS = (
    r"^/api/v1/(sessions|turns|administration)/",
    ["GET", "POST", "PUT", "DELETE"],
    ["authorization", "content-type"],
    ["location", "retry-after", "content-language"],
)
"""What scripts of other sites may ask for, by which methods and headers, and which of an answer's
they may read: with a token and never with a cookie. :mod:`conversations.framing` says who."""
