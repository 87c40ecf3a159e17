"""The API's resource for asking for a person; its views and what the OpenAPI document says."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import selectors
from conversations.api import examples
from conversations.api.errors import of_asking
from conversations.api.schema import answer, problems
from conversations.api.serializers import ClosedSerializer, ExactTextField, TurnSerializer
from conversations.api.views import View
from conversations.models import Session
from conversations.person import hours, services
from conversations.person.models import Way
from conversations.person.services import Wanted
from conversations.turns import refusing
from ieim.people import addresses
from ieim.pipeline.message.screen import MAX_CHARS

_NO_NUL = r"^[^\u0000]*$"


@extend_schema_field({"type": "string", "maxLength": MAX_CHARS, "pattern": _NO_NUL})
class WordsField(ExactTextField):
    """A citizen's words; what they may hold is the service's to say."""


@extend_schema_field({"type": "string", "maxLength": 254, "pattern": _NO_NUL})
class ContactField(ExactTextField):
    """An address or a number, as it was typed."""


@extend_schema_field({"type": "string", "maxLength": 17, "pattern": _NO_NUL})
class TimeField(ExactTextField):
    """The value of an offered time."""


class PersonSerializer(ClosedSerializer):
    """A wish to have a person."""

    text = WordsField(
        required=False, allow_blank=True, help_text="What it is about, in the citizen's words."
    )
    about = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="A turn of the session that it is about. This or `text` is needed.",
    )
    way = serializers.ChoiceField(choices=Way.values)
    contact = ContactField(
        required=False,
        allow_blank=True,
        help_text="For `email` an address, for `call` a telephone number. Never told again.",
    )
    time = TimeField(
        required=False,
        allow_blank=True,
        help_text="For `call`: the `value` of one of the `times`; left out for any time.",
    )


class TimeSerializer(serializers.Serializer[Any]):
    """A time for which a call can be wanted."""

    value = serializers.CharField()
    begins = serializers.DateTimeField()
    ends = serializers.DateTimeField()


class OpeningSerializer(serializers.Serializer[Any]):
    """When people can be reached, as of now."""

    open = serializers.BooleanField()
    opens = serializers.DateTimeField(
        allow_null=True,
        help_text="Of today, or of the next day that is open; null where none is in sight.",
    )
    closes = serializers.DateTimeField(allow_null=True, help_text="Likewise.")
    times = TimeSerializer(many=True)


_EXAMPLE = {
    **examples.QUEUED,
    "state": "needs_review",
    "text": "I need somebody to look at my papers.",
    "person": {
        "state": "open",
        "way": "call",
        "about": 1,
        "wanted_from": "2026-11-23T08:00:00Z",
        "wanted_until": "2026-11-23T12:00:00Z",
    },
}


class Person(View):
    """The wish for a person of a session."""

    @extend_schema(
        operation_id="read_hours",
        summary="Read when people can be reached",
        description="The opening hours as of now, and the times for which a call can be wanted.",
        responses={
            200: OpenApiResponse(OpeningSerializer, description="The hours."),
            **problems(401, 404),
        },
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read the hours."""
        self.own_session(request, session_id)
        now = timezone.now()
        opening = hours.opening(now)
        shown = {
            "open": opening is not None and opening.open,
            "opens": opening and opening.opens,
            "closes": opening and opening.closes,
            "times": hours.slots(now),
        }
        return Response(OpeningSerializer(shown).data)

    @extend_schema(
        operation_id="ask_for_person",
        summary="Ask for a person",
        description=(
            "Makes a turn that waits for a person; no model reads it. 409 while the session waits "
            "for a person already or talks with one. The contact is shown only to who decides on "
            "it, and is erased when the request ends."
        ),
        request=OpenApiRequest(
            PersonSerializer,
            examples=[
                OpenApiExample(
                    "A call back",
                    value={
                        "text": "I need somebody to look at my papers.",
                        "way": "call",
                        "contact": "+1 202 555 0143",
                    },
                    request_only=True,
                )
            ],
        ),
        parameters=[
            OpenApiParameter(
                name="Location",
                type=str,
                location=OpenApiParameter.HEADER,
                description="Where to read the turn.",
                response=[201],
            )
        ],
        responses={
            201: answer(TurnSerializer, "The turn that asks.", "A request", _EXAMPLE),
            **problems(400, 401, 404, 409, 411, 413, 415, 422, 429, 503),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Ask for a person."""
        session = self.own_session(request, session_id)
        body = PersonSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            asked = services.ask(
                digest=session.secret_sha256,
                wanted=Wanted(**body.validated_data),
                address=addresses.of_request(request),
            )
        except refusing.Refused as refused:
            raise of_asking(refused) from refused
        return Response(
            TurnSerializer(selectors.turn_view(asked.turn_id)).data,
            status=201,
            headers={"Location": reverse("api:turn", args=[asked.turn_id])},
        )

    @extend_schema(
        operation_id="withdraw_request",
        summary="Take the request for a person back",
        description="Who talks with the citizen leaves. 404 where there is none.",
        responses={204: OpenApiResponse(description="Taken back."), **problems(401, 404)},
    )
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Take the request back."""
        session = self.own_session(request, session_id)
        try:
            found = services.withdraw(session_id=session.pk)
        except Session.DoesNotExist as error:
            raise NotFound from error
        if not found:
            raise NotFound("Nobody was asked for here, or they have answered already.")
        return Response(status=204)
