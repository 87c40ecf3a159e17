"""Reauthentication, before a way into an account changes."""

from __future__ import annotations

from allauth.account import app_settings
from allauth.account.internal.flows.reauthentication import (
    get_reauthentication_flows,
    raise_if_reauthentication_required,
)
from allauth.core.exceptions import ImmediateHttpResponse, ReauthenticationRequired
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from ieim.people.models import User

BEGAN = "staff_began"
"""The key in a session of its beginning, in seconds since 1970."""


def require(request: HttpRequest) -> None:
    """Have the user reauthenticate unless they just have; a form is sent again after it.

    Raises:
        ReauthenticationRequired: the user has a password or a second factor here.
        ImmediateHttpResponse: the user logs in again at the OpenID provider.
    """
    try:
        raise_if_reauthentication_required(request, app="")
    except ReauthenticationRequired:
        # Allauth sends a form again only to an address without a query: one that was opened from
        # a filtered list would be lost.
        request.META["QUERY_STRING"] = ""
        raise
    response = at_provider(request)
    if response is not None:
        raise ImmediateHttpResponse(response)


def at_provider(request: HttpRequest) -> HttpResponse | None:
    """Return a redirect to the OpenID provider for a user who can reauthenticate only there, None
    if they just have.

    Allauth demands nothing of an account with neither a password nor a second factor.
    """
    user = request.user
    if not isinstance(user, User) or get_reauthentication_flows(user):
        return None
    age = timezone.now().timestamp() - request.session.get(BEGAN, 0)
    if not settings.IEIM_OPENID["ISSUER"] or age < app_settings.REAUTHENTICATION_TIMEOUT:
        return None
    if not SocialAccount.objects.filter(user=user).exists():
        return None
    return redirect(f"{reverse('openid_begin')}?{urlencode({'next': request.get_full_path()})}")
