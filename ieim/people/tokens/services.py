"""Writes: making, using and revoking tokens, each with its audit event."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from ieim.audit.audited import moved
from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people.audited import TOKEN, rows_of
from ieim.people.models import EVERY_AGENCY, Token, User
from ieim.people.scope import agencies_of
from ieim.people.tokens import selectors
from ieim.people.tokens.scopes import offered

MAY_MAKE = "people.add_token"
MARK = "ieim_"
"""The prefix of every token, by which programs that look for leaked secrets recognise one."""
MAX_DAYS = 365
"""The longest life of a token in days."""
SEEN_INTERVAL = timedelta(minutes=1)
"""The time between two updates of when a token was last used."""
_LETTERS = "abcdefghjkmnpqrstvwxyz23456789"


class Refused(Exception):
    """A token that is not made, or is not valid; the message says why and what to do."""


def make(
    *, by: User, name: str, scopes: Iterable[str], agencies: Iterable[str], days: int
) -> tuple[Token, str]:
    """Make a token that acts for ``by``; return it with its text, which is stored nowhere.

    ``agencies`` are ids, or :data:`EVERY_AGENCY`; ``days`` are 1 to :data:`MAX_DAYS`.

    Raises:
        Refused: ``by`` lacks a scope or an agency, or a value is out of range.
        PermissionDenied: ``by`` may make no tokens.
    """
    scopes, agencies, name = sorted(set(scopes)), sorted(set(agencies)), name.strip()
    if not by.has_perm(MAY_MAKE):
        raise PermissionDenied
    if not 0 < len(name) <= 100 or "\0" in name:
        raise Refused(gettext("Name the program in up to 100 characters."))
    if not scopes or set(scopes) - set(offered(by)):
        raise Refused(gettext("Choose one or more of the things that you may do yourself."))
    allowed = agencies_of(by)
    if not agencies or not (
        EVERY_AGENCY in agencies or allowed is None or set(agencies) <= allowed
    ):
        raise Refused(gettext("Choose one or more of your own agencies."))
    if not 1 <= days <= MAX_DAYS:
        raise Refused(gettext("Let it end after 1 to {days} days.").format(days=MAX_DAYS))
    prefix = MARK + "".join(secrets.choice(_LETTERS) for _ in range(8))
    text, now = f"{prefix}_{secrets.token_urlsafe(32)}", timezone.now()
    with transaction.atomic():
        token = Token.objects.create(
            user=by,
            name=name,
            prefix=prefix,
            sha256=_digest(text),
            scopes=scopes,
            agencies=agencies,
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
        details: dict[str, JSONValue] = {
            "scopes": [*scopes],
            "agencies": [*agencies],
            "days": days,
        }
        _record("people.token_made", token, by.actor, details, rows=[TOKEN.row(token)])
    return token, text


@transaction.atomic
def revoke(*, token_id: UUID, by: User) -> Token:
    """End a token for good. A token that has ended stays as it is.

    Raises:
        Token.DoesNotExist: there is no such token that ``by`` may revoke.
    """
    token = selectors.listed(by).select_for_update(of=("self",)).get(pk=token_id)
    if token.revoked_at is None:
        _revoke(token, by)
    return token


@transaction.atomic
def end(user: User, *, by: User | None) -> None:
    """End all tokens of an account; ``by`` is None for the system."""
    for token in Token.objects.select_for_update().filter(user=user, revoked_at=None):
        _revoke(token, by)


def _revoke(token: Token, by: User | None) -> None:
    before = rows_of(TOKEN, Q(pk=token.pk))
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    changed = moved(before, rows_of(TOKEN, Q(pk=token.pk)))
    _record("people.token_revoked", token, by.actor if by else "system", **changed)


def find(text: str) -> Token | None:
    """Return the token with this text, ended or not, None if there is none."""
    return Token.objects.select_related("user").filter(sha256=_digest(text)).first()


def require_valid(token: Token) -> None:
    """Check that a token still acts.

    Raises:
        Refused: the token has ended, its owner may have none any more, or has not logged in at the
            OpenID provider within the longest time of a session.
    """
    now, user = timezone.now(), token.user
    if token.revoked_at is not None:
        raise Refused(gettext("This token was revoked. Make another one at /staff/tokens/."))
    if token.expires_at <= now:
        raise Refused(gettext("This token has expired. Make another one at /staff/tokens/."))
    if not user.has_perm(MAY_MAKE):
        raise Refused(gettext("The account that this token acts for may have no tokens any more."))
    confirmed_after = now - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    if SocialAccount.objects.filter(user=user, last_login__lte=confirmed_after).exists():
        raise Refused(
            gettext(
                "The rights of this token have to be confirmed. Have {name}, for whom it acts, log"
                " in at /staff/login/; it goes on then."
            ).format(name=user.get_username())
        )


def use(token: Token) -> User:
    """Return the owner of a token, limited to its scopes and agencies.

    Stores when it was used, and records the first use of a day (UTC). Raises as
    :func:`require_valid` does.
    """
    require_valid(token)
    now, user = timezone.now(), token.user
    user.limits = selectors.limits_of(token)
    last = token.last_used_at
    if last is None or now - last >= SEEN_INTERVAL:
        with transaction.atomic():
            # Of several requests at once only one updates the row.
            updated = Token.objects.filter(pk=token.pk, last_used_at=last).update(last_used_at=now)
            if updated and (last is None or last.date() != now.date()):
                _record("people.token_used", token, user.actor)
    return user


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _record(
    kind: str,
    token: Token,
    actor: str,
    details: Mapping[str, JSONValue] | None = None,
    **rows: Any,
) -> None:
    payload = {"token": token.prefix, "user": token.user_id, **(details or {})}
    record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=actor, **rows)
