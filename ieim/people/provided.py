"""Accounts of people whom the OpenID provider vouches for: what it says of them holds here.

Each time that somebody comes from there, their roles and agencies become exactly those that their
groups give (``IEIM_OPENID_GROUPS``): what the provider no longer says is taken away, also what an
administrator has given beside it. A superuser stays one; no group makes one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import lock_head
from ieim.people.audited import record_of
from ieim.people.models import AgencyScope, User
from ieim.people.services import changing
from ieim.pipeline.message.screen import STRIPPED_CLASS

PROVIDER = "openid"
"""What the rows that tie an account to its identity there call the provider: there is one."""

_UNSHOWABLE = re.compile(f"[\ud800-\udfff{STRIPPED_CLASS}]")
"""Controls and marks of direction: a name with them can read as another, or cannot be stored."""


def granted(claims: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the roles and the agencies that the groups in an ID token give; most give none."""
    claimed = claims.get(settings.IEIM_OPENID["GROUPS_CLAIM"])
    names = [claimed] if isinstance(claimed, str) else claimed if isinstance(claimed, list) else []
    table = settings.IEIM_OPENID["GROUPS"]
    given = [table[name] for name in names if isinstance(name, str) and name in table]
    roles, agencies = (
        frozenset[str]().union(*(each[part] for each in given)) for part in ("roles", "agencies")
    )
    return roles, agencies


@transaction.atomic
def follow(identity: str, claims: Mapping[str, Any]) -> User | None:
    """Make the account of ``identity``, or bring it up to date, and return it.

    None for whom it opens nothing: an account that is not active, or whom no group gives a role.
    No account is made for these; one that is there loses its roles all the same.
    """
    lock_head(PEOPLE_CHAIN)
    roles, agencies = granted(claims)
    tie = SocialAccount.objects.filter(provider=PROVIDER, uid=identity).first()
    user = tie.user if tie else _of_address(claims)
    if user is None and not roles:
        record_of(None, "people.login_refused", actor="system", by=PROVIDER)
        return None
    with changing(*([user.pk] if user else []), by=None) as made:
        if user is None:
            user = User(username=_free_name(claims))
        _say(user, claims)
        user.save()
        made.append(user.pk)
        user.groups.set(Group.objects.filter(name__in=roles))
        user.agency_scopes.exclude(agency__in=agencies).delete()
        for agency in sorted(agencies):
            AgencyScope.objects.get_or_create(user=user, agency=agency)
        # Notes in `last_login` when the provider has last said so: tokens go by it.
        SocialAccount.objects.update_or_create(user=user, provider=PROVIDER, uid=identity)
    if user.is_active and (roles or user.is_superuser):
        return user
    record_of(user, "people.login_refused", actor="system", by=PROVIDER)
    return None


def _of_address(claims: Mapping[str, Any]) -> User | None:
    """Return the account that was made before its owner came from the provider: the only one with
    their verified address. Never one with more than a group can give."""
    email = _text(claims, "email")
    if not email or claims.get("email_verified") is not True:
        return None
    found = User.objects.filter(
        email__iexact=email, is_superuser=False, user_permissions=None, socialaccount=None
    )
    return found.get() if found.count() == 1 else None


def _say(user: User, claims: Mapping[str, Any]) -> None:
    user.first_name = _text(claims, "given_name")[:150] or user.first_name
    user.last_name = _text(claims, "family_name")[:150] or user.last_name
    with suppress(ValidationError):
        email = _text(claims, "email")
        validate_email(email)
        user.email = email
    # A password would be a way in past the provider.
    if not user.is_superuser and user.has_usable_password():
        user.set_unusable_password()


def _free_name(claims: Mapping[str, Any]) -> str:
    """Return a user name like the provider's that nobody has."""
    wished = _text(claims, "preferred_username") or _text(claims, "email") or "staff"
    base = re.sub(r"[^\w.@+-]", "-", wished)[:140]
    taken = set(User.objects.filter(username__startswith=base).values_list("username", flat=True))
    return next(name for n in range(1, len(taken) + 3) if (name := _numbered(base, n)) not in taken)


def _numbered(base: str, number: int) -> str:
    return base if number == 1 else f"{base}-{number}"


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return " ".join(_UNSHOWABLE.sub("", value).split()) if isinstance(value, str) else ""
