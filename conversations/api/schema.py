"""What the OpenAPI document says of each operation: every answer, with examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
)

from conversations.api import examples
from conversations.api.errors import MEDIA_TYPE, problem
from conversations.api.serializers import (
    AskSerializer,
    ChooseSerializer,
    NewSessionSerializer,
    ProblemSerializer,
    RatingSerializer,
    SessionSerializer,
    TurnSerializer,
)
from conversations.turns.refusing import STILL_WORKING
from conversations.webhooks.serializers import OpenSerializer

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

Meaning = tuple[str, str, str | None]
"""What a status means, the example's detail where that is another, and the problem's name."""

_LOCATION = OpenApiParameter(
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
    503: ("Nothing has been published yet.", "", "not-ready"),
}


# drf-spectacular has no types here.
class ClosedBody(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Says in the document which bodies have no other fields."""

    target_class = "conversations.api.serializers.ClosedSerializer"
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


def answer(serializer: Any, description: str, name: str, value: Any) -> OpenApiResponse:
    """Return what the document says of an answer, with an example."""
    example = OpenApiExample(name, value=value, response_only=True)
    return OpenApiResponse(serializer, description=description, examples=[example])


new_session = extend_schema(
    operation_id="create_session",
    summary="Start a conversation",
    description=(
        "Makes an empty session. The token is told this once; only its digest is kept. It is also "
        "the secret of the citizen's own link: `/c/<token>/` opens the conversation in a browser. "
        "With the name of a webhook that is told of the session; without a body nobody is."
    ),
    request=OpenApiRequest(
        OpenSerializer,
        examples=[OpenApiExample("With a webhook", value={"webhook": "office"}, request_only=True)],
    ),
    auth=[],
    parameters=[_LOCATION],
    responses={
        201: answer(
            NewSessionSerializer,
            "The session.",
            "A session",
            {"id": examples.SESSION, "reference": "K7M-4QX9", "token": "kept-by-you-and-told-once"},
        ),
        **problems(400, 411, 413, 415, 422, 429),
    },
)

session = extend_schema(
    operation_id="read_session",
    summary="Read a conversation",
    responses={
        200: answer(
            SessionSerializer,
            "The session with its turns, the first one first.",
            "A session",
            {
                "id": examples.SESSION,
                "reference": "K7M-4QX9",
                "created_at": "2026-11-21T10:15:00Z",
                "turns": [examples.ANSWERED],
            },
        ),
        **problems(401, 404),
    },
)

erase_session = extend_schema(
    operation_id="erase_session",
    summary="Erase a conversation",
    description=(
        "The citizen's words, the replies and all work on them are deleted for good, also while "
        "a message is being worked on. The token opens nothing any more: 401 from then on."
    ),
    responses={204: OpenApiResponse(description="Erased."), **problems(401, 404)},
)

ask = extend_schema(
    operation_id="send_message",
    summary="Send a message",
    description=(
        "Takes a citizen's message and starts to work on it. Read the turn until its `state` is "
        "`answered`, `asking` or `needs_review`, or open the session with a webhook. With a "
        "`client_id` the request can be repeated safely: 202 for a new turn, 200 with the same "
        "turn for the same text again, 409 for another text. A message with what looks like an "
        "identity, card or account number in it is 422 `urn:ieim:problem:personal-data`, and "
        "nothing of it is stored: show the citizen `found`, and send it again with "
        "`personal_data`. A message that tells of danger is taken without asking."
    ),
    parameters=[_LOCATION],
    request=OpenApiRequest(
        AskSerializer,
        examples=[
            OpenApiExample(
                "A message",
                value={
                    "text": "I want to extend my tourist visa",
                    "client_id": "5f0c7f0e-0f55-4b29-a1b2-0c8f0f0c0b11",
                },
                request_only=True,
            )
        ],
    ),
    responses={
        202: answer(TurnSerializer, "The new turn.", "A new turn", examples.QUEUED),
        200: answer(
            TurnSerializer,
            "The turn that this message has become already.",
            "The same turn",
            examples.ANSWERED,
        ),
        **problems(400, 401, 404, 409, 411, 413, 415, 422, 429, 503),
    },
)

choice = extend_schema(
    operation_id="choose_service",
    summary="Choose one of the services that are offered",
    description=(
        "While a turn's `state` is `asking`, its `choice` holds two to four services. Send the "
        "`number` of one, and the turn goes on with it; send null for none of these, and a person "
        "answers. The same choice may be sent again. 404 where nothing was asked, 409 where it is "
        "too late, 422 for a number that was not offered."
    ),
    request=OpenApiRequest(
        ChooseSerializer,
        examples=[OpenApiExample("The first one", value={"choice": 1}, request_only=True)],
    ),
    responses={
        200: answer(TurnSerializer, "The turn, going on.", "A turn that goes on", examples.QUEUED),
        **problems(400, 401, 404, 409, 411, 413, 415, 422),
    },
)

something_else = extend_schema(
    operation_id="ask_as_something_else",
    summary="Say that an answer is about something else",
    description=(
        "Where a reply has `still_about`, it goes on with the service that the talk was about. "
        "This asks the same words again as a new turn that forgets the talk, and counts as a "
        "message. No body. 202 for the new turn, 200 with the same turn from then on; 404 for an "
        "answer that goes on with nothing, 409 where there is none."
    ),
    parameters=[_LOCATION],
    request=None,
    responses={
        202: answer(
            TurnSerializer,
            "The new turn.",
            "A new turn",
            {**examples.QUEUED, "number": 2, "replaces": "7a1cf1f0-3c49-4c3e-8a2b-1f2de6a6f1c4"},
        ),
        200: answer(
            TurnSerializer, "The turn that asks again already.", "The same turn", examples.ANSWERED
        ),
        **problems(401, 404, 409, 411, 422, 429, 503),
    },
)

turn = extend_schema(
    operation_id="read_turn",
    summary="Read one message and what came of it",
    description="`reply` is null until a reply has passed its gate.",
    responses={
        200: answer(TurnSerializer, "The turn.", "An answered turn", examples.ANSWERED),
        **problems(401, 404),
    },
)

rating = extend_schema(
    operation_id="rate_answer",
    summary="Say whether an answer was useful",
    description=(
        "Stores the citizen's verdict on the reply of a turn. A second one takes the place of the "
        "first, and what was said with that goes; the same one again stores nothing. A change "
        "counts as a message does. Why may be said with it, at once or later: a "
        "`reason` where it was not useful, and a `text`. Only a reply of kind `service` or "
        "`answer` can be rated; 404 for any other turn."
    ),
    request=RatingSerializer,
    responses={
        200: answer(TurnSerializer, "The turn, rated.", "A rated turn", examples.ANSWERED),
        **problems(400, 401, 404, 411, 413, 415, 422, 429),
    },
)
