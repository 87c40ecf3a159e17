"""The door of the staff pages: the form for a password, the steps after it, and the way out.

A right password is not yet a login: allauth asks for a second factor first, where an account has
one, for whom the provider has sent (:mod:`ieim.people.openid`) as for who knows a password.
"""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ieim.people import addresses, openid, resetting
from ieim.people.models import User


class LogIn(LoginView):
    """The form, and the way to the OpenID provider."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return what the page shows: which ways there are."""
        ways = {
            "passwords": settings.IEIM_PASSWORDS,
            "forgotten": resetting.offered(),
            "openid": settings.IEIM_OPENID["ISSUER"] and settings.IEIM_OPENID["NAME"],
        }
        return super().get_context_data(**kwargs, **ways)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Take a password. Raises PermissionDenied where nobody signs in with one."""
        if not settings.IEIM_PASSWORDS:
            raise PermissionDenied
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Go on to what else is asked of the account, or into it."""
        user = form.get_user()
        response: HttpResponse = perform_login(
            self.request, user, redirect_url=self.get_success_url()
        )
        return response


class LogOut(LogoutView):
    """The way out: here, and then at the OpenID provider for who has come from there."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """End the session here, whatever becomes of the other one."""
        address = openid.way_out(request)
        response = super().post(request, *args, **kwargs)
        if address:
            # A page that leads there: browsers hold the redirect of a form against form-action.
            context = {"address": address, "provider": settings.IEIM_OPENID["NAME"]}
            response = render(request, "registration/leaving.html", context)
        response.headers["Clear-Site-Data"] = '"cache", "storage"'  # drafts, too
        return response


class Steps(DefaultAccountAdapter):
    """What allauth asks the site."""

    def login(self, request: HttpRequest, user: User) -> None:
        """Log somebody in, by the one backend that knows accounts: axes' only counts."""
        user.backend = "django.contrib.auth.backends.ModelBackend"
        super().login(request, user)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that a request is counted by."""
        return addresses.of_request(request) or "::"

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Say nothing: the page that follows shows what has become of it."""
