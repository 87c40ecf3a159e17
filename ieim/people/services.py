"""Writes: changes of accounts and roles, by the rule, audited and announced.

Code that changes an account does so inside :func:`changing`, code that changes a role inside
:func:`changing_role`. Both compare what is stored before and after, so the form, field or command
does not matter. What the rule refuses is rolled back with everything around it. Rights with which
one person could be both pairs of eyes are announced to administrators and supervisors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.dispatch import receiver
from django.urls import reverse
from django.utils.translation import gettext

from ieim.audit.audited import moved
from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import lock_head, record
from ieim.people import post, sessions
from ieim.people.accounts import (
    ORDINARY,
    Account,
    account_of,
    announced_rights,
    permission_names,
    refusal,
)
from ieim.people.audited import ACCOUNT, ROLE, Digests, current_digests, rows_of, rows_of_accounts
from ieim.people.models import User, password_rehashed
from ieim.people.roles import PERMISSIONS, Role
from ieim.people.tokens import services as tokens

Payload = dict[str, JSONValue]


@dataclass(frozen=True, slots=True)
class _Role:
    name: str
    permissions: frozenset[str]
    members: tuple[int, ...]


class NotAllowed(PermissionDenied):
    """The rule refuses a change; the message is a sentence that says why."""


@contextmanager
def changing(*accounts: int, by: User | None) -> Iterator[list[int]]:
    """Check, record and announce changes of ``accounts``, and of those appended to the list.

    ``by`` is None for commands and the OpenID provider, to which the rule does not apply. One
    transaction; nobody else changes an account meanwhile.

    Raises:
        NotAllowed: at the end, for a change that the rule refuses; all of it is rolled back.
    """
    with transaction.atomic():
        lock_head(PEOPLE_CHAIN)
        before = {pk: account_of(pk) for pk in accounts}
        pks: list[int] = [*accounts]
        rows = _Rows(lambda: rows_of_accounts(pks))
        token = _is_recorded.set(True)
        try:
            yield pks
        finally:
            _is_recorded.reset(token)
        for pk in dict.fromkeys(pks):
            _finish_account(before.get(pk), account_of(pk), rows, by)


@contextmanager
def changing_role(*groups: int, by: User | None) -> Iterator[list[int]]:
    """Record and announce changes of ``groups``, and of those appended to the list.

    Raises:
        NotAllowed: only a superuser and a command (None) change a role.
    """
    if by is not None and not by.is_superuser:
        raise NotAllowed(gettext("Only a superuser changes what a role may do."))
    with transaction.atomic():
        lock_head(PEOPLE_CHAIN)
        before = {pk: _role(pk) for pk in groups}
        pks: list[int] = [*groups]
        rows = _Rows(lambda: rows_of(ROLE, Q(pk__in=pks)) | rows_of(ACCOUNT, Q(groups__in=pks)))
        yield pks
        for pk in dict.fromkeys(pks):
            _finish_role(before.get(pk), _role(pk), rows, by)


@transaction.atomic
def make_roles() -> None:
    """Create the groups that are missing, and give every role exactly its permissions."""
    permissions = {
        f"{permission.content_type.app_label}.{permission.codename}": permission.pk
        for permission in Permission.objects.select_related("content_type")
    }
    for role, names in PERMISSIONS.items():
        expected = {permissions[name] for name in names}
        groups = Group.objects.filter(name=role.value)
        if set(groups.values_list("permissions", flat=True)) == expected:
            continue
        with changing_role(*groups.values_list("pk", flat=True), by=None) as pks:
            group, _ = Group.objects.get_or_create(name=role.value)
            group.permissions.set(expected)
            pks.append(group.pk)


@receiver(password_rehashed)
@transaction.atomic
def save_rehashed(*, user: User, **kwargs: Any) -> None:
    """Save the new hash of a password that stays the same, and record it."""
    if _is_recorded.get():
        user.save(update_fields=["password"])
        return
    lock_head(PEOPLE_CHAIN)
    rows = _Rows(lambda: rows_of(ACCOUNT, Q(pk=user.pk)))
    user.save(update_fields=["password"])
    payload: Payload = {"user": user.pk, "username": user.get_username()}
    _record("people.password_rehashed", payload, None, rows)


class _Rows:
    """Audited rows, and how they have changed since the last event."""

    def __init__(self, read: Callable[[], Digests]) -> None:
        self._read = read
        self._recorded = read()

    def changes(self) -> dict[str, Any]:
        """Return the arguments ``rows`` and ``were`` of the next event."""
        before, after = self._recorded, self._read()
        # A row that referred to a deleted account belongs to it no longer, and may still exist.
        self._recorded = after | current_digests(before.keys() - after.keys())
        return moved(before, self._recorded)


_is_recorded: ContextVar[bool] = ContextVar("_is_recorded", default=False)
"""Whether the surrounding code records changes of accounts."""


def _finish_account(
    before: Account | None, after: Account | None, rows: _Rows, by: User | None
) -> None:
    if before == after:
        return
    if by is not None and (
        reason := refusal(by, before, after) or _password_refusal(by, before, after)
    ):
        raise NotAllowed(reason)
    _record_account(before, after, rows, by)
    if before is not None and after is not None:
        _notify_owner(before, after)
        _end_access(before, by)
        rows.changes()  # ended tokens have recorded their own rows
    if after is not None:
        rights = set(announced_rights(after) - announced_rights(before))
        is_of_another = by is not None and by.pk != after.pk
        if before and is_of_another and before.address != after.address and announced_rights(after):
            rights.add(gettext("the e-mail address {name}").replace("{name}", after.address))
        if before and is_of_another and before.password != after.password:
            rights |= {gettext("a link to set the password")} if announced_rights(after) else set()
        _announce(after.username, rights, by)


def _end_access(before: Account, by: User | None) -> None:
    """End sessions and tokens of an account that is, or was, off or without rights: none of them
    opens anything again when the account does."""
    user = User.objects.get(pk=before.pk)
    if not before.active or not user.has_perm(tokens.MAY_MAKE):
        tokens.end(user, by=by)
    if not before.active or not user.get_all_permissions():
        sessions.end(UserSession.objects.filter(user=user), user=user, reason="closed", by=by)


def _password_refusal(by: User, before: Account | None, after: Account | None) -> str:
    """Return why ``by`` may not set a password: an account whose password two people know is
    an account of both."""
    if after is None or after.pk == by.pk or not is_password_usable(after.password):
        return ""
    if before is not None and before.password == after.password:
        return ""
    return gettext("Nobody sets a password of somebody else. Send them a link to choose one.")


def _usable_hash(password: str) -> str:
    return password if is_password_usable(password) else ""


def _notify_owner(before: Account, after: Account) -> None:
    pairs = {
        gettext("the e-mail address"): (before.address, after.address),
        gettext("the password"): tuple(map(_usable_hash, (before.password, after.password))),
        gettext("the login at the provider"): (before.identities, after.identities),
    }
    if changed := ", ".join(name for name, (was, now) in pairs.items() if was != now):
        address = before.address or after.address
        post.notify_owner(name=before.username, address=address, changed=changed)


def _announce(name: str, rights: Collection[str], by: User | None) -> None:
    """Tell administrators and supervisors by e-mail, once it is committed, who was given rights."""
    if not rights:
        return
    sentence = gettext("{who} gave {whom} {rights}. Ask them about it if you did not expect it.")
    text = sentence.format(
        who=by.display_name if by else gettext("A command or the OpenID provider"),
        whom=name,
        rights=", ".join(sorted(rights)),
    )
    paragraphs = (text, settings.IEIM_PUBLIC_URL + reverse("staff_home"))
    subject = gettext("Somebody was given rights")
    post.send_on_commit(subject=subject, paragraphs=paragraphs, to=_overseers)


def _overseers() -> Sequence[str]:
    """Return the addresses of active administrators, superusers and supervisors."""
    backend = "django.contrib.auth.backends.ModelBackend"
    administrators = User.objects.with_perm("people.change_user", backend=backend)
    is_overseer = Q(pk__in=administrators) | Q(groups__name=Role.SUPERVISOR.value)
    users = User.objects.filter(is_overseer, is_active=True).exclude(email="")
    return sorted(set(users.values_list("email", flat=True)))


def _record_account(
    before: Account | None, after: Account | None, rows: _Rows, by: User | None
) -> None:
    account = after or before
    if account is None:
        raise ValueError("neither account exists")
    verb = "added" if before is None else "deleted" if after is None else "changed"
    payload: Payload = {"user": account.pk, "username": account.username}
    for name in ("username", "active", "staff", "superuser"):
        was, now = (getattr(side, name) if side else None for side in (before, after))
        if was != now:
            payload[f"{name}_was"], payload[name] = was, now
    # Of names, address and password only that they have changed.
    for name in ("profile", "password", "identities"):
        was, now = (getattr(side, name) if side else None for side in (before, after))
        if was != now:
            payload[name] = "changed"
    for name in ("roles", "permissions", "agencies"):
        was, now = (getattr(side, name) if side else () for side in (before, after))
        payload |= _difference(name, was, now)
    _record(f"people.user_{verb}", payload, by, rows)


def _difference(name: str, was: Iterable[str], now: Iterable[str]) -> Payload:
    parts = {
        f"{name}_given": sorted(set(now) - set(was)),
        f"{name}_taken": sorted(set(was) - set(now)),
    }
    return {key: [*values] for key, values in parts.items() if values}


def _role(pk: int) -> _Role | None:
    group = Group.objects.filter(pk=pk).first()
    if group is None:
        return None
    members = User.objects.filter(groups=group).order_by("pk").values_list("pk", flat=True)
    return _Role(group.name, permission_names(group.permissions.all()), tuple(members))


def _finish_role(before: _Role | None, after: _Role | None, rows: _Rows, by: User | None) -> None:
    role = after or before
    if role is None or before == after:
        return
    verb = "added" if before is None else "deleted" if after is None else "changed"
    payload: Payload = {"role": role.name, "members": len(role.members)}
    if before and after and before.name != after.name:
        payload["role_was"] = before.name
    was, now = (side.permissions if side else frozenset() for side in (before, after))
    payload |= _difference("permissions", was, now)
    _record(f"people.role_{verb}", payload, by, rows)
    if role.members:
        whom = gettext("everybody with the role {name}").replace("{name}", role.name)
        permission = gettext("the permission {name}")
        rights = [permission.replace("{name}", name) for name in now - was - ORDINARY]
        _announce(whom, rights, by)


def _record(kind: str, payload: Payload, by: User | None, rows: _Rows) -> None:
    actor = "system" if by is None else by.actor
    record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=actor, **rows.changes())
