"""Forms of staff whose CSRF token is the browser's no more: another tab has logged in since."""

from __future__ import annotations

from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.views.csrf import csrf_failure

_STALE = "CSRF token"
"""How Django begins to say that a token is missing or wrong, its other checks having passed."""
_LOGIN = frozenset({"login", "account_login", "mfa_authenticate"})


def refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Lead on who has logged in already, and give back what was written, to be sent once more.

    What another site may have sent, and what no cookie came with, gets the page that says so.
    """
    name = request.resolver_match.view_name if request.resolver_match else ""
    # Over TLS Django has looked at the origin or the referrer by now.
    is_own = "Origin" in request.headers or request.is_secure()
    if not (is_own and reason.startswith(_STALE)):
        return csrf_failure(request, reason)
    is_in = request.user.is_authenticated
    if name in _LOGIN:
        place = get_next_redirect_url(request) or resolve_url(settings.LOGIN_REDIRECT_URL)
        return HttpResponseRedirect(place if is_in else request.get_full_path(), status=303)
    if not is_in and name in ("logout", "account_logout", "admin:logout"):
        return HttpResponseRedirect(resolve_url("login"), status=303)
    if not is_in:
        return csrf_failure(request, reason)
    fields = request.POST.copy()
    fields.pop("csrfmiddlewaretoken", None)
    has_secret = any("password" in field or field == "code" for field in fields)
    sent = [(field, value) for field, values in fields.lists() for value in values]
    context = {"sent": sent, "may_send": not (has_secret or request.FILES)}
    return render(request, "registration/stale_form.html", context, status=403)
