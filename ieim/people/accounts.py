"""Who may do what to whose account: the one rule, for every way that leads to an account.

A superuser may do anything but shut themselves out. Anybody else who looks after accounts (an
administrator)

- hands out the known roles except *administrator*, and takes them back;
- gives others any agency scope: which agencies somebody works for is their business, and a scope
  without a role opens nothing;
- touches no account that has more than that: a superuser's, an administrator's, one with another
  group or with permissions of its own. A new password would be a way into it;
- changes of their own account the names, the address and the password only. A scope of one's own
  is a right as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group, Permission
from django.utils.translation import gettext

from ieim.people.models import User
from ieim.people.roles import PERMISSIONS, Role

KEPT_BACK = frozenset({Role.ADMINISTRATOR})
"""Roles that only a superuser hands out."""


@dataclass(frozen=True, slots=True)
class Account:
    """All of an account that matters for what somebody may; ``profile`` is names and address,
    ``password`` the stored hash, ``roles`` the names of its groups, ``identities`` how providers
    know its owner."""

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
    def powers(self) -> tuple[object, ...]:
        flags = (self.active, self.staff, self.superuser)
        return (*flags, self.roles, self.permissions, self.agencies)


def account_of(pk: int) -> Account | None:
    """Return the account as it is stored; None where there is none."""
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
        permissions=names_of(user.user_permissions.all()),
        agencies=frozenset(user.agency_scopes.values_list("agency", flat=True)),
        identities=frozenset(SocialAccount.objects.filter(user=pk).values_list("uid", flat=True)),
    )


def names_of(permissions: Any) -> frozenset[str]:
    """Return permissions by name, such as ``people.change_user``."""
    found = permissions.values_list("content_type__app_label", "codename")
    return frozenset(f"{app}.{codename}" for app, codename in found)


def handed_out() -> list[Group]:
    """Return the groups that an administrator may assign: those of roles, without added rights."""
    allowed = {
        role.value: set(names) for role, names in PERMISSIONS.items() if role not in KEPT_BACK
    }
    groups = Group.objects.filter(name__in=allowed).order_by("name")
    rights = dict.fromkeys((group.pk for group in groups), frozenset[str]())
    of_group = Permission.objects.filter(group__in=groups)
    for pk, app, name in of_group.values_list("group", "content_type__app_label", "codename"):
        rights[pk] |= {f"{app}.{name}"}
    return [group for group in groups if rights[group.pk] <= allowed[group.name]]


def why_not(by: User, before: Account | None, after: Account | None) -> str:
    """Return why ``by`` may not make ``before`` of an account into ``after``; "" when they may.

    None is an account that is not there. The same twice asks whether they may touch it at all,
    nothing at the end whether they may change all of it.
    """
    if by.is_superuser:
        shut_out = after is None or not (after.active and after.superuser)
        if before is not None and before.pk == by.pk and shut_out:
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
    handed = {group.name for group in handed_out()}
    more = sorted({role for side in sides for role in side.roles} - handed)
    if more:
        message = gettext("Only a superuser changes an account with the role {roles}.")
        return message.format(roles=gettext(" or ").join(more))
    return ""
