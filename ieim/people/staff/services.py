"""Writes: an account with its roles and agencies, saved as one change."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import Group

from ieim.people.accounts import account_of
from ieim.people.models import AgencyScope, User
from ieim.people.services import changing
from ieim.people.staff.selectors import version_of


class Changed(Exception):
    """Somebody else has changed the account since the form was opened."""


def save(
    *, by: User, user: User, version: str, roles: Collection[str], agencies: Collection[str]
) -> User:
    """Add or change an account; ``user`` has the new values of its own columns.

    ``version`` is the one of :func:`version_of` that the author saw, "" for a new account, which
    has no password until its owner sets one. ``roles`` are names of groups.

    Raises:
        Changed: the stored account has another version.
        NotAllowed: the rule refuses the change; nothing of it is stored.
    """
    is_new = user.pk is None
    with changing(*([] if is_new else [user.pk]), by=by) as pks:
        if is_new:
            user.set_unusable_password()
            user.save()
            pks.append(user.pk)
        elif version_of(account_of(user.pk)) != version:
            raise Changed
        else:
            user.save(update_fields=["first_name", "last_name", "email", "is_active"])
        user.groups.set(Group.objects.filter(name__in=roles))
        user.agency_scopes.exclude(agency__in=agencies).delete()
        for agency in sorted(agencies):
            AgencyScope.objects.get_or_create(user=user, agency=agency)
    return user
