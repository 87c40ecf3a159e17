"""Second factors: which roles need one, who has one, and how their secrets are kept.

Allauth has the pages and the steps: an authenticator app (TOTP), security keys and passkeys
(WebAuthn), recovery codes. A second factor is asked of whoever has set one up, and
:class:`ieim.people.access.Guard` opens nothing but its pages to whose role needs one and has none.
"""

from __future__ import annotations

import logging
import secrets
from base64 import b32encode, urlsafe_b64encode
from io import BytesIO
from typing import Any

import segno
from allauth.account.signals import user_logged_in
from allauth.mfa import app_settings
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
    authenticator_used,
)
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.utils import is_mfa_enabled
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

from ieim.audit.canonical import GONE
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people import post
from ieim.people.audited import FACTOR, record_of
from ieim.people.models import User

logger = logging.getLogger(__name__)

_AT_THE_PROVIDER = "second_factor_at_the_provider"
_SECRETS = ("secret", "seed")
"""What is kept of an app and of recovery codes."""


def missing(request: HttpRequest) -> bool:
    """Whether somebody's role needs a second factor that they have not: neither here nor, in this
    session, at the OpenID provider."""
    user, needing = request.user, settings.IEIM_MFA_ROLES
    if not needing or not isinstance(user, User) or request.session.get(_AT_THE_PROVIDER):
        return False
    needs = user.is_superuser or user.groups.filter(name__in=needing).exists()
    return bool(needs and not is_mfa_enabled(user))


@transaction.atomic
def remove(user: User, *, by: User) -> int:
    """Take all of somebody's second factors away, for who has lost theirs; returns how many.

    Whether ``by`` may is the caller's to ask (:func:`ieim.people.accounts.why_not`).
    """
    count, _ = Authenticator.objects.filter(user=user).delete()
    if count:
        record_of(user, "people.factor_removed", actor=by.actor, factor="all")
        _tell_owner(user)
    return int(count)


class Adapter(DefaultMFAAdapter):
    """What allauth asks the site: secrets are encrypted with the site's key."""

    def encrypt(self, text: str) -> str:
        return _keys().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a secret as it is used; with a key that is gone one that no code fits."""
        try:
            return _keys().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            logger.error("A second factor was encrypted with a key that is gone: set it up anew.")
            return b32encode(secrets.token_bytes(20)).decode()

    def build_totp_svg(self, url: str) -> str:
        """Return a QR code as a part of the page: its policy lets no data: address in."""
        picture = BytesIO()
        shape = {"scale": 5, "light": "#fff", "xmldecl": False, "svgns": False, "nl": False}
        segno.make(url, error="m").save(picture, kind="svg", **shape)
        return picture.getvalue().decode()


def _keys() -> MultiFernet:
    return MultiFernet(map(_key, (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)))


def _key(secret: str) -> Fernet:
    digest = salted_hmac("ieim.people.factors", "", secret=secret, algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(digest))


def _is_present(text: str) -> bool:
    try:
        _key(settings.SECRET_KEY).decrypt(text.encode())
    except InvalidToken:
        return False
    return True


@receiver(user_logged_in)
def _came_with_one(*, request: HttpRequest, sociallogin: Any = None, **kwargs: Any) -> None:
    """The provider says in ``amr`` (RFC 8176) that it has asked for more than one factor."""
    methods = getattr(sociallogin, "claims", {}).get("amr")
    request.session[_AT_THE_PROVIDER] = isinstance(methods, list) and "mfa" in methods


@receiver(authenticator_used)
@transaction.atomic
def _renew(*, authenticator: Authenticator, **kwargs: Any) -> None:
    """Encrypt with the present key what was encrypted with an earlier one."""
    # Read anew: what allauth passes does not know that a recovery code was just used.
    stored = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
    old = {name: stored.data[name] for name in _SECRETS if name in stored.data}
    old = {name: text for name, text in old.items() if not _is_present(text)}
    if old:
        stored.data |= {name: _keys().rotate(text.encode()).decode() for name, text in old.items()}
        stored.save(update_fields=["data"])


# Allauth saves outside a transaction: a factor and its event stand or fall together.
Authenticator.save = transaction.atomic(Authenticator.save)


def _mark_code_used(totp: TOTP, code: str) -> bool:
    """Return whether a code is new. It counts as used for as long as it could fit (RFC 6238, 5.2);
    allauth's own forgets it after one period of the tolerance's three."""
    seconds = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
    return cache.add(totp._get_used_cache_key(code), "y", timeout=seconds)


TOTP._mark_code_used = _mark_code_used


def _tell_owner(user: User) -> None:
    post.tell_owner(name=user.username, address=user.email, changed=gettext("the second factor"))


@receiver([pre_save, pre_delete], sender=Authenticator)
def _look(*, instance: Any, update_fields: Any = None, **signal: Any) -> None:
    """Note what is stored before it changes, so that no use hides that the database has another."""
    if update_fields == {"last_used_at"}:
        return
    stored = Authenticator.objects.select_for_update().filter(pk=instance.pk).first()
    instance.was = FACTOR.row(stored)[2] if stored else None


@receiver([post_save, post_delete], sender=Authenticator)
def _vouch(*, instance: Any, update_fields: Any = None, **signal: Any) -> None:
    """Record every change of a factor but its use; of what allauth does, nothing else tells all."""
    if update_fields == {"last_used_at"}:
        return
    kind, id_, digest = FACTOR.row(instance)
    known = {"user": instance.user_id, "factor": str(instance.type)}
    row = (kind, id_, GONE if signal["signal"] is post_delete else digest)
    with transaction.atomic():
        record(
            chain=PEOPLE_CHAIN,
            kind="people.way_in_changed",
            payload=known,
            actor="system",
            rows=[row],
            were=[instance.was],
        )


@receiver(authenticator_added)
@receiver(authenticator_reset)
def _added(
    *, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    record_of(user, "people.factor_added", factor=str(authenticator.type))
    _tell_owner(user)
    if authenticator.type == Authenticator.Type.TOTP:
        _mark_code_used(TOTP(authenticator), request.POST.get("code", ""))


@receiver(authenticator_removed)
def _removed(*, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record_of(user, "people.factor_removed", factor=str(authenticator.type))
    _tell_owner(user)


@receiver(authentication_failed)
def _failed(*, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record_of(user, "people.factor_failed", actor="system", factor=str(authenticator.type))
