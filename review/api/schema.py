"""What the OpenAPI document says of the reviewers' operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
)
from rest_framework import serializers

from conversations.api.schema import Meaning, problems
from conversations.api.serializers import ProblemSerializer
from ieim.studio.api.schema import STAFF
from review.api.errors import Changed, NoVersion
from review.api.serializers import (
    DecidedSerializer,
    DecideSerializer,
    ItemSerializer,
    PageSerializer,
    QueueQuerySerializer,
    SaidSerializer,
    SaySerializer,
    StandingSerializer,
    TakeoverSerializer,
)
from review.deciding.answers import NOT_PASSED

Method = TypeVar("Method", bound=Callable[..., Any])


class GateErrorSerializer(serializers.Serializer[Any]):
    """One finding of the gate."""

    pointer = serializers.CharField(help_text="JSON Pointer (RFC 6901) into the body.")
    detail = serializers.CharField()
    code = serializers.CharField(help_text="The finding's code: stable, for programs.")
    path = serializers.CharField(help_text="JSON Pointer into the answer that was judged.")


class RefusedSerializer(ProblemSerializer):
    """Problem details of a decision that may not be taken; ``errors`` are the gate's findings."""

    errors = GateErrorSerializer(many=True, required=False)  # type: ignore[assignment]


_MEANINGS: Mapping[int, Meaning] = {
    **STAFF,
    404: ("Not there, or an item of another agency.", "There is nothing at this address.", None),
    409: ("Somebody else has it, or it cannot be had now; `detail` says who and why.", "", None),
    412: ("The item has changed since you read it.", Changed.default_detail, None),
    422: ("It may not be decided like this; `detail` says why.", NOT_PASSED, None),
    428: ("There is no `If-Match`.", NoVersion.default_detail, None),
}
_TAG = OpenApiParameter(
    name="ETag",
    type=str,
    location=OpenApiParameter.HEADER,
    description="The item's version, for `If-Match`.",
    response=[200],
)
_SEEN = OpenApiParameter(
    name="If-Match",
    type=str,
    location=OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the item as you have seen it. `*` never fits.",
    examples=[OpenApiExample("The ETag", value='"3"')],
)
_TAGS = ["review"]


_problems = partial(problems, meanings=_MEANINGS, bodies={422: RefusedSerializer})

items = extend_schema(
    operation_id="list_review_items",
    summary="Read the queue",
    description=(
        "The lists and filters of the queue page: crises first, then by urgency, then what is due "
        "first; of what is done, the newest first. Follow `next` and `previous` to other pages."
    ),
    tags=_TAGS,
    parameters=[QueueQuerySerializer],
    responses={
        200: OpenApiResponse(PageSerializer, description="A page of the list."),
        **_problems(400, 401, 403),
    },
)

item = extend_schema(
    operation_id="read_review_item",
    summary="Read an item",
    description="Why it stopped, with every attempt and its raw answer, and what you may do.",
    tags=_TAGS,
    parameters=[_TAG],
    responses={
        200: OpenApiResponse(ItemSerializer, description="The item."),
        **_problems(401, 403, 404),
    },
)


def _claiming(
    name: str, summary: str, done: str, description: str | None = None
) -> Callable[[Method], Method]:
    return extend_schema(
        operation_id=f"{name}_review_item",
        summary=summary,
        description=description,
        tags=_TAGS,
        request=None,
        parameters=[_TAG],
        responses={
            200: OpenApiResponse(StandingSerializer, description=done),
            **_problems(400, 401, 403, 404, 409, 411, 413, 415),
        },
    )


claim = _claiming(
    "claim",
    "Claim an item",
    "It is yours.",
    "Yours is renewed. A claim ends by itself at `claimed_until`.",
)
release = _claiming("release", "Give a claim back", "It is free.")

decide = extend_schema(
    operation_id="decide_review_item",
    summary="Decide an item",
    description=(
        "You must have claimed it. An override passes the same gate as a model's answer: 422 with "
        "the findings where it does not. Where a second person or another agency has to agree "
        "first, the decision is kept and `state` is not `decided`."
    ),
    tags=_TAGS,
    request=OpenApiRequest(
        DecideSerializer,
        examples=[
            OpenApiExample(
                "A written reply",
                value={
                    "action": "write",
                    "reason": "The form has moved to another page.",
                    "payload": {
                        "text": "Please use the extension form.",
                        "sources": [
                            {
                                "agency": "immigration",
                                "service": "immigration.extend-tourist-visa",
                            }
                        ],
                    },
                },
                request_only=True,
            )
        ],
    ),
    parameters=[_SEEN, _TAG],
    responses={
        200: OpenApiResponse(DecidedSerializer, description="Decided."),
        **_problems(400, 401, 403, 404, 409, 411, 412, 413, 415, 422, 428),
    },
)

begin = extend_schema(
    operation_id="take_conversation_over",
    summary="Take the conversation of an item over",
    description=(
        "Claims the item where it is free. Until you hand it back the assistant is silent: what "
        "the citizen sends is stored for you, and no model reads it."
    ),
    tags=_TAGS,
    request=None,
    responses={
        200: OpenApiResponse(TakeoverSerializer, description="You have it."),
        **_problems(400, 401, 403, 404, 409, 411, 413, 415, 422),
    },
)

hand_back = extend_schema(
    operation_id="hand_conversation_back",
    summary="Hand the conversation back to the assistant",
    tags=_TAGS,
    request=None,
    responses={
        204: OpenApiResponse(description="The assistant answers again."),
        **_problems(400, 401, 403, 404),
    },
)

say = extend_schema(
    operation_id="write_to_citizen",
    summary="Write to the citizen",
    description="While you have the conversation. Read what they send at the item's session.",
    tags=_TAGS,
    request=OpenApiRequest(SaySerializer),
    responses={
        201: OpenApiResponse(SaidSerializer, description="They can read it."),
        **_problems(400, 401, 403, 404, 409, 411, 413, 415, 422),
    },
)
