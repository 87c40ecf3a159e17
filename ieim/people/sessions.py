"""Sessions of staff: when they end by themselves, and the page that lists one's own and ends them.

Allauth keeps a row a session (its ``usersessions``); the session itself is Django's, in the
database, both by a digest of its key (``authentication/session_store.py``). So one that is ended
opens nothing from the next request on. Staff pages have no socket: what is open asks again every
four seconds at most, and is then led to the login.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.http import require_http_methods

from ieim.people.access import BEARER, EVERYBODY, member, needed
from ieim.people.audited import record_of
from ieim.people.authentication.reauthentication import BEGAN
from ieim.people.authentication.session_store import LENGTH, StoredSessions, digest
from ieim.people.models import User

_SEEN = "staff_seen"
_NOTED_EVERY = 60
"""Seconds between two notes that somebody is there."""
_BY_ITSELF = frozenset({"review:queue_changes", "review:talk", "review:held", "review:renew"})
"""What an open page asks by itself: nobody has to be there for it."""


def _as_stored(key: str) -> str:
    return key if len(key) == LENGTH else digest(key)


# Allauth would keep the key itself, with which anybody opens the session.
UserSession._meta.get_field("session_key").get_prep_value = _as_stored
UserSession._session_store = lambda _, *keys: StoredSessions(*keys)


class Ends(MiddlewareMixin):
    """Middleware: a session that is too old, or that nobody has used for too long, is over."""

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> None:
        """End the session where it is over; note that somebody is there where they are."""
        name = request.resolver_match.view_name if request.resolver_match else ""
        if needed(name) in (EVERYBODY, BEARER) or not isinstance(request.user, User):
            return
        now, session = int(timezone.now().timestamp()), request.session
        began, seen = session.get(BEGAN, now), session.get(_SEEN, 0)
        idle = seen and now - seen >= settings.IEIM_SESSION_IDLE_SECONDS
        if idle or now - began >= settings.SESSION_COOKIE_AGE:
            kept = UserSession.objects.filter(session_key=session.session_key)
            end(kept, of=request.user, why="idle" if idle else "age")
            logout(request)
        elif now - seen >= _NOTED_EVERY and name not in _BY_ITSELF:
            session[BEGAN], session[_SEEN] = began, now
            UserSession.objects.create_from_request(request)


@transaction.atomic
def end(sessions: Iterable[UserSession], *, of: User, why: str, by: User | None = None) -> int:
    """End sessions of somebody, and record it; returns how many there were.

    ``by`` is None for what ends by itself. Whether they may is the caller's to ask.
    """
    gone = list(sessions)
    for session in gone:
        number, actor = session.pk, by.actor if by else "system"
        StoredSessions().delete(session.session_key)
        session.delete()
        record_of(of, "people.session_ended", actor=actor, session=number, why=why)
    return len(gone)


@require_http_methods(["GET", "POST"])
def mine(request: HttpRequest) -> HttpResponse:
    """List one's own sessions, or end one (``end`` is its number) or all others."""
    me = member(request)
    own = UserSession.objects.filter(user=me)
    if request.method == "GET":
        shown = sorted(UserSession.objects.purge_and_list(me), key=lambda each: each.last_seen_at)
        context = {"sessions": shown[::-1], "current": digest(request.session.session_key or "")}
        return render(request, "registration/sessions.html", context)
    which = request.POST.get("end", "")
    if which == "others":
        end(own.exclude(session_key=request.session.session_key), of=me, why="revoked", by=me)
    elif which.isdecimal() and len(which) < 19:
        end(own.filter(pk=int(which)), of=me, why="revoked", by=me)
    return redirect("sessions")


@receiver(user_logged_in)
def _begin(*, request: HttpRequest, **kwargs: Any) -> None:
    request.session[BEGAN] = request.session[_SEEN] = int(timezone.now().timestamp())
