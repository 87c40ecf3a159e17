"""What the OpenAPI document says of every operation alike, and of webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    OpenApiWebhook,
    extend_schema,
)

from conversations.api.errors import MEDIA_TYPE, problem
from conversations.api.serializers import EventSerializer, ProblemSerializer
from conversations.turns.refusing import STILL_WORKING

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

Meaning = tuple[str, str, str | None]
"""What a status means, the example's detail where that is another, and the problem's name."""

LOCATION = OpenApiParameter(
    name="Location",
    type=str,
    location=OpenApiParameter.HEADER,
    description="Where to read it.",
    response=[200, 201, 202],
)

MEANINGS: Mapping[int, Meaning] = {
    400: ("The body is not one JSON object, or a field is missing or unusable.", "", None),
    401: ("No token, or one that opens no session.", "", None),
    404: ("Not there, or not this token's.", "There is nothing at this address.", None),
    409: (
        "The last message is still being worked on, the client_id stands for another text, "
        "there is nothing to choose any more, there is no answer, or a person was asked for.",
        STILL_WORKING,
        "turn-pending",
    ),
    411: ("The body came in chunks, without its length.", "", None),
    413: ("The body is larger than 32 KiB.", "", None),
    415: ("The body is not `application/json`.", "", None),
    422: (
        "The message or the choice cannot be taken, or the citizen has to say whether numbers in "
        "it are stored; `detail` says what.",
        "",
        "message-refused",
    ),
    429: ("Too many requests; `Retry-After` says how many seconds to wait.", "", "rate-limit"),
    503: (
        "Nothing has been published yet; or, at any address, the API is switched off "
        "(`urn:ieim:problem:switched-off`).",
        "Nothing has been published yet.",
        "not-ready",
    ),
}


# drf-spectacular has no types here.
class ClosedBody(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Says in the document which bodies have no other fields."""

    target_class = "conversations.api.bodies.ClosedSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> Any:
        """Return the schema of a serializer; an answer may have more one day, a body may not."""
        # Nor here; the extension itself is left out, or it would call itself.
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)  # type: ignore[no-untyped-call]
        return {**schema, "additionalProperties": False} if direction == "request" else schema


def problems(
    *statuses: int,
    meanings: Mapping[int, Meaning] = MEANINGS,
    bodies: Mapping[int, type[ProblemSerializer]] | None = None,
) -> dict[Any, Any]:
    """Return the answers with these statuses as problem details; ``bodies`` are those with more."""
    answers = {}
    for status in statuses:
        meaning, detail, slug = meanings[status]
        example = problem(status, detail or meaning, slug=slug)
        answers[(status, MEDIA_TYPE)] = OpenApiResponse(
            (bodies or {}).get(status, ProblemSerializer),
            description=meaning,
            examples=[OpenApiExample(f"{status}", value=example, response_only=True)],
        )
    return answers


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
        request=EventSerializer,
        responses={
            204: OpenApiResponse(description="Taken."),
            410: OpenApiResponse(description="Not wanted any more: nothing else is sent."),
        },
    ),
)
