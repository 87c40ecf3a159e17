"""Reads: the list of accounts, and the state of each."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from ieim.people.accounts import Account
from ieim.people.lockout import locked_usernames
from ieim.people.models import EVERY_AGENCY, User
from ieim.people.roles import name_of
from ieim.people.scope import known_agencies


@dataclass(frozen=True, slots=True)
class Row:
    """An account in the list; roles and agencies in words."""

    user: User
    roles: list[str]
    agencies: list[str]
    state: str
    is_provided: bool
    """Whether its owner logs in at the OpenID provider."""


def listed(words: str) -> QuerySet[User]:
    """Return the accounts by username that have every word in a name or the address."""
    users = User.objects.order_by("username")
    for word in words.replace("\0", " ").split():
        fields = ("username", "first_name", "last_name", "email")
        condition = Q()
        for field in fields:
            condition |= Q(**{f"{field}__icontains": word})
        users = users.filter(condition)
    return users.prefetch_related("groups", "agency_scopes")


def rows(users: Iterable[User]) -> list[Row]:
    """Return the rows of some accounts in their order, with their states."""
    people, names = list(users), known_agencies()
    locked = locked_usernames([user.username for user in people])
    identities = SocialAccount.objects.filter(user__in=people).values_list("user_id", flat=True)
    provided = frozenset(identities)
    return [
        Row(
            user,
            _roles(user),
            _agencies(user, names),
            _state(user, locked, provided),
            user.pk in provided,
        )
        for user in people
    ]


def factors_of(user: User) -> list[str]:
    """Return the second factors of an account in words, without its recovery codes."""
    words = {
        Authenticator.Type.TOTP: gettext("an authenticator app"),
        Authenticator.Type.WEBAUTHN: gettext("a security key or passkey"),
    }
    rows = Authenticator.objects.filter(user=user, type__in=words).order_by("type")
    return [words[Authenticator.Type(name)] for name in rows.values_list("type", flat=True)]


def version_of(account: Account | None) -> str:
    """Return a digest of what the form of an account changes."""
    if account is None:
        return ""
    fields = (*account.profile, account.active, sorted(account.roles), sorted(account.agencies))
    return hashlib.sha256(repr(fields).encode()).hexdigest()


def _state(user: User, locked: Collection[str], provided: Collection[int]) -> str:
    if not user.is_active:
        return gettext("Switched off")
    if user.username in locked:
        return gettext("Locked after wrong passwords")
    if user.has_usable_password() or user.pk in provided:
        return gettext("Active")
    return gettext("Invited, has no password yet")


def _roles(user: User) -> list[str]:
    roles = sorted(name_of(group.name) for group in user.groups.all())
    return [gettext("superuser"), *roles] if user.is_superuser else roles


def _agencies(user: User, names: Mapping[str, str]) -> list[str]:
    agencies = [scope.agency for scope in user.agency_scopes.all()]
    if user.is_superuser or EVERY_AGENCY in agencies:
        return [gettext("Every agency")]
    return [names.get(agency, agency) for agency in agencies]
