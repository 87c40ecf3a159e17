"""What the OpenAPI document says of the reviewers' operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from conversations.api.serializers import FieldErrorSerializer, ProblemSerializer
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


class GateErrorSerializer(FieldErrorSerializer):
    """One finding of the gate."""

    code = serializers.CharField(help_text="The finding's code: stable, for programs.")
    path = serializers.CharField(help_text="JSON Pointer into the answer that was judged.")


class RefusedSerializer(ProblemSerializer):
    """Problem details of a decision that may not be taken; ``errors`` are the gate's findings."""

    errors = GateErrorSerializer(many=True, required=False)


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
_problems = partial(problems, meanings=_MEANINGS, bodies={422: RefusedSerializer})
_WRITING = (400, 401, 403, 404, 409, 411, 413, 415)
"""The errors of every operation that changes something."""


def _operation(
    name: str, summary: str, done: str, body: Any, errors: Sequence[int], **more: Any
) -> Callable[[Method], Method]:
    """Return an operation's documentation; ``body`` is what is answered when it is ``done``."""
    status = more.pop("status", 200)
    responses = {status: OpenApiResponse(body, description=done), **_problems(*errors, 429)}
    return extend_schema(
        operation_id=name, summary=summary, tags=["review"], responses=responses, **more
    )


items = _operation(
    "list_review_items",
    "Read the queue",
    "A page of the list.",
    PageSerializer,
    (400, 401, 403),
    description=(
        "The lists and filters of the queue page: crises first, then by urgency, then what is due "
        "first; of what is done, the newest first. Follow `next` and `previous` to other pages."
    ),
    parameters=[QueueQuerySerializer],
)

item = _operation(
    "read_review_item",
    "Read an item",
    "The item.",
    ItemSerializer,
    (401, 403, 404),
    description="Why it stopped, with every attempt and its raw answer, and what you may do.",
    parameters=[_TAG],
)

claim = _operation(
    "claim_review_item",
    "Claim an item",
    "It is yours.",
    StandingSerializer,
    _WRITING,
    description="Yours is renewed. A claim ends by itself at `claimed_until`.",
    request=None,
    parameters=[_TAG],
)
release = _operation(
    "release_review_item",
    "Give a claim back",
    "It is free.",
    StandingSerializer,
    _WRITING,
    request=None,
    parameters=[_TAG],
)

_WRITTEN_REPLY = OpenApiExample(
    "A written reply",
    value={
        "action": "write",
        "reason": "The form has moved to another page.",
        "payload": {
            "text": "Please use the extension form.",
            "sources": [{"agency": "immigration", "service": "immigration.extend-tourist-visa"}],
        },
    },
    request_only=True,
)
decide = _operation(
    "decide_review_item",
    "Decide an item",
    "Decided.",
    DecidedSerializer,
    sorted({*_WRITING, 412, 422, 428}),
    description=(
        "You must have claimed it. An override passes the same gate as a model's answer: 422 with "
        "the findings where it does not. Where a second person or another agency has to agree "
        "first, the decision is kept and `state` is not `decided`."
    ),
    request=OpenApiRequest(DecideSerializer, examples=[_WRITTEN_REPLY]),
    parameters=[_SEEN, _TAG],
)

begin = _operation(
    "take_conversation_over",
    "Take the conversation of an item over",
    "You have it.",
    TakeoverSerializer,
    (*_WRITING, 422),
    description=(
        "Claims the item where it is free. Until you hand it back the assistant is silent: what "
        "the citizen sends is stored for you, and no model reads it."
    ),
    request=None,
)

hand_back = _operation(
    "hand_conversation_back",
    "Hand the conversation back to the assistant",
    "The assistant answers again.",
    None,
    (400, 401, 403, 404),
    request=None,
    status=204,
)

say = _operation(
    "write_to_citizen",
    "Write to the citizen",
    "They can read it.",
    SaidSerializer,
    (*_WRITING, 422),
    description="While you have the conversation. Read what they send at the item's session.",
    request=OpenApiRequest(SaySerializer),
    status=201,
)
