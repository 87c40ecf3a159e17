"""Who logged in, who tried to, who logged out: for the audit record."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver

from ieim.people.audited import record_of
from ieim.people.models import User


@receiver(user_logged_in)
def _logged_in(*, user: User, **kwargs: Any) -> None:
    record_of(user, "people.logged_in")


@receiver(user_logged_out)
def _logged_out(*, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        record_of(user, "people.logged_out")


@receiver(user_login_failed)
def _login_failed(*, credentials: dict[str, Any], **kwargs: Any) -> None:
    """People type passwords into the field for the name: only a name that exists is kept."""
    name = str(credentials.get(User.USERNAME_FIELD) or "")
    # A name of an account has no NUL, and PostgreSQL cannot look for one.
    user = None if "\x00" in name else User.objects.filter(username=name).first()
    record_of(user, "people.login_failed", actor="system")
