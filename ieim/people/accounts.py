"""The rule about who may change whose account, and the rights that are announced.

A superuser may do anything but lock themselves out. Anybody else who looks after accounts (an
administrator)

- assigns and withdraws the known roles except *administrator*;
- gives others any agency scope: a scope without a role opens nothing;
- changes no account that has more than that: a superuser's, an administrator's, one with another
  group or with permissions of its own. A new password would be a way into it;
- changes only the names, the address and the password of their own account. A scope of their own
  is a right as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group, Permission
from django.utils.translation import gettext

from ieim.people.models import EVERY_AGENCY, User
from ieim.people.roles import PERMISSIONS, Role
from ieim.people.scope import known_agencies

SUPERUSER_ONLY: Final = frozenset({Role.ADMINISTRATOR})
"""Roles that only a superuser assigns."""
ORDINARY: Final = frozenset(
    name for role in (Role.CASEWORKER, Role.EDITOR, Role.AUDITOR) for name in PERMISSIONS[role]
) - {"review.second_reviewitem"}
"""Permissions that are not announced: with any other one person could be both pairs of eyes."""


@dataclass(frozen=True, slots=True)
class Account:
    """A snapshot of an account. ``profile`` is names and address, ``password`` the stored hash,
    ``roles`` the names of its groups, ``identities`` the identifiers of its OpenID identities."""

    pk: int
    username: str
    profile: tuple[str, ...]
    password: str
    active: bool
    staff: bool
    superuser: bool
    roles: frozenset[str]
    permissions: frozenset[str]
    agencies: frozenset[str]
    identities: frozenset[str]

    @property
    def address(self) -> str:
        return self.profile[-1]

    @property
    def powers(self) -> tuple[object, ...]:
        flags = (self.active, self.staff, self.superuser)
        return (*flags, self.roles, self.permissions, self.agencies)


def account_of(pk: int) -> Account | None:
    """Return the account as it is stored, None if there is none."""
    user = User.objects.filter(pk=pk).first()
    if user is None:
        return None
    return Account(
        pk=pk,
        username=user.get_username(),
        profile=(user.first_name, user.last_name, user.email),
        password=user.password,
        active=user.is_active,
        staff=user.is_staff,
        superuser=user.is_superuser,
        roles=frozenset(user.groups.values_list("name", flat=True)),
        permissions=permission_names(user.user_permissions.all()),
        agencies=frozenset(user.agency_scopes.values_list("agency", flat=True)),
        identities=frozenset(SocialAccount.objects.filter(user=pk).values_list("uid", flat=True)),
    )


def permission_names(permissions: Any) -> frozenset[str]:
    """Return permissions by name, such as ``people.change_user``."""
    pairs = permissions.values_list("content_type__app_label", "codename")
    return frozenset(f"{app}.{codename}" for app, codename in pairs)


def assignable_groups() -> list[Group]:
    """Return the groups that an administrator assigns: those of roles without added rights."""
    allowed = {
        role.value: set(names) for role, names in PERMISSIONS.items() if role not in SUPERUSER_ONLY
    }
    groups = Group.objects.filter(name__in=allowed).order_by("name")
    rights = dict.fromkeys((group.pk for group in groups), frozenset[str]())
    permissions = Permission.objects.filter(group__in=groups)
    for pk, app, name in permissions.values_list("group", "content_type__app_label", "codename"):
        rights[pk] |= {f"{app}.{name}"}
    return [group for group in groups if rights[group.pk] <= allowed[group.name]]


def refusal(by: User, before: Account | None, after: Account | None) -> str:
    """Return why ``by`` may not change an account from ``before`` to ``after``, "" if they may.

    None is an account that does not exist. The same account twice asks whether they may change it
    at all, None for ``after`` whether they may change all of it.
    """
    if by.is_superuser:
        is_locked_out = after is None or not (after.active and after.superuser)
        if before is not None and before.pk == by.pk and is_locked_out:
            return gettext("Nobody shuts themselves out. Ask another superuser.")
        return ""
    sides = [side for side in (before, after) if side is not None]
    if any(side.pk == by.pk for side in sides):
        if before is None or after is None or before.powers != after.powers:
            return gettext("Nobody changes what they themselves may do. Ask a superuser.")
        return ""
    if any(side.superuser for side in sides):
        return gettext("Only a superuser makes or changes a superuser.")
    if any(side.permissions for side in sides):
        return gettext("Only a superuser changes an account with permissions beside its roles.")
    assignable = {group.name for group in assignable_groups()}
    others = sorted({role for side in sides for role in side.roles} - assignable)
    if others:
        message = gettext("Only a superuser changes an account with the role {roles}.")
        return message.format(roles=gettext(" or ").join(others))
    return ""


def announced_rights(account: Account | None) -> frozenset[str]:
    """Return in words the rights of an account that are announced, none if it is not active."""
    if account is None or not account.active:
        return frozenset()
    rights = {gettext("everything (superuser)")} if account.superuser else set()
    for group in Group.objects.filter(name__in=account.roles):
        if not permission_names(group.permissions.all()) <= ORDINARY:
            rights.add(gettext("the role {name}").replace("{name}", group.name))
    for name in account.permissions - ORDINARY:
        rights.add(gettext("the permission {name}").replace("{name}", name))
    if account.agencies:
        agencies = set(known_agencies())
        # All of them one by one are every agency, too.
        if EVERY_AGENCY in account.agencies or (len(agencies) > 1 and agencies <= account.agencies):
            rights.add(gettext("every agency"))
    return frozenset(rights)
