"""Audited rows of staff (see :mod:`ieim.audit.audited`), and events about accounts.

The digests have no key: an account's covers the salt of its password's hash (or the random
characters of an unusable password), a token's a digest of 256 random bits. Nobody who reads only
the audit record can guess names or passwords from them.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Q

from ieim.audit.audited import AuditedModel, Key
from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people.models import Token, User


def _of_account(user: Any) -> dict[str, Any]:
    """Return the rights and identities of an account; roles by number, because names may change."""
    return {
        "roles": sorted(group.pk for group in user.groups.all()),
        "permissions": _names(user.user_permissions.all()),
        "agencies": sorted(scope.agency for scope in user.agency_scopes.all()),
        "identities": sorted([row.provider, row.uid] for row in user.socialaccount_set.all()),
    }


def _names(permissions: Any) -> list[str]:
    return sorted(
        f"{permission.content_type.app_label}.{permission.codename}" for permission in permissions
    )


_AuditedStaff = partial(AuditedModel, is_backfilled=True, default_chain=PEOPLE_CHAIN)
ACCOUNT = _AuditedStaff(
    "account",
    lambda: User.objects.prefetch_related(
        "groups",
        "user_permissions__content_type",
        "agency_scopes",
        "socialaccount_set",
    ).order_by("pk"),
    (
        *("id", "username", "first_name", "last_name", "email", "password"),
        *("is_active", "is_staff", "is_superuser", "date_joined"),
    ),
    related=_of_account,
)
FACTOR = _AuditedStaff(
    "factor",
    Authenticator.objects.all,
    ("id", "user_id", "type", "data", "created_at"),
)
ROLE = _AuditedStaff(
    "role",
    lambda: Group.objects.prefetch_related("permissions__content_type").order_by("pk"),
    ("id", "name"),
    related=lambda group: {"permissions": _names(group.permissions.all())},
)
TOKEN = _AuditedStaff(
    "token",
    Token.objects.all,
    (
        *("id", "user_id", "name", "prefix", "sha256", "scopes", "agencies"),
        *("created_at", "expires_at", "revoked_at"),
    ),
)
GRANT = AuditedModel(
    "grant", User.objects.none, ("id",), default_chain=PEOPLE_CHAIN, is_removable=True
)
"""Rights that waited for a second administrator: events of earlier versions refer to their rows."""
KINDS = (ACCOUNT, FACTOR, ROLE, TOKEN, GRANT)


@transaction.atomic
def record_of(user: User | None, kind: str, *, actor: str = "", **details: JSONValue) -> None:
    """Record an event about an account in the staff's chain, with ``details`` in its payload.

    The actor is the account itself by default.
    """
    name = {"username": user.get_username()} if user else {}
    payload = {"user": user.pk if user else None, **name, **details}
    actor = actor or (user.actor if user else "system")
    record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=actor)


Digests = dict[Key, str]
"""The digests of stored rows by kind and id."""


def rows_of(model: AuditedModel, condition: Q) -> Digests:
    """Return the digests of the rows of one kind that meet a condition."""
    rows = map(model.row, model.rows().filter(condition))
    return {(kind, id_): digest for kind, id_, digest in rows}


def current_digests(keys: Collection[Key]) -> Digests:
    """Return the digests of those rows that still exist."""
    digests: Digests = {}
    for model in KINDS:
        ids = [id_ for kind, id_ in keys if kind == model.kind]
        digests |= rows_of(model, Q(pk__in=ids)) if ids else {}
    return digests


def rows_of_accounts(users: Collection[int]) -> Digests:
    """Return the digests of accounts and of their tokens."""
    return rows_of(ACCOUNT, Q(pk__in=users)) | rows_of(TOKEN, Q(user__in=users))
