"""The basis of staff's resources: login or token, who may what, and versions as ETags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.utils.http import parse_etags
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import APIException, AuthenticationFailed, Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from conversations.api import base
from conversations.turns import limits
from ieim.people import addresses
from ieim.people.access import allows
from ieim.people.models import Token, User
from ieim.people.tokens import services as tokens

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema


class Changed(APIException):
    """412: the thing is not what the client has seen."""

    status_code = 412
    default_detail = "It has changed since you read it. Read it again before you change it."


class NoVersion(APIException):
    """428: the client does not say what it has seen."""

    status_code = 428
    default_detail = "Send the ETag as If-Match: it says which version you have seen."


def etag(version: int) -> str:
    """Return a version as an entity tag (RFC 9110)."""
    return f'"{version}"'


def seen_version(request: Request) -> int:
    """Return the version in ``If-Match``; ``*`` is no version.

    Raises :class:`NoVersion` without ``If-Match`` and :class:`Changed` for what is no version.
    """
    if "If-Match" not in request.headers:
        raise NoVersion
    for tag in parse_etags(request.headers["If-Match"]):
        digits = tag.strip('"')
        if tag.startswith('"') and digits.isascii() and digits.isdigit() and len(digits) < 10:
            return int(digits)
    raise Changed


UNKNOWN = "There is no such token. Make one at /staff/tokens/."


class StaffToken(BaseAuthentication):
    """A token of a staff program (:mod:`ieim.people.tokens`). Beside one no cookie counts."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        """Return whom the token acts for, None without one.

        Raises Throttled above the limit, of the token or of an address with a wrong one, and
        AuthenticationFailed for one that opens nothing.
        """
        text = base.bearer_token(request)
        if text is None:
            return None
        token = tokens.find(text)
        client = str(token.pk) if token else addresses.of_request(request)
        seconds = limits.take("tokens", client)
        if seconds is not None:
            raise Throttled(seconds)
        if token is None:
            raise AuthenticationFailed(UNKNOWN)
        try:
            return tokens.use(token), token
        except tokens.Refused as refused:
            raise AuthenticationFailed(str(refused)) from refused

    def authenticate_header(self, request: Request) -> str:
        """Return ``WWW-Authenticate`` of a 401: without it, it would be a 403."""
        return f"{base.SCHEME}, Session"


class StaffLogin(SessionAuthentication):
    """The cookie of the staff's login; what changes something needs the CSRF token as well."""


class Listed(BasePermission):
    """Whoever :mod:`ieim.people.access` lets in."""

    message = "You may not do this, or the token that you use is not for it."

    def has_permission(self, request: Request, view: Any) -> bool:
        match = request.resolver_match
        return match is not None and allows(request.user, match.view_name, request.method or "")


class StaffView(base.View):
    """A resource for staff."""

    authentication_classes = [StaffToken, StaffLogin]
    permission_classes = [Listed]

    @property
    def user(self) -> User:
        # The permissions let nobody in who is not logged in.
        return cast(User, self.request.user)


class StaffTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document names it."""

    target_class = "ieim.studio.api.staff.StaffToken"
    name = "staff_token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        description = "A token that was made at `/staff/tokens/`; it acts for its maker."
        return {"type": "http", "scheme": "bearer", "description": description}


class StaffLoginScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document names it."""

    target_class = "ieim.studio.api.staff.StaffLogin"
    name = ["staff", "csrf"]

    def get_security_definition(self, auto_schema: AutoSchema) -> Any:
        return [
            {
                "type": "apiKey",
                "in": "cookie",
                "name": settings.SESSION_COOKIE_NAME,
                "description": "The cookie of the login at `/staff/login/`.",
            },
            {
                "type": "apiKey",
                "in": "header",
                "name": "X-CSRFToken",
                "description": f"The value of the cookie `{settings.CSRF_COOKIE_NAME}`.",
            },
        ]

    def get_security_requirement(self, auto_schema: AutoSchema) -> Any:
        # The token is needed only where something is changed.
        reads = auto_schema.method in ("GET", "HEAD")
        return {name: [] for name in self.name[: 1 if reads else 2]}
