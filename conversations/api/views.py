"""The API's resources: sessions, their turns, and the OpenAPI document."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from csp.constants import SELF
from csp.decorators import csp_update
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSetMixin

from conversations import reactions, returning, selectors
from conversations.api import exporting
from conversations.api.base import NewSessions, View
from conversations.api.bodies import (
    AskSerializer,
    ChooseSerializer,
    ClosedSerializer,
    MailSerializer,
    OpenSerializer,
    PersonSerializer,
    RatingSerializer,
    TickSerializer,
)
from conversations.api.exporting import ExportSerializer
from conversations.api.schema import LOCATION, problems
from conversations.api.serializers import (
    NewSessionSerializer,
    OpeningSerializer,
    SessionSerializer,
    TurnSerializer,
    ai_notice,
)
from conversations.mail import services as mail
from conversations.person import hours
from conversations.person import services as people
from conversations.turns import choosing, erasing, services
from ieim.people import addresses


def _valid(body: type[ClosedSerializer], request: Request) -> dict[str, Any]:
    """Return the fields of a request's body; raises ValidationError."""
    serializer = body(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields: dict[str, Any] = serializer.validated_data
    return fields


def _turn(turn_id: UUID) -> Response:
    return Response(TurnSerializer(selectors.turn_view(turn_id)).data)


def _made(turn_id: UUID, status: int) -> Response:
    """Return a turn with its address: 201 or 202 for a new one, 200 for the same again."""
    response = _turn(turn_id)
    response.status_code = status
    response.headers["Location"] = reverse("api:turn", args=[turn_id])
    return response


class Sessions(View):
    """All sessions: one can only be made."""

    authentication_classes = []
    permission_classes = [AllowAny]
    throttle_classes = [NewSessions]

    @extend_schema(
        operation_id="create_session",
        summary="Start a conversation",
        request=OpenSerializer,
        auth=[],
        parameters=[LOCATION],
        responses={201: NewSessionSerializer, **problems(400, 411, 413, 415, 422, 429)},
    )
    def post(self, request: Request) -> Response:
        """Make an empty session.

        `token` and `link` are told this once; only digests are kept. `link` is the citizen's: it
        opens the conversation in a browser and nothing here, and the token opens no page. With the
        name of a webhook that is told of the session; without a body nobody is. Show the citizen
        `notice` before they write.
        """
        body = _valid(OpenSerializer, request)
        session, token, link = services.new_session(webhook=body.get("webhook"))
        address = f"{returning.base_url(request)}{reverse('conversations:resume', args=[link])}"
        created = {
            "id": session.pk,
            "reference": session.reference,
            "token": token,
            "link": address,
            "notice": ai_notice(),
        }
        location = reverse("api:session", args=[session.pk])
        content = NewSessionSerializer(created).data
        return Response(content, status=201, headers={"Location": location})


class OneSession(ViewSetMixin, View):
    """A session, its messages, and the wish for a person in it."""

    @extend_schema(
        operation_id="read_session",
        summary="Read a conversation",
        responses={200: SessionSerializer, **problems(401, 404)},
    )
    def read(self, request: Request, session_id: UUID) -> Response:
        """Return the session with every message and what came of it."""
        session = self.own_session(request, session_id)
        chat = selectors.session_view(session)
        content = {
            "id": session.pk,
            "reference": session.reference,
            "created_at": session.created_at,
            "turns": chat.turns,
        }
        return Response(SessionSerializer(content).data)

    @extend_schema(
        operation_id="export_session",
        summary="Take a conversation away as JSON",
        responses={200: ExportSerializer, **problems(401, 404)},
    )
    def export(self, request: Request, session_id: UUID) -> HttpResponse:
        """Return all that the citizen can read, and beside each message who decided what: a
        machine, a person or the citizen. No name of staff, and not how to reach the citizen."""
        session = self.own_session(request, session_id)
        return exporting.download(session, "json")

    @extend_schema(
        operation_id="export_session_html",
        summary="Take a conversation away as HTML",
        responses={(200, "text/html"): OpenApiTypes.STR, **problems(401, 404)},
    )
    def export_html(self, request: Request, session_id: UUID) -> HttpResponse:
        """Return the same as one HTML file, in the language of `Accept-Language`."""
        session = self.own_session(request, session_id)
        return exporting.download(session, "html")

    @extend_schema(
        operation_id="erase_session",
        summary="Erase a conversation",
        responses={204: OpenApiResponse(description="Erased."), **problems(401, 404)},
    )
    def erase(self, request: Request, session_id: UUID) -> Response:
        """Delete the citizen's words, the replies and all work on them for good.

        Also while a message is being worked on. The token opens nothing any more: 401 from then on.
        """
        erasing.erase_session(session_id=self.own_session(request, session_id).pk)
        return Response(status=204)

    @extend_schema(
        operation_id="send_message",
        summary="Send a message",
        parameters=[LOCATION],
        request=AskSerializer,
        responses={
            202: OpenApiResponse(TurnSerializer, "The new turn."),
            200: OpenApiResponse(TurnSerializer, "The turn that this message has become already."),
            **problems(400, 401, 404, 409, 411, 413, 415, 422, 429, 503),
        },
    )
    def ask(self, request: Request, session_id: UUID) -> Response:
        """Take a citizen's message and start to work on it.

        Read the turn until its `state` is `answered`, `asking` or `needs_review`, or open the
        session with a webhook. With a `client_id` the request can be repeated safely: 202 for a new
        turn, 200 with the same turn for the same text again, 409 for another text. A message with
        what looks like an identity, card or account number in it is 422
        `urn:ieim:problem:personal-data`, and nothing of it is stored: show the citizen `found`, and
        send it again with `personal_data`. A message that tells of danger is taken without asking.
        """
        session = self.own_session(request, session_id)
        message = {"client_id": None, **_valid(AskSerializer, request)}
        address = addresses.of_request(request)
        turn, is_new = services.receive(session=session.pk, address=address, way="api", **message)
        return _made(turn.pk, 202 if is_new else 200)

    @extend_schema(
        operation_id="read_hours",
        summary="Read when people can be reached",
        responses={200: OpeningSerializer, **problems(401, 404)},
    )
    def opening_hours(self, request: Request, session_id: UUID) -> Response:
        """Return the opening hours as of now, and the times for which a call can be wanted."""
        self.own_session(request, session_id)
        now = timezone.now()
        opening = hours.opening(now)
        content = {
            "open": opening is not None and opening.open,
            "opens": opening and opening.opens,
            "closes": opening and opening.closes,
            "times": hours.slots(now),
        }
        return Response(OpeningSerializer(content).data)

    @extend_schema(
        operation_id="ask_for_person",
        summary="Ask for a person",
        request=PersonSerializer,
        parameters=[LOCATION],
        responses={
            201: OpenApiResponse(TurnSerializer, "The turn that asks."),
            **problems(400, 401, 404, 409, 411, 413, 415, 422, 429, 503),
        },
    )
    def ask_for_person(self, request: Request, session_id: UUID) -> Response:
        """Make a turn that waits for a person; no model reads it.

        409 while the session waits for a person already or talks with one. The contact is shown
        only to who decides on it, and is erased when the request ends.
        """
        session = self.own_session(request, session_id)
        details = people.RequestDetails(**_valid(PersonSerializer, request))
        address = addresses.of_request(request)
        person_request = people.ask(digest=session.secret_sha256, details=details, address=address)
        return _made(person_request.turn_id, 201)

    @extend_schema(
        operation_id="withdraw_request",
        summary="Take the request for a person back",
        responses={204: OpenApiResponse(description="Taken back."), **problems(401, 404)},
    )
    def withdraw(self, request: Request, session_id: UUID) -> Response:
        """End the request; who talks with the citizen leaves. 404 where there is none."""
        if not people.withdraw(session_id=self.own_session(request, session_id).pk):
            raise NotFound("Nobody was asked for here, or they have answered already.")
        return Response(status=204)


class OneTurn(ViewSetMixin, View):
    """A message, what came of it, and what its citizen may say of that."""

    @extend_schema(
        operation_id="read_turn",
        summary="Read one message and what came of it",
        responses={200: TurnSerializer, **problems(401, 404)},
    )
    def read(self, request: Request, turn_id: UUID) -> Response:
        """Return a turn; its `reply` is null until a reply has passed its gate."""
        self.session_of_turn(request, turn_id)
        return _turn(turn_id)

    @extend_schema(
        operation_id="rate_answer",
        summary="Say whether an answer was useful",
        request=RatingSerializer,
        responses={200: TurnSerializer, **problems(400, 401, 404, 411, 413, 415, 422, 429)},
    )
    def rate(self, request: Request, turn_id: UUID) -> Response:
        """Store the citizen's verdict on the reply of a turn.

        A second one takes the place of the first, and what was said with that goes; the same one
        again stores nothing. A change counts as a message does. Why may be said with it, at once or
        later: a `reason` where it was not useful, and a `text`. Only a reply of kind `service` or
        `answer` can be rated; 404 for any other turn.
        """
        session = self.session_of_turn(request, turn_id)
        verdict = _valid(RatingSerializer, request)
        address = addresses.of_request(request)
        reactions.rate(session_id=session.pk, turn_id=turn_id, address=address, **verdict)
        return _turn(turn_id)

    @extend_schema(
        operation_id="tick_service",
        summary="Say that a service of a checklist has been seen to, or has not",
        request=TickSerializer,
        responses={200: TurnSerializer, **problems(400, 401, 404, 411, 413, 415)},
    )
    def tick(self, request: Request, turn_id: UUID) -> Response:
        """Tick one of the `cards` of a reply that has several, or of those of its `situation`, or
        take the tick back.

        A note of the citizen's own; the same may be sent again. 404 for a service that has no card.
        """
        session = self.session_of_turn(request, turn_id)
        reactions.tick(session_id=session.pk, turn_id=turn_id, **_valid(TickSerializer, request))
        return _turn(turn_id)

    @extend_schema(
        operation_id="choose_service",
        summary="Choose one of the services that are offered",
        request=ChooseSerializer,
        responses={200: TurnSerializer, **problems(400, 401, 404, 409, 411, 413, 415, 422)},
    )
    def choose(self, request: Request, turn_id: UUID) -> Response:
        """Go on with one of the two to four services in `choice`, while `state` is `asking`.

        Send the `number` of one, or a list of them where the choice has `several`; null is for none
        of these, and a person answers. The same choice may be sent again. 404 where nothing was
        asked, 409 where it is too late, 422 for a number that was not offered, or for several where
        one is asked for.
        """
        session = self.session_of_turn(request, turn_id)
        numbers = _valid(ChooseSerializer, request)["choice"] or []
        choosing.choose(session_id=session.pk, turn_id=turn_id, numbers=numbers)
        return _turn(turn_id)

    @extend_schema(
        operation_id="ask_as_something_else",
        summary="Say that an answer is about something else",
        parameters=[LOCATION],
        request=None,
        responses={
            202: OpenApiResponse(TurnSerializer, "The new turn."),
            200: OpenApiResponse(TurnSerializer, "The turn that asks again already."),
            **problems(401, 404, 409, 411, 422, 429, 503),
        },
    )
    def something_else(self, request: Request, turn_id: UUID) -> Response:
        """Ask the same words again as a new turn that forgets the talk, where a reply has
        `still_about`: it goes on with the service that the talk was about.

        Counts as a message. No body. 202 for the new turn, 200 with the same turn from then on; 404
        for an answer that goes on with nothing, 409 where there is none.
        """
        session = self.session_of_turn(request, turn_id)
        address = addresses.of_request(request)
        again, is_new = services.ask_again(
            session_id=session.pk, turn_id=turn_id, address=address, way="api"
        )
        return _made(again.pk, 202 if is_new else 200)

    @extend_schema(
        operation_id="say_safe",
        summary="Say that the citizen is safe",
        request=None,
        responses={200: TurnSerializer, **problems(401, 404, 411)},
    )
    def say_safe(self, request: Request, turn_id: UUID) -> Response:
        """Of a message that shows help lines (`contacts`): no later one inherits them, nor waits
        for a person because of it. The message itself goes on waiting where it does.

        No body. The same again changes nothing. 404 where no help lines are shown.
        """
        session = self.session_of_turn(request, turn_id)
        reactions.say_safe(session_id=session.pk, turn_id=turn_id)
        return _turn(turn_id)

    @extend_schema(
        operation_id="ask_for_mail",
        summary="Tell the citizen by e-mail when the answer is there",
        request=MailSerializer,
        responses={200: TurnSerializer, **problems(400, 401, 404, 411, 413, 415, 422, 429)},
    )
    def ask_for_mail(self, request: Request, turn_id: UUID) -> Response:
        """Send a message to an address with a link that asks its owner to confirm it.

        While a turn's `mail` is not `none`; in the language of `Accept-Language`. Only then, and
        only once, the address is told that there is an answer, never which. The links lead to this
        site's pages. A wish takes the place of the one before it. 404 where there is nothing to ask
        for, also where this site sends no e-mail; the answer is the same whether or not the address
        was ever used.
        """
        session = self.session_of_turn(request, turn_id)
        address = _valid(MailSerializer, request)["address"]
        origin = addresses.of_request(request)
        mail.ask(session=session, turn_id=turn_id, address=address, origin=origin)
        return _turn(turn_id)

    @extend_schema(
        operation_id="stop_mail",
        summary="Tell the citizen nothing by e-mail",
        responses={204: OpenApiResponse(description="Erased."), **problems(401, 404)},
    )
    def stop_mail(self, request: Request, turn_id: UUID) -> Response:
        """Erase the address. 404 where there is none."""
        session = self.session_of_turn(request, turn_id)
        if not mail.stop_turn(session=session, turn_id=turn_id):
            raise NotFound("Nobody is told of this message by e-mail.")
        return Response(status=204)


class Nothing(View):
    """Every other address under ``/api/``."""

    authentication_classes = []
    permission_classes = [AllowAny]
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Say that there is nothing, whatever the method."""
        raise NotFound("There is nothing at this address. Addresses of the API end in a slash.")


class Document(SpectacularAPIView):
    """The OpenAPI document. It needs no token, no other site and no cookie; nor does its page."""

    authentication_classes: Any = []
    permission_classes: Any = [AllowAny]


# The page's pictures are in its style sheet, as data.
@method_decorator(csp_update({"img-src": [SELF, "data:"]}), name="dispatch")
class DocumentPage(SpectacularSwaggerSplitView):
    """The document as a page, from our own static files."""

    authentication_classes: Any = []
    permission_classes: Any = [AllowAny]
    url_name = "api:schema"
    template_name = "api/docs.html"
    template_name_js = "api/docs.js"
    # What REST says of a resource when asked by OPTIONS is no page, and has no template.
    http_method_names: Any = ["get", "head"]
