"""Who logged in, who tried to, who logged out: for the audit record."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import transaction
from django.dispatch import receiver

from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people.models import User


@receiver(user_logged_in)
def _logged_in(*, user: User, **kwargs: Any) -> None:
    _record("people.logged_in", user)


@receiver(user_logged_out)
def _logged_out(*, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        _record("people.logged_out", user)


@receiver(user_login_failed)
def _login_failed(*, credentials: dict[str, Any], **kwargs: Any) -> None:
    """People type passwords into the field for the name: only a name that exists is kept."""
    name = str(credentials.get(User.USERNAME_FIELD) or "")
    # A name of an account has no NUL, and PostgreSQL cannot look for one.
    user = None if "\x00" in name else User.objects.filter(username=name).first()
    _record("people.login_failed", user, actor="system")


@transaction.atomic
def _record(kind: str, user: User | None, actor: str = "") -> None:
    record(
        chain=PEOPLE_CHAIN,
        kind=kind,
        payload={"user": user.pk, "username": user.get_username()} if user else {"user": None},
        actor=actor or f"staff:{user.get_username() if user else ''}",
    )
