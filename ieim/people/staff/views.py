"""The pages of accounts: the list, one account, a new one, and its ways in."""

from __future__ import annotations

from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ieim.people import factors, passwords, reauthentication, sessions
from ieim.people.access import member
from ieim.people.accounts import account_of, refusal
from ieim.people.models import User
from ieim.people.selectors import sole_giver
from ieim.people.services import NotAllowed
from ieim.people.staff import selectors, services
from ieim.people.staff.forms import AccountForm

PAGE_SIZE = 25
MAX_SEARCH = 100
"""Characters of a search."""


@require_safe
def accounts(request: HttpRequest) -> HttpResponse:
    """List the accounts that a search has found, or all."""
    words = request.GET.get("q", "").strip()[:MAX_SEARCH]
    page = Paginator(selectors.listed(words), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": selectors.rows(page),
        "q": words,
        "query": urlencode({"q": words}) + "&" if words else "",
    }
    return render(request, "people/accounts.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Add an account and send its owner a link, or show the link once: 201."""
    by = member(request)
    form = AccountForm(by, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        is_mailed = bool(
            passwords.can_reset() and form.cleaned_data["email"] and "show" not in request.POST
        )
        if settings.IEIM_PASSWORDS and not is_mailed:
            reauthentication.require(request)
        user = _save(form, by)
        if user is not None:
            messages.success(request, gettext("The account is there."))
            if not settings.IEIM_PASSWORDS:
                return _see(user)
            return _mail_link(request, user) if is_mailed else _show_link(request, user)
    return _page(request, form, status=422 if request.method == "POST" else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest, account: int) -> HttpResponse:
    """Show or change an account; 422 with what is wrong. Another address takes a fresh login."""
    by, user = member(request), get_object_or_404(User, pk=account)
    if request.method != "POST":
        return _page(request, AccountForm(by, instance=user))
    _require_rule(by, user)
    form = AccountForm(by, request.POST, instance=user)
    if form.is_valid():
        if "email" in form.changed_data:
            reauthentication.require(request)
        if _save(form, by):
            messages.success(request, gettext("Saved."))
            return _see(user)
    return _page(request, form, status=422)


@require_POST
def link(request: HttpRequest, account: int) -> HttpResponse:
    """Send the owner a link to set a password (``way`` is ``mail``), or show it once: 201."""
    user = _other(request, account)
    reauthentication.require(request)
    is_mailed = request.POST.get("way") == "mail"
    return _mail_link(request, user) if is_mailed else _show_link(request, user)


@require_POST
def remove_factors(request: HttpRequest, account: int) -> HttpResponse:
    """Remove the second factors of somebody who has lost theirs."""
    user = _other(request, account)
    reauthentication.require(request)
    factors.remove(user, by=member(request))
    messages.success(request, gettext("The second factor is taken away."))
    return _see(user)


@require_POST
def end_sessions(request: HttpRequest, account: int) -> HttpResponse:
    """End all sessions of an account."""
    user = _other(request, account)
    rows = UserSession.objects.filter(user=user)
    sessions.end(rows, user=user, reason="revoked", by=member(request))
    messages.success(request, gettext("All sessions are ended."))
    return _see(user)


def _require_rule(by: User, user: User) -> None:
    """Raise PermissionDenied for an account of which ``by`` may change nothing."""
    stored = account_of(user.pk)
    if reason := refusal(by, stored, stored):
        raise PermissionDenied(reason)


def _other(request: HttpRequest, pk: int) -> User:
    """Return the account of somebody else whose ways in the user may change.

    Raises:
        PermissionDenied: the rule refuses it.
        ImmediateHttpResponse: it is the user's own, for which there are other pages.
    """
    by, user = member(request), get_object_or_404(User, pk=pk)
    _require_rule(by, user)
    if user.pk == by.pk:
        messages.error(request, gettext("This is your own account: use the page behind your name."))
        raise ImmediateHttpResponse(_see(user))
    return user


def _save(form: AccountForm, by: User) -> User | None:
    """Save the account of a valid form and return it, None with an error in the form."""
    chosen = {name: form.cleaned_data[name] for name in ("version", "roles", "agencies")}
    try:
        return services.save(by=by, user=form.instance, **chosen)
    except NotAllowed as refused:
        form.add_error(None, str(refused))
    except services.Changed:
        message = gettext("Somebody else has changed this account meanwhile. Open it again.")
        form.add_error(None, message)
    return None


def _mail_link(request: HttpRequest, user: User) -> HttpResponse:
    try:
        passwords.send_link(user=user, by=member(request))
    except passwords.LinkNotSent as error:
        messages.error(request, str(error))
    else:
        sentence = gettext("A link to choose a password went to {address}.")
        messages.success(request, sentence.format(address=user.email))
    return _see(user)


@sensitive_variables("url")
def _show_link(request: HttpRequest, user: User) -> HttpResponse:
    """Show a link once. No redirect: it would have to be stored until the next page shows it."""
    by = member(request)
    try:
        url = passwords.show_link(user=user, by=by)
    except passwords.LinkNotSent as error:
        messages.error(request, str(error))
        return _see(user)
    public = settings.IEIM_PUBLIC_URL
    url = f"{public}{url}" if public else request.build_absolute_uri(url)
    return _page(request, AccountForm(by, instance=user), status=201, link=url)


def _see(user: User) -> HttpResponse:
    response = redirect("people:account", user.pk)
    response.status_code = 303
    return response


def _page(request: HttpRequest, form: AccountForm, status: int = 200, **extra: Any) -> HttpResponse:
    by, user = member(request), User.objects.filter(pk=form.instance.pk).first()
    context: dict[str, Any] = {
        "form": form,
        "may_mail": passwords.can_reset(),
        "has_passwords": settings.IEIM_PASSWORDS,
        **extra,
    }
    if user is not None:
        [row] = selectors.rows([user])
        context |= {
            "account": user,
            "row": row,
            "factors": selectors.factors_of(user),
            "needs_factor": factors.is_needed(user),
            "sessions": UserSession.objects.filter(user=user).count(),
            "provider": settings.IEIM_OPENID["NAME"] if row.is_provided else "",
            "sole_giver": sole_giver(user, timezone.now()).partition(":")[2],
            "is_other": user.pk != by.pk,
        }
    return render(request, "people/account.html", context, status=status)


app_name = "people"
urlpatterns = [
    path("", accounts, name="accounts"),
    path("new/", new, name="new"),
    path("<int:account>/", account, name="account"),
    path("<int:account>/link/", link, name="link"),
    path("<int:account>/factors/", remove_factors, name="factors"),
    path("<int:account>/sessions/", end_sessions, name="sessions"),
]
