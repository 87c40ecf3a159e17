"""Rights that one administrator alone gives nobody: with them two made-up accounts would be four
eyes, and a queue, a release or all other accounts one person's.

A right is a text: ``superuser``, ``role:knowledge publisher``, ``permission:people.delete_user``,
``agency:*``, and ``address:ada@example.org``, the e-mail address of somebody who has one of the
others, because links for a new password go there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.contrib.auth.models import Group, Permission
from django.db.models import QuerySet
from django.utils.translation import gettext

from ieim.people.accounts import Account, names_of
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.people.roles import PERMISSIONS, Role
from ieim.people.scope import known_agencies

ORDINARY: Final = frozenset(
    name for role in (Role.CASEWORKER, Role.EDITOR, Role.AUDITOR) for name in PERMISSIONS[role]
)
"""Permissions that one administrator gives; a role with any other is one of these rights."""
SECOND: Final = "review.second_reviewitem"
"""Given by one administrator too; supervisors are told of every time."""


def administrators() -> QuerySet[User]:
    """Return who looks after accounts, superusers among them."""
    backend = "django.contrib.auth.backends.ModelBackend"
    return User.objects.with_perm("people.change_user", backend=backend)


def strong(account: Account | None) -> frozenset[str]:
    """Return such rights of an account, none of one that is off or not there."""
    if account is None or not account.active:
        return frozenset()
    found = {"superuser"} if account.superuser else set()
    for group in Group.objects.filter(name__in=account.roles):
        if not names_of(group.permissions.all()) <= ORDINARY:
            found.add(f"role:{group.name}")
    found |= {f"permission:{name}" for name in account.permissions - ORDINARY}
    every = set(known_agencies())
    if EVERY_AGENCY in account.agencies or (len(every) > 1 and every <= account.agencies):
        found.add(f"agency:{EVERY_AGENCY}")
    return frozenset(found)


def seconding(account: Account | None) -> frozenset[str]:
    """Return the rights with which an account gives second opinions."""
    if account is None or not account.active:
        return frozenset()
    groups = Group.objects.filter(name__in=account.roles)
    names = {f"role:{group}" for group in groups if SECOND in names_of(group.permissions.all())}
    return frozenset(names | {f"permission:{name}" for name in account.permissions & {SECOND}})


def raised(before: Account | None, after: Account, by: User) -> list[str]:
    """Return such rights that a change of ``by`` gives an account."""
    had, has = strong(before), strong(after)
    given = has - had
    address = after.profile[-1]
    moved = before is not None and address not in ("", before.profile[-1])
    if had and moved and by.pk != after.pk:
        given |= {f"address:{address}"}
    return sorted(given)


def take_back(before: Account | None, after: Account, rights: Collection[str]) -> None:
    """Leave an account without ``rights`` that it has just been given."""
    user = User.objects.get(pk=after.pk)
    for kind, name in map(_parts, rights):
        match kind:
            case "superuser":
                user.is_superuser = False
            case "role":
                user.groups.remove(Group.objects.get(name=name))
            case "permission":
                user.user_permissions.remove(_permission(name))
            case "agency":
                # It may have come in the place of another one, or as the last of all of them.
                agencies = before.agencies if before else frozenset[str]()
                user.agency_scopes.exclude(agency__in=agencies).delete()
                for agency in agencies:
                    AgencyScope.objects.get_or_create(user=user, agency=agency)
            case "address":
                user.email = before.profile[-1] if before else ""
    user.save(update_fields=["is_superuser", "email"])


def give(pk: int, rights: Collection[str]) -> None:
    """Give an account ``rights``. Raises Group.DoesNotExist and Permission.DoesNotExist."""
    user = User.objects.get(pk=pk)
    for kind, name in map(_parts, rights):
        match kind:
            case "superuser":
                user.is_superuser = True
            case "role":
                user.groups.add(Group.objects.get(name=name))
            case "permission":
                user.user_permissions.add(_permission(name))
            case "agency":
                AgencyScope.objects.get_or_create(user=user, agency=name)
            case "address":
                user.email = name
    user.save(update_fields=["is_superuser", "email"])


def in_words(right: str) -> str:
    """Return a right as staff read it."""
    kind, name = _parts(right)
    sentences = {
        "superuser": gettext("everything (superuser)"),
        "role": gettext("the role {name}"),
        "permission": gettext("the permission {name}"),
        "agency": gettext("every agency"),
        "address": gettext("the e-mail address {name}"),
    }
    return sentences[kind].replace("{name}", name)


def _parts(right: str) -> tuple[str, str]:
    kind, _, name = right.partition(":")
    return kind, name


def _permission(name: str) -> Permission:
    app, _, codename = name.partition(".")
    return Permission.objects.get(content_type__app_label=app, codename=codename)
