"""What every resource of the API shares: the token, strict JSON in, JSON or problems out."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from conversations import page_languages, selectors
from conversations.api.errors import LengthRequired, Problem, TooLarge, handle
from conversations.chat.wording import words
from conversations.models import Session, Turn
from conversations.turns import limits
from ieim.administration import selectors as administration
from ieim.people import addresses
from ieim.pipeline.gate import strict_json

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

SCHEME = "Bearer"
NO_SESSION = "This token opens no session: it is wrong, or the session was erased."
MAX_BODY = 32 * 1024
"""Bytes of a body that are read: the longest message has room, with every character escaped."""


def bearer_token(request: Request) -> str | None:
    """Return the token of the ``Authorization`` header, None when it has none."""
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == SCHEME.lower() else None


class BearerAuthentication(BaseAuthentication):
    """Puts the session of the token into ``request.auth``. Never looks at cookies."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Session] | None:
        """Return the session of the token, None without one; raises AuthenticationFailed."""
        token = bearer_token(request)
        if token is None:
            return None
        session = selectors.session_for_token(token)
        if session is None:
            raise AuthenticationFailed(NO_SESSION)
        return AnonymousUser(), session

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped hook
    """How the OpenAPI document names it."""

    target_class = "conversations.api.base.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        description = "The token that `POST /api/v1/sessions/` told."
        return {"type": "http", "scheme": "bearer", "description": description}


class HasSession(BasePermission):
    """Whoever has brought the token of a session."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, Session)


class NewSessions(BaseThrottle):
    """Limits the sessions that one address may make. Messages are counted where they are taken."""

    seconds: int | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count one more; whether it is allowed."""
        self.seconds = limits.take("sessions", addresses.of_request(request))
        return self.seconds is None

    def wait(self) -> float | None:
        return self.seconds


class StrictJSONParser(BaseParser):
    """JSON as RFC 8259 has it, in UTF-8 whatever the request says, with every key once."""

    media_type = "application/json"
    limit = MAX_BODY

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the object; raises TooLarge or ParseError."""
        body = stream.read(self.limit + 1)
        if len(body) > self.limit:
            raise TooLarge(f"The body is too large. Send no more than {self.limit // 1024} KiB.")
        if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ParseError("The body is in UTF-16: send it in UTF-8.")
        # RFC 8259 lets a reader pass over the mark that some clients put first.
        text = body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
        parsed, findings = strict_json.parse(text)
        if parsed is None:
            error = ParseError(
                "The body is not one JSON object in UTF-8, or has a key twice, a NUL or half a "
                "surrogate pair in it, a number out of range, or more than 32 levels."
            )
            pointers = dict.fromkeys(finding.path for finding in findings if finding.path)
            error.errors = [  # type: ignore[attr-defined]  # for the exception handler
                {"pointer": pointer, "detail": "This value cannot be used."} for pointer in pointers
            ]
            raise error
        return parsed


class JSONOnly(BaseContentNegotiation):
    """Always JSON, whatever ``Accept`` asks for: there is nothing else to choose from."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        """Return the parser when the body says that it is JSON."""
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        return parsers[0] if media_type == parsers[0].media_type else None

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the only renderer."""
        return renderers[0], renderers[0].media_type


class View(APIView):
    """A resource: JSON in, JSON or problem details out, the token of a session to open it."""

    authentication_classes: Any = [BearerAuthentication]
    permission_classes: Any = [HasSession]
    parser_classes = [StrictJSONParser]
    renderer_classes = [JSONRenderer]
    content_negotiation_class = JSONOnly
    http_method_names = ["get", "head", "post", "put", "delete"]

    def get_exception_handler(self) -> Any:
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
        name = request.resolver_match.view_name if request.resolver_match else ""
        # A question may tell of danger: where it is taken it is refused with its help lines.
        asks = request.method == "POST" and name in ("api:turns", "api:something_else")
        if name.startswith("api:") and not asks and administration.current().is_off("api"):
            raise Problem("switched-off", words(page_languages.current()).switched_off())
        super().initial(request, *args, **kwargs)

    def own_session(self, request: Request, session_id: UUID | None) -> Session:
        """Return the session of the token; any other one is not there, so that no id leaks."""
        session = request.auth
        if not isinstance(session, Session) or session.pk != session_id:
            raise Http404
        return session

    def session_of_turn(self, request: Request, turn_id: UUID) -> Session:
        """Return the session of the token where the turn is one of it; raises Http404."""
        turn = Turn.objects.filter(pk=turn_id).only("session_id").first()
        return self.own_session(request, turn.session_id if turn else None)
