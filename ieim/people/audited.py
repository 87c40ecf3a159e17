"""The rows of staff that audit events vouch for (see :mod:`ieim.audit.audited`).

Their digests have no key: an account's is over the salt of its password's hash (or over the random
characters that stand for none), a token's over a digest of 256 random bits. Who reads the record
alone can try neither names nor passwords, and not at all once the row is gone. A request for rights
has nothing random in it, so the address that it may name is left out.
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
from ieim.people.models import Grant, Token, User


def _of_account(user: Any) -> dict[str, Any]:
    """What opens the account, and what it opens; roles by number, because names may change."""
    return {
        "roles": sorted(group.pk for group in user.groups.all()),
        "permissions": _names(user.user_permissions.all()),
        "agencies": sorted(scope.agency for scope in user.agency_scopes.all()),
        "identities": sorted([tie.provider, tie.uid] for tie in user.socialaccount_set.all()),
    }


def _names(permissions: Any) -> list[str]:
    return sorted(f"{each.content_type.app_label}.{each.codename}" for each in permissions)


def _rights(grant: Grant) -> dict[str, Any]:
    return {"rights": [right.partition("address:")[0] or "address" for right in grant.rights]}


_of_staff = partial(AuditedModel, joined=True, home=PEOPLE_CHAIN)
ACCOUNT = _of_staff(
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
    more=_of_account,
)
FACTOR = _of_staff(
    "factor",
    Authenticator.objects.all,
    ("id", "user_id", "type", "data", "created_at"),
)
ROLE = _of_staff(
    "role",
    lambda: Group.objects.prefetch_related("permissions__content_type").order_by("pk"),
    ("id", "name"),
    more=lambda group: {"permissions": _names(group.permissions.all())},
)
TOKEN = _of_staff(
    "token",
    Token.objects.all,
    (
        *("id", "user_id", "name", "prefix", "sha256", "scopes", "agencies"),
        *("created_at", "expires_at", "revoked_at"),
    ),
)
GRANT = _of_staff(
    "grant",
    Grant.objects.all,
    ("id", "user_id", "state", "asked_by_id", "asked_at", "decided_by_id", "decided_at"),
    more=_rights,
)
KINDS = (ACCOUNT, FACTOR, ROLE, TOKEN, GRANT)


@transaction.atomic
def record_of(user: User | None, kind: str, *, actor: str = "", **more: JSONValue) -> None:
    """Record an event about an account in the staff's chain, with ``more`` in its payload.

    ``actor`` is the account itself where none is named.
    """
    known = {"username": user.get_username()} if user else {}
    payload = {"user": user.pk if user else None, **known, **more}
    by = actor or (user.actor if user else "system")
    record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=by)


Standing = dict[Key, str]
"""The digests of rows as they are stored."""


def rows_of(model: AuditedModel, which: Q) -> Standing:
    """Return those of a kind."""
    return {(kind, id_): digest for kind, id_, digest in map(model.row, model.rows().filter(which))}


def still_there(keys: Collection[Key]) -> Standing:
    """Return those of the rows that are there."""
    found: Standing = {}
    for model in KINDS:
        ids = [id_ for kind, id_ in keys if kind == model.kind]
        found |= rows_of(model, Q(pk__in=ids)) if ids else {}
    return found


def rows_of_accounts(users: Collection[int]) -> Standing:
    """Return the rows of accounts: their own, their tokens, and the requests for rights that name
    them."""
    named = Q(user__in=users) | Q(asked_by__in=users) | Q(decided_by__in=users)
    own, tokens = rows_of(ACCOUNT, Q(pk__in=users)), rows_of(TOKEN, Q(user__in=users))
    return own | tokens | rows_of(GRANT, named)
