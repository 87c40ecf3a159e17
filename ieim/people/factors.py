"""Second factors: the roles that need one, the storage of their secrets, and their audit events.

django-allauth has the pages and the login stage: authenticator apps (TOTP), security keys and
passkeys (WebAuthn), recovery codes. :class:`ieim.people.access.AccessMiddleware` opens only those
pages to a user whose role needs a second factor and who has none.
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

_MFA_AT_PROVIDER = "second_factor_at_the_provider"
_SECRETS = ("secret", "seed")
"""The encrypted values of an app and of recovery codes."""


def missing(request: HttpRequest) -> bool:
    """Whether the user's role needs a second factor and the user has none, neither here nor, in
    this session, at the OpenID provider."""
    user = request.user
    if not isinstance(user, User) or request.session.get(_MFA_AT_PROVIDER):
        return False
    return bool(is_needed(user) and not is_mfa_enabled(user))


def is_needed(user: User) -> bool:
    """Whether a role of a user needs a second factor."""
    roles = settings.IEIM_MFA_ROLES
    return bool(roles and (user.is_superuser or user.groups.filter(name__in=roles).exists()))


@transaction.atomic
def remove(user: User, *, by: User) -> int:
    """Remove all second factors of a user who has lost theirs, and return their number.

    The caller checks whether ``by`` may do so (:func:`ieim.people.accounts.refusal`).
    """
    count, _ = Authenticator.objects.filter(user=user).delete()
    if count:
        record_of(user, "people.factor_removed", actor=by.actor, factor="all")
        _notify_owner(user)
    return int(count)


class MFAAdapter(DefaultMFAAdapter):
    """Site-specific hooks of django-allauth: secrets are encrypted with the site's key."""

    def encrypt(self, text: str) -> str:
        return _keys().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a secret in clear, a random one if its key is no longer among the settings."""
        try:
            return _keys().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            logger.error("A second factor was encrypted with a key that is gone: set it up anew.")
            return b32encode(secrets.token_bytes(20)).decode()

    def build_totp_svg(self, url: str) -> str:
        """Return a QR code as an element: the content policy of the page refuses data: URLs."""
        image = BytesIO()
        options = {"scale": 5, "light": "#fff", "xmldecl": False, "svgns": False, "nl": False}
        segno.make(url, error="m").save(image, kind="svg", **options)
        return image.getvalue().decode()


def _keys() -> MultiFernet:
    return MultiFernet(map(_key, (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)))


def _key(secret: str) -> Fernet:
    digest = salted_hmac("ieim.people.factors", "", secret=secret, algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(digest))


def _has_current_key(text: str) -> bool:
    try:
        _key(settings.SECRET_KEY).decrypt(text.encode())
    except InvalidToken:
        return False
    return True


@receiver(user_logged_in)
def _store_mfa_at_provider(*, request: HttpRequest, sociallogin: Any = None, **kwargs: Any) -> None:
    """Store whether the provider has demanded several factors (``amr``, RFC 8176)."""
    methods = getattr(sociallogin, "claims", {}).get("amr")
    request.session[_MFA_AT_PROVIDER] = isinstance(methods, list) and "mfa" in methods


@receiver(authenticator_used)
@transaction.atomic
def _rotate_keys(*, authenticator: Authenticator, **kwargs: Any) -> None:
    """Encrypt secrets of an earlier key with the current one."""
    # Reloaded: the object of allauth does not have the use of a recovery code.
    stored = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
    old = {name: stored.data[name] for name in _SECRETS if name in stored.data}
    old = {name: text for name, text in old.items() if not _has_current_key(text)}
    if old:
        stored.data |= {name: _keys().rotate(text.encode()).decode() for name, text in old.items()}
        stored.save(update_fields=["data"])


# Allauth saves outside a transaction: a factor and its event have to be saved together.
Authenticator.save = transaction.atomic(Authenticator.save)


def _mark_code_used(totp: TOTP, code: str) -> bool:
    """Return whether a code is new. It stays used for as long as it is valid (RFC 6238, 5.2);
    allauth forgets it after one of the three periods of the tolerance."""
    seconds = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
    return cache.add(totp._get_used_cache_key(code), "y", timeout=seconds)


TOTP._mark_code_used = _mark_code_used


def _notify_owner(user: User) -> None:
    post.notify_owner(name=user.username, address=user.email, changed=gettext("the second factor"))


@receiver([pre_save, pre_delete], sender=Authenticator)
def _read_stored(*, instance: Any, update_fields: Any = None, **signal: Any) -> None:
    """Read the stored row before a change: its digest has to be the recorded one."""
    if update_fields == {"last_used_at"}:
        return
    stored = Authenticator.objects.select_for_update().filter(pk=instance.pk).first()
    instance.stored_digest = FACTOR.row(stored)[2] if stored else None


@receiver([post_save, post_delete], sender=Authenticator)
def _record_change(*, instance: Any, update_fields: Any = None, **signal: Any) -> None:
    """Record every change of a factor but its use; no signal of allauth covers them all."""
    if update_fields == {"last_used_at"}:
        return
    kind, id_, digest = FACTOR.row(instance)
    payload = {"user": instance.user_id, "factor": str(instance.type)}
    row = (kind, id_, GONE if signal["signal"] is post_delete else digest)
    with transaction.atomic():
        record(
            chain=PEOPLE_CHAIN,
            kind="people.way_in_changed",
            payload=payload,
            actor="system",
            rows=[row],
            were=[instance.stored_digest],
        )


@receiver(authenticator_added)
@receiver(authenticator_reset)
def _record_added(
    *, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    record_of(user, "people.factor_added", factor=str(authenticator.type))
    _notify_owner(user)
    if authenticator.type == Authenticator.Type.TOTP:
        _mark_code_used(TOTP(authenticator), request.POST.get("code", ""))


@receiver(authenticator_removed)
def _record_removed(*, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record_of(user, "people.factor_removed", factor=str(authenticator.type))
    _notify_owner(user)


@receiver(authentication_failed)
def _record_failure(*, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record_of(user, "people.factor_failed", actor="system", factor=str(authenticator.type))
