"""The API's resource for being told by e-mail, and what the OpenAPI document says of it."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
)
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import selectors
from conversations.api import examples
from conversations.api.errors import Problem
from conversations.api.schema import answer, problems
from conversations.api.serializers import ClosedSerializer, ExactTextField, TurnSerializer
from conversations.api.views import View
from conversations.mail import services
from conversations.models import Turn
from conversations.person.contacts import MAX_EMAIL
from ieim.people import addresses


@extend_schema_field({"type": "string", "maxLength": MAX_EMAIL, "pattern": r"^[^\u0000]*$"})
class AddressField(ExactTextField):
    """An e-mail address, as it was typed."""


class MailSerializer(ClosedSerializer):
    """Where the citizen wants to be told."""

    address = AddressField(help_text="An e-mail address. Never told again.")


class Mail(View):
    """That a turn's citizen is told by e-mail when the answer is there."""

    http_method_names = ["put", "delete"]

    @extend_schema(
        operation_id="ask_for_mail",
        summary="Tell the citizen by e-mail when the answer is there",
        description=(
            "While a turn's `mail` is not `none`. The address gets a message with a link that asks "
            "its owner to confirm it, in the language of `Accept-Language`; only then, and only "
            "once, it is told that there is an answer, never which. The links lead to this "
            "site's pages. A wish takes the place of the one before it. 404 where there is "
            "nothing to ask for, also where this site sends no e-mail; the answer is the same "
            "whether or not the address was ever used."
        ),
        request=OpenApiRequest(
            MailSerializer,
            examples=[
                OpenApiExample(
                    "An address", value={"address": "ana@example.org"}, request_only=True
                )
            ],
        ),
        responses={
            200: answer(
                TurnSerializer,
                "The turn.",
                "A turn that waits",
                {**examples.QUEUED, "state": "needs_review", "mail": "asked"},
            ),
            **problems(400, 401, 404, 411, 413, 415, 422, 429),
        },
    )
    def put(self, request: Request, turn_id: UUID) -> Response:
        """Ask to be told."""
        turn = Turn.objects.filter(pk=turn_id).only("session_id").first()
        session = self.own_session(request, turn.session_id if turn else None)
        body = MailSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        origin = addresses.of_request(request)
        try:
            services.ask(session=session, turn_id=turn_id, origin=origin, **body.validated_data)
        except services.NotOffered as error:
            raise NotFound("Nobody can be told of this message by e-mail.") from error
        except services.TooMany as refused:
            raise Problem("rate-limit", refused.message, wait=refused.retry_after) from refused
        except services.Unusable as refused:
            raise Problem("message-refused", refused.message) from refused
        return Response(TurnSerializer(selectors.turn_view(turn_id)).data)

    @extend_schema(
        operation_id="stop_mail",
        summary="Tell the citizen nothing by e-mail",
        description="Erases the address. 404 where there is none.",
        responses={204: OpenApiResponse(description="Erased."), **problems(401, 404)},
    )
    def delete(self, request: Request, turn_id: UUID) -> Response:
        """Take the wish back."""
        turn = Turn.objects.filter(pk=turn_id).only("session_id").first()
        session = self.own_session(request, turn.session_id if turn else None)
        if not services.stop_turn(session=session, turn_id=turn_id):
            raise NotFound("Nobody is told of this message by e-mail.")
        return Response(status=204)
