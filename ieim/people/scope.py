"""Which agencies' content a member of staff may see."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin

from ieim.people.models import EVERY_AGENCY, AgencyScope


def agencies_of(user: AbstractBaseUser | AnonymousUser) -> frozenset[str] | None:
    """Return the ids of a user's agencies; None for somebody who may see every agency."""
    if isinstance(user, PermissionsMixin) and user.is_superuser:
        return None
    if user.pk is None:
        return frozenset()
    names = frozenset(AgencyScope.objects.filter(user_id=user.pk).values_list("agency", flat=True))
    return None if EVERY_AGENCY in names else names
