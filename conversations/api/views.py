"""The API's resources: sessions and their turns."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import rating, selectors
from conversations.api import schema
from conversations.api.authentication import BearerAuthentication, HasSession, bearer_token
from conversations.api.errors import (
    LengthRequired,
    Problem,
    handle,
    of_asking,
    of_refusal,
)
from conversations.api.parsing import JSONOnly, StrictJSONParser
from conversations.api.serializers import (
    AskSerializer,
    ChooseSerializer,
    NewSessionSerializer,
    RatingSerializer,
    SessionSerializer,
    TurnSerializer,
)
from conversations.api.throttling import NewSessions
from conversations.models import Session, Turn
from conversations.replacing import services as replacing
from conversations.turns import choosing, erasing, messages, refusing
from conversations.webhooks.outbox import NoWebhook
from conversations.webhooks.serializers import OpenSerializer
from ieim.people import addresses


class View(APIView):
    """A resource: JSON in, JSON or problem details out, a session's token to open it."""

    authentication_classes: Any = [BearerAuthentication]
    permission_classes: Any = [HasSession]
    parser_classes = [StrictJSONParser]
    renderer_classes = [JSONRenderer]
    content_negotiation_class = JSONOnly
    http_method_names = ["get", "head", "post", "delete"]

    def get_exception_handler(self) -> Any:
        """Return the handler that makes problem details."""
        return handle

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what no token would make right, before the token is looked at."""
        if request.method not in self.allowed_methods:
            self.http_method_not_allowed(request, *args, **kwargs)
        # A body in chunks has no length, and the framework takes it for no body at all.
        chunked = "Transfer-Encoding" in request.headers
        if (
            request.method in ("POST", "PUT")
            and chunked
            and "Content-Length" not in request.headers
        ):
            raise LengthRequired
        super().initial(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Keep conversations and tokens out of caches."""
        response = super().finalize_response(request, response, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def own_session(self, request: Request, session_id: UUID | None) -> Session:
        """Return the token's session; any other one is not there, so that no id leaks."""
        session = request.auth
        if not isinstance(session, Session) or session.pk != session_id:
            raise Http404
        return session


class Sessions(View):
    """All sessions: one can only be made."""

    authentication_classes = []
    permission_classes = [AllowAny]
    throttle_classes = [NewSessions]

    @schema.new_session
    def post(self, request: Request) -> Response:
        """Start a conversation."""
        wanted = OpenSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            session, token = messages.new_session(webhook=wanted.validated_data.get("webhook"))
        except NoWebhook as error:
            raise Problem("webhook-unknown", str(error)) from error
        made = {"id": session.pk, "reference": session.reference, "token": token}
        location = reverse("api:session", args=[session.pk])
        return Response(NewSessionSerializer(made).data, status=201, headers={"Location": location})


class OneSession(View):
    """A session with its turns."""

    @schema.session
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read a conversation: every message and what came of it."""
        session = self.own_session(request, session_id)
        token = bearer_token(request.headers["Authorization"])
        shown = {
            "id": session.pk,
            "reference": session.reference,
            "created_at": session.created_at,
            "turns": selectors.chat_view(secret=token).turns,
        }
        return Response(SessionSerializer(shown).data)

    @schema.erase_session
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Erase a conversation."""
        erasing.erase_session(session_id=self.own_session(request, session_id).pk)
        return Response(status=204)


class Turns(View):
    """A session's turns: a message makes one."""

    @schema.ask
    def post(self, request: Request, session_id: UUID) -> Response:
        """Send a message."""
        session = self.own_session(request, session_id)
        message = AskSerializer(data=request.data)
        message.is_valid(raise_exception=True)
        said = {"client_id": None, **message.validated_data}
        try:
            turn, is_new = messages.ask(
                session_id=session.pk, address=addresses.of_request(request), **said
            )
        except refusing.Refused as error:
            raise of_asking(error) from error
        except Session.DoesNotExist as error:
            raise NotFound from error
        return _taken(turn, is_new=is_new)


class OneTurn(View):
    """A turn."""

    @schema.turn
    def get(self, request: Request, turn_id: UUID) -> Response:
        """Read one message and what came of it so far."""
        turn = Turn.objects.filter(pk=turn_id).only("session_id").first()
        self.own_session(request, turn.session_id if turn else None)
        return Response(TurnSerializer(selectors.turn_view(turn_id)).data)


class OneRating(View):
    """Whether a turn's answer was useful."""

    http_method_names = ["put"]

    @schema.rating
    def put(self, request: Request, turn_id: UUID) -> Response:
        """Say whether an answer was useful."""
        turn = Turn.objects.filter(pk=turn_id).only("session_id").first()
        session = self.own_session(request, turn.session_id if turn else None)
        verdict = RatingSerializer(data=request.data)
        verdict.is_valid(raise_exception=True)
        try:
            rating.rate(
                session_id=session.pk,
                turn_id=turn_id,
                address=addresses.of_request(request),
                **verdict.validated_data,
            )
        except refusing.TooMany as error:
            raise of_asking(error) from error
        except rating.FeedbackRefused as error:
            raise of_refusal(error) from error
        except (Session.DoesNotExist, rating.NothingToRate) as error:
            raise NotFound("This message has no answer that can be rated.") from error
        return Response(TurnSerializer(selectors.turn_view(turn_id)).data)


class OneChoice(View):
    """What a turn's citizen is asked to choose."""

    http_method_names = ["put"]

    @schema.choice
    def put(self, request: Request, turn_id: UUID) -> Response:
        """Choose one of the services that are offered, or none of them."""
        turn = Turn.objects.filter(pk=turn_id).only("session_id").first()
        session = self.own_session(request, turn.session_id if turn else None)
        said = ChooseSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            choosing.choose(
                session_id=session.pk, turn_id=turn_id, number=said.validated_data["choice"]
            )
        except (Session.DoesNotExist, choosing.NothingToChoose) as error:
            raise NotFound("The citizen was not asked to choose anything here.") from error
        except choosing.ChoiceRefused as error:
            raise of_refusal(error) from error
        return Response(TurnSerializer(selectors.turn_view(turn_id)).data)


class SomethingElse(View):
    """That a turn's answer goes on with what the citizen does not mean."""

    @schema.something_else
    def post(self, request: Request, turn_id: UUID) -> Response:
        """Ask again, as something else than the talk was about."""
        turn = Turn.objects.filter(pk=turn_id).only("session_id").first()
        session = self.own_session(request, turn.session_id if turn else None)
        try:
            again, is_new = replacing.ask_again(
                session_id=session.pk, turn_id=turn_id, address=addresses.of_request(request)
            )
        except (Session.DoesNotExist, replacing.NothingToReplace) as error:
            raise NotFound("This answer does not go on with what the talk was about.") from error
        except replacing.NotAnswered as error:
            raise of_refusal(error) from error
        except refusing.Refused as error:
            raise of_asking(error) from error
        return _taken(again, is_new=is_new)


def _taken(turn: Turn, *, is_new: bool) -> Response:
    return Response(
        TurnSerializer(selectors.turn_view(turn.pk)).data,
        status=202 if is_new else 200,
        headers={"Location": reverse("api:turn", args=[turn.pk])},
    )


class Nothing(View):
    """Every other address under ``/api/``."""

    authentication_classes = []
    permission_classes = [AllowAny]
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Say that there is nothing, whatever the method."""
        raise NotFound("There is nothing at this address. Addresses of the API end in a slash.")
