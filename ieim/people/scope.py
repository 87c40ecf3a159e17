"""The agencies whose content a member of staff may see."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin

from ieim.people.models import EVERY_AGENCY, AgencyScope, User

_agencies_port: Callable[[], Mapping[str, str]] | None = None


def wire_agencies(port: Callable[[], Mapping[str, str]]) -> None:
    """Set the port that returns the names of all agencies by id; called once at start."""
    global _agencies_port
    _agencies_port = port


def known_agencies() -> Mapping[str, str]:
    """Return the names of the agencies that an account can work for, by id."""
    if _agencies_port is None:
        raise RuntimeError("no agencies are wired; call ieim.people.scope.wire_agencies at start")
    return _agencies_port()


def agencies_of(user: AbstractBaseUser | AnonymousUser) -> frozenset[str] | None:
    """Return the ids of a user's agencies; None for a user who may see every agency.

    For a program that acts for the user, only those of its token.
    """
    agencies = _agencies_of_account(user)
    limits = user.limits if isinstance(user, User) else None
    if limits is None or EVERY_AGENCY in limits.agencies:
        return agencies
    return limits.agencies if agencies is None else agencies & limits.agencies


def works_for(user: AbstractBaseUser | AnonymousUser, agency: str) -> bool:
    """Whether a user may see and change the content of an agency.

    "" is content of every agency, such as labels: it takes a user who may see every agency.
    """
    agencies = agencies_of(user)
    return agencies is None or (agency != "" and agency in agencies)


def _agencies_of_account(user: AbstractBaseUser | AnonymousUser) -> frozenset[str] | None:
    if isinstance(user, PermissionsMixin) and user.is_superuser:
        return None
    if user.pk is None:
        return frozenset()
    names = frozenset(AgencyScope.objects.filter(user_id=user.pk).values_list("agency", flat=True))
    return None if EVERY_AGENCY in names else names
