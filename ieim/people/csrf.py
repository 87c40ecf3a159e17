"""Staff forms with an outdated CSRF token: another tab has logged in since they were opened."""

from __future__ import annotations

from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.views import csrf

from ieim.people.access import BEARER, EVERYBODY, required_permission, to_login

_STALE = "CSRF token"
"""The beginning of Django's reasons when only the token is missing or wrong."""
_LOGIN = frozenset({"login", "account_login", "mfa_authenticate"})
_LOGOUT = frozenset({"logout", "account_logout", "admin:logout"})


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Redirect a user who has logged in already, and return what was written, to be sent again.

    Who has no cookie any more is asked to log in, if the form is of a page for staff. Any other
    request from another site, or without a cookie, gets Django's page.
    """
    name = request.resolver_match.view_name if request.resolver_match else ""
    # Over TLS Django has checked the origin or the referrer before the token.
    is_same_site = "Origin" in request.headers or request.is_secure()
    is_logged_in = request.user.is_authenticated
    is_staffs = required_permission(name) not in (None, EVERYBODY, BEARER)
    has_cookie = settings.CSRF_COOKIE_NAME in request.COOKIES
    if not (is_logged_in or has_cookie) and (is_staffs or name.startswith("admin:")):
        return to_login(request)
    if not (is_same_site and reason.startswith(_STALE)):
        return csrf.csrf_failure(request, reason)
    if name in _LOGIN:
        url = get_next_redirect_url(request) or resolve_url(settings.LOGIN_REDIRECT_URL)
        return HttpResponseRedirect(url if is_logged_in else request.get_full_path(), status=303)
    if not is_logged_in and name in _LOGOUT:
        return HttpResponseRedirect(resolve_url("login"), status=303)
    if not is_logged_in:
        return csrf.csrf_failure(request, reason)
    fields = request.POST.copy()
    fields.pop("csrfmiddlewaretoken", None)
    has_secret = any("password" in field or field == "code" for field in fields)
    sent = [(field, value) for field, values in fields.lists() for value in values]
    context = {"sent": sent, "may_send": not (has_secret or request.FILES)}
    return render(request, "registration/stale_form.html", context, status=403)
