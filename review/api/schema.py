"""The idiom of the editors' resources for reviewers: statuses, headers and an example."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiRequest
from rest_framework import serializers

from conversations.api.schema import Meaning, problems
from conversations.api.serializers import FieldErrorSerializer, ProblemSerializer
from ieim.studio.api import schema
from review.api.errors import Changed, NoVersion
from review.api.serializers import DecideSerializer
from review.deciding.answers import NOT_PASSED


class GateErrorSerializer(FieldErrorSerializer):
    """One finding of the gate."""

    code = serializers.CharField(help_text="The finding's code: stable, for programs.")
    path = serializers.CharField(help_text="JSON Pointer into the answer that was judged.")


class RefusedSerializer(ProblemSerializer):
    """Problem details of a decision that may not be taken; ``errors`` are the gate's findings."""

    errors = GateErrorSerializer(many=True, required=False)


_MEANINGS: Mapping[int, Meaning] = {
    **schema.STAFF,
    404: ("Not there, or an item of another agency.", "There is nothing at this address.", None),
    409: ("Somebody else has it, or it cannot be had now; `detail` says who and why.", "", None),
    412: ("The item has changed since you read it.", Changed.default_detail, None),
    422: ("It may not be decided like this; `detail` says why.", NOT_PASSED, None),
    428: ("There is no `If-Match`.", NoVersion.default_detail, None),
}
operation = partial(
    schema.operation,
    tag="review",
    problems=partial(problems, meanings=_MEANINGS, bodies={422: RefusedSerializer}),
)
"""Make a method of a viewset an operation of the reviewers' API."""

ETAG = OpenApiParameter(
    name="ETag",
    type=str,
    location=OpenApiParameter.HEADER,
    description="The item's version, for `If-Match`.",
    response=[200],
)
IF_MATCH = OpenApiParameter(
    name="If-Match",
    type=str,
    location=OpenApiParameter.HEADER,
    required=True,
    description="The ETag of the item as you have seen it. `*` never fits.",
    examples=[OpenApiExample("The ETag", value='"3"')],
)
WRITTEN_REPLY = OpenApiExample(
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
DECISION = OpenApiRequest(DecideSerializer, examples=[WRITTEN_REPLY])
