"""Staff: the login of the site, and the rights of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from review import claims

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

SEE = "review.view_reviewitem"


class StaffLogin(SessionAuthentication):
    """The cookie of the staff's login; what changes something needs the CSRF token as well."""

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 says in ``WWW-Authenticate``: without it, it would be a 403."""
        return "Session"


class MaySee(BasePermission):
    """Whoever may see the queue."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether they may."""
        return request.user.has_perm(SEE)


class MayDecide(BasePermission):
    """Whoever may claim and decide."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether they may."""
        return request.user.has_perm(claims.DECIDE)


class StaffLoginScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document names it."""

    target_class = "review.api.authentication.StaffLogin"
    name = ["staff", "csrf"]

    def get_security_definition(self, auto_schema: AutoSchema) -> Any:
        """Return the security schemes, in the order of their names."""
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
        """Return what an operation needs: the token only where it changes something."""
        reads = auto_schema.method in ("GET", "HEAD")
        return {name: [] for name in self.name[: 1 if reads else 2]}
