"""Bearer tokens: a session's secret opens that session, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from conversations import selectors
from conversations.models import Session

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

SCHEME = "Bearer"
NO_SESSION = "This token opens no session: it is wrong, or the session was erased."


def bearer_token(authorization: str) -> str | None:
    """Return the token of an ``Authorization`` header's value, None when it has none."""
    scheme, _, token = authorization.strip().partition(" ")
    return token.strip() or None if scheme.lower() == SCHEME.lower() else None


class BearerAuthentication(BaseAuthentication):
    """Puts the token's session into ``request.auth``. Never looks at cookies."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Session] | None:
        """Return the session of the token, None without one; raises AuthenticationFailed."""
        token = bearer_token(request.headers.get("Authorization", ""))
        if token is None:
            return None
        session = selectors.session_for_secret(token)
        if session is None:
            raise AuthenticationFailed(NO_SESSION)
        return AnonymousUser(), session

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 says in ``WWW-Authenticate``."""
        return SCHEME


class HasSession(BasePermission):
    """Whoever has brought a session's token."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether there is a session."""
        return isinstance(request.auth, Session)


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document names it."""

    target_class = "conversations.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """Return the security scheme."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "The token that `POST /api/v1/sessions/` told.",
        }
