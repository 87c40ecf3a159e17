"""Sessions of staff: their storage, their end, and the page that lists them.

django-allauth keeps a row for each session (``usersessions``); the session itself is Django's, in
the database, both under a digest of its key. A session that is ended opens nothing from the next
request on. An open page polls, and is then redirected to the login; its socket is closed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user, logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from ieim.people import factors, languages
from ieim.people.access import BEARER, EVERYBODY, member, required_permission
from ieim.people.audited import record_of
from ieim.people.models import User
from ieim.people.reauthentication import BEGAN

DIGEST_LENGTH = 40
"""Characters of a digest, the width of the columns of Django and allauth; a key has 32."""
_SEEN = "staff_seen"
_SEEN_INTERVAL = 60
"""Seconds between two updates of when a session was last used."""
_EDITED = ("editor:", "notices:add", "knowledge:comment", "webpages:take")
"""How the names of forms begin that are shown again as they were posted when the session had
ended."""
_UNSAVED = "staff_unsaved"
_UNSAVED_SECONDS = 3600
_POLLED = frozenset(
    f"review:{name}" for name in ("queue_changes", "talk", "held", "renew", "board_alerts")
)
"""Addresses that an open page requests by itself: they do not count as use, and nor does what htmx
loads by GET, also from an address that has a page."""


def key_digest(key: str) -> str:
    """Return the first 160 bits of a key's SHA-256 in hex; a key is random, so none is guessed."""
    return hashlib.sha256(key.encode()).hexdigest()[:DIGEST_LENGTH]


