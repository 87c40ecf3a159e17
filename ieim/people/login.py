"""Login and logout of staff: the views, the hooks of django-allauth, and the audit events.

A correct password is not yet a login: allauth first asks for a second factor if the account has
one, also after a login at the OpenID provider (:mod:`ieim.people.openid`).
"""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib.auth import signals
from django.contrib.auth import views as auth_views
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import PermissionDenied
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ieim.people import addresses, openid, passwords, sessions
from ieim.people.audited import record_of
from ieim.people.models import User


class LoginView(auth_views.LoginView):
    """The form for a password, and the link to the OpenID provider."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        methods = {
            "passwords": settings.IEIM_PASSWORDS,
            "forgotten": passwords.can_reset(),
            "openid": settings.IEIM_OPENID["ISSUER"] and settings.IEIM_OPENID["NAME"],
            "is_kept": sessions.has_unsaved(self.request),
        }
        return super().get_context_data(**kwargs, **methods)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log in. Raises PermissionDenied if passwords are switched off."""
        if not settings.IEIM_PASSWORDS:
            raise PermissionDenied
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Continue with allauth's steps after the password."""
        url = self.get_success_url()
        response: HttpResponse = perform_login(self.request, form.get_user(), redirect_url=url)
        return response


class LogoutView(auth_views.LogoutView):
    """Logout here, and then at the OpenID provider if the user has logged in there."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """End the session here, whatever becomes of the one at the provider."""
        url = openid.logout_url(request)
        response = super().post(request, *args, **kwargs)
        if url:
            # A page that redirects: browsers apply form-action to the redirect of a form.
            context = {"address": url, "provider": settings.IEIM_OPENID["NAME"]}
            response = render(request, "registration/leaving.html", context)
        response.headers["Clear-Site-Data"] = '"cache", "storage"'  # also drafts
        return response


class AccountAdapter(DefaultAccountAdapter):
    """Site-specific hooks of django-allauth."""

    def login(self, request: HttpRequest, user: User) -> None:
        """Log in by the only backend that loads accounts: that of axes only counts."""
        user.backend = "django.contrib.auth.backends.ModelBackend"
        super().login(request, user)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address for rate limits."""
        return addresses.of_request(request) or "::"

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Add no message: the next page shows the result."""


@receiver(signals.user_logged_in)
def _record_login(*, user: User, **kwargs: Any) -> None:
    record_of(user, "people.logged_in")


@receiver(signals.user_logged_out)
def _record_logout(*, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        record_of(user, "people.logged_out")


@receiver(signals.user_login_failed)
def _record_failure(*, credentials: dict[str, Any], **kwargs: Any) -> None:
    """Record the account, but no other name: people type passwords into the field for it."""
    name = str(credentials.get(User.USERNAME_FIELD) or "")
    # No username has a NUL, and PostgreSQL cannot look for one.
    user = None if "\x00" in name else User.objects.filter(username=name).first()
    record_of(user, "people.login_failed", actor="system")