class SessionStore(DatabaseStore):
    """Django's store with digests of keys: nobody who reads the tables can open a session."""

    key_salt = "django.contrib.sessions.SessionStore"  # by default the name of the class

    # The asynchronous methods of the database store would store keys in clear.
    aload, asave, acreate = SessionBase.aload, SessionBase.asave, SessionBase.acreate
    aexists, adelete = SessionBase.aexists, SessionBase.adelete

    def stored_key(self, key: str) -> str:
        """Return the value in the table for a key."""
        return key_digest(key)

    def _get_session_from_db(self) -> Any:
        key = self.stored_key(self.session_key or "")
        row = self.model.objects.filter(session_key=key, expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
        return row

    def exists(self, session_key: str) -> bool:
        return super().exists(self.stored_key(session_key))

    def create_model_instance(self, data: Any) -> Any:
        row = super().create_model_instance(data)
        row.session_key = self.stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key:
            super().delete(self.stored_key(key))


class DigestStore(SessionStore):
    """The same sessions by their digests, as allauth's rows name them."""

    def stored_key(self, key: str) -> str:
        return key


# Allauth would store the key itself, which opens the session.
UserSession._meta.get_field("session_key").get_prep_value = lambda key: (
    key if len(key) == DIGEST_LENGTH else key_digest(key)
)
UserSession._session_store = lambda _, *keys: DigestStore(*keys)


class SessionTimeoutMiddleware(MiddlewareMixin):
    """End sessions that are too old or have not been used for too long."""

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> None:
        """End the session if its time is over, or store that it is in use."""
        name = request.resolver_match.view_name if request.resolver_match else ""
        if required_permission(name) in (EVERYBODY, BEARER) or not isinstance(request.user, User):
            return
        now, session = int(timezone.now().timestamp()), request.session
        began, seen = session.get(BEGAN, now), session.get(_SEEN, 0)
        idle = seen and now - seen >= settings.IEIM_SESSION_IDLE_SECONDS
        if idle or now - began >= settings.SESSION_COOKIE_AGE:
            rows = UserSession.objects.filter(session_key=session.session_key)
            unsaved = _unsaved(request, request.user) if name.startswith(_EDITED) else None
            end(rows, user=request.user, reason="idle" if idle else "age")
            logout(request)
            if unsaved:
                request.session[_UNSAVED] = unsaved  # the login keeps what is in it
        elif now - seen >= _SEEN_INTERVAL and not _is_poll(request, name):
            session[BEGAN], session[_SEEN] = began, now
            UserSession.objects.create_from_request(request)


def _is_poll(request: HttpRequest, name: str) -> bool:
    return name in _POLLED or (request.method == "GET" and "HX-Request" in request.headers)


def user_of(key: str | None) -> User | None:
    """Return who is logged in in a session as the staff's pages would take it, None for nobody.

    For a websocket: it is no use of the session.
    """
    request, now = HttpRequest(), timezone.now().timestamp()
    request.session = SessionStore(key)
    request.user = user = get_user(request)
    began, seen = request.session.get(BEGAN, now), request.session.get(_SEEN, now)
    over = now - seen >= settings.IEIM_SESSION_IDLE_SECONDS
    over = over or now - began >= settings.SESSION_COOKIE_AGE
    return None if over or factors.missing(request) or not isinstance(user, User) else user


def _unsaved(request: HttpRequest, user: User) -> dict[str, Any] | None:
    if request.method != "POST" or "HX-Request" in request.headers:
        return None
    fields = {n: v for n, v in request.POST.lists() if n != "csrfmiddlewaretoken"}
    at = int(timezone.now().timestamp())
    return {"user": user.pk, "path": request.get_full_path(), "fields": fields, "at": at}


def has_unsaved(request: HttpRequest) -> bool:
    """Whether something waits for :func:`take_unsaved`."""
    return _UNSAVED in request.session


def take_unsaved(request: HttpRequest, url: str = "") -> QueryDict | None:
    """Return the fields that the user posted to ``url``, by default this address, when their
    session had ended, once, and tell the user.

    None after :data:`_UNSAVED_SECONDS`, or where somebody else has logged in.
    """
    stored = request.session.get(_UNSAVED)
    if stored is None or stored["path"] != (url or request.get_full_path()):
        return None
    del request.session[_UNSAVED]
    age = timezone.now().timestamp() - stored["at"]
    if stored["user"] != request.user.pk or age > _UNSAVED_SECONDS:
        return None
    fields = QueryDict(mutable=True)
    for name, values in stored["fields"].items():
        fields.setlist(name, values)
    message = gettext("You were logged out before this was saved. It is here again: save it.")
    messages.warning(request, message)
    return fields


@transaction.atomic
def end(sessions: Iterable[UserSession], *, user: User, reason: str, by: User | None = None) -> int:
    """End sessions of a user, record it, and return their number; ``by`` is None for the system.

    The caller checks whether ``by`` may do so.
    """
    rows = list(sessions)
    for row in rows:
        pk, actor = row.pk, by.actor if by else "system"
        DigestStore().delete(row.session_key)
        row.delete()
        record_of(user, "people.session_ended", actor=actor, session=pk, why=reason)
    return len(rows)


@require_http_methods(["GET", "POST"])
def session_list(request: HttpRequest) -> HttpResponse:
    """List the user's sessions, or end one (``end`` is its number) or all others."""
    user = member(request)
    rows = UserSession.objects.filter(user=user)
    if request.method == "GET":
        active = UserSession.objects.purge_and_list(user)
        context = {
            "sessions": sorted(active, key=lambda row: row.last_seen_at, reverse=True),
            "languages": languages.choices(user),
            "current": key_digest(request.session.session_key or ""),
        }
        return render(request, "registration/sessions.html", context)
    choice = request.POST.get("end", "")
    if choice == "others":
        others = rows.exclude(session_key=request.session.session_key)
        end(others, user=user, reason="revoked", by=user)
    elif choice.isdecimal() and len(choice) < 19:
        end(rows.filter(pk=int(choice)), user=user, reason="revoked", by=user)
    return redirect("sessions")


@receiver(user_logged_in)
def _begin(*, request: HttpRequest, **kwargs: Any) -> None:
    request.session[BEGAN] = request.session[_SEEN] = int(timezone.now().timestamp())
