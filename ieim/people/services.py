"""Changing accounts and roles: whichever way it comes, by the rule and into the audit record.

A way that changes an account does so inside :func:`changing`, one that changes a role inside
:func:`changing_role`. Both compare what is stored before and after, so it does not matter which
form, field or command it was; what the rule refuses is undone with everything around it, and what
a second administrator has to agree to (:mod:`ieim.people.four_eyes.rights`) waits for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from ieim.audit.audited import moved
from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import lock_head, record
from ieim.people import post, sessions
from ieim.people.accounts import Account, account_of, names_of, why_not
from ieim.people.audited import ACCOUNT, ROLE, Standing, rows_of, rows_of_accounts, still_there
from ieim.people.four_eyes import asking, rights
from ieim.people.models import Grant, User
from ieim.people.roles import PERMISSIONS
from ieim.people.tokens import services as tokens

Changes = dict[str, JSONValue]


@dataclass(frozen=True, slots=True)
class _Role:
    name: str
    permissions: frozenset[str]
    members: tuple[int, ...]


class NotAllowed(PermissionDenied):
    """The rule refuses; the message is a sentence that says why."""


@contextmanager
def changing(
    *accounts: int, by: User | None, asked: list[Grant] | None = None
) -> Iterator[list[int]]:
    """Check and record what happens to ``accounts`` inside, and to those added to the list.

    ``by`` is None for a command, which nobody has to agree to. One transaction; nobody else changes
    an account meanwhile. At the end it takes back what a second administrator has to agree to, and
    adds that to ``asked``. Raises :class:`NotAllowed` then for what the rule refuses, which undoes
    all of it.
    """
    with transaction.atomic():
        lock_head(PEOPLE_CHAIN)
        before = {pk: account_of(pk) for pk in accounts}
        made: list[int] = [*accounts]
        rows = Rows(lambda: rows_of_accounts(made))
        with _recorded_around():
            yield made
        for pk in dict.fromkeys(made):
            grants = _settle(before.get(pk), account_of(pk), rows, by)
            if asked is not None:
                asked += grants


@contextmanager
def changing_role(*groups: int, by: User | None) -> Iterator[list[int]]:
    """Record what happens inside to ``groups``, and to those added to the list.

    Raises :class:`NotAllowed` for anybody below a superuser: what a role may do is not theirs. And
    at the end for a role with members that gets more than one administrator gives to any of them.
    """
    if by is not None and not by.is_superuser:
        raise NotAllowed(gettext("Only a superuser changes what a role may do."))
    with transaction.atomic():
        lock_head(PEOPLE_CHAIN)
        before = {pk: _role(pk) for pk in groups}
        made: list[int] = [*groups]
        rows = Rows(lambda: rows_of(ROLE, Q(pk__in=made)) | rows_of(ACCOUNT, Q(groups__in=made)))
        yield made
        for pk in dict.fromkeys(made):
            _settle_role(before.get(pk), _role(pk), rows, by)


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
        with changing_role(*groups.values_list("pk", flat=True), by=None) as made:
            group, _ = Group.objects.get_or_create(name=role.value)
            group.permissions.set(expected)
            made.append(group.pk)


@transaction.atomic
def rehash(user: User) -> None:
    """Save the new hash of a password that stays the same, and record it."""
    if _around.get():
        user.save(update_fields=["password"])
        return
    lock_head(PEOPLE_CHAIN)
    rows = Rows(lambda: rows_of(ACCOUNT, Q(pk=user.pk)))
    user.save(update_fields=["password"])
    known: Changes = {"user": user.pk, "username": user.get_username()}
    _record("people.password_rehashed", known, None, rows)


class Rows:
    """Rows as the record has them, and how they have changed since.

    They are read when it is made, and anew for each event.
    """

    def __init__(self, read: Callable[[], Standing]) -> None:
        self._read = read
        self._known = read()

    def moved(self) -> dict[str, Any]:
        """Return what an event says of the changes since the last one."""
        before, after = self._known, self._read()
        # What names somebody who is gone no longer belongs to them, and may still be there.
        self._known = after | still_there(before.keys() - after.keys())
        return moved(before, self._known)


_around: ContextVar[bool] = ContextVar("_around", default=False)
"""Whether what is done is recorded around it."""


@contextmanager
def _recorded_around() -> Iterator[None]:
    token = _around.set(True)
    try:
        yield
    finally:
        _around.reset(token)


def _settle(
    before: Account | None, after: Account | None, rows: Rows, by: User | None
) -> list[Grant]:
    if before == after:
        return []
    grants: list[Grant] = []
    if by is not None:
        if why := why_not(by, before, after) or _why_no_password(by, before, after):
            raise NotAllowed(why)
        if after is not None and (grants := asking.hold_back(before, after, by)):
            after = account_of(after.pk)
    if before != after:
        record_change(before, after, rows, by=by)
    if before is not None and after is not None:
        _end_what_opens_nothing(before, by)
        rows.moved()  # it has recorded these itself, as the requests below
    if by is not None:
        for grant in grants:
            asking.ask(grant, by)
            rows.moved()
    return grants


def _end_what_opens_nothing(before: Account, by: User | None) -> None:
    """End sessions and tokens of an account that is, or was, off or without rights: none of them
    opens anything again when the account does."""
    user = User.objects.get(pk=before.pk)
    if not before.active or not user.has_perm(tokens.MAY_MAKE):
        tokens.end(user, by=by)
    if not before.active or not user.get_all_permissions():
        sessions.end(UserSession.objects.filter(user=user), of=user, why="closed", by=by)


def _why_no_password(by: User, before: Account | None, after: Account | None) -> str:
    """Return why ``by`` may not set a password: one that two know is an account of both."""
    if after is None or after.pk == by.pk or not is_password_usable(after.password):
        return ""
    if before is not None and before.password == after.password:
        return ""
    return gettext("Nobody sets a password of somebody else. Send them a link to choose one.")


def record_change(
    before: Account | None,
    after: Account | None,
    rows: Rows,
    *,
    by: User | None,
    agreed: Grant | None = None,
) -> None:
    """Record what has become of an account and ``rows``; ``agreed`` is the request that ``by``
    agreed to."""
    shown = after or before
    if shown is None:
        raise ValueError("an account that never was")
    what = "added" if before is None else "deleted" if after is None else "changed"
    payload: Changes = {"user": shown.pk, "username": shown.username}
    if agreed is not None:
        payload |= {"grant": agreed.pk, "asked_by": agreed.asked_by_id}
    _record(f"people.user_{what}", payload | _changes(before, after), by, rows)
    if before is not None and after is not None:
        ways = {
            gettext("the e-mail address"): (before.profile[-1], after.profile[-1]),
            gettext("the password"): (before.password, after.password),
            gettext("the login at the provider"): (before.identities, after.identities),
        }
        changed = ", ".join(way for way, (was, now) in ways.items() if was != now)
        address = before.profile[-1] or after.profile[-1]
        if changed:
            post.tell_owner(name=before.username, address=address, changed=changed)


def _changes(before: Account | None, after: Account | None) -> Changes:
    """What differs: of names and address only that they do, of the password never more."""
    changes: Changes = {}
    for name in ("username", "active", "staff", "superuser"):
        was, now = (getattr(side, name) if side else None for side in (before, after))
        if was != now:
            changes[f"{name}_was"], changes[name] = was, now
    for name in ("profile", "password", "identities"):
        was, now = (getattr(side, name) if side else None for side in (before, after))
        if was != now:
            changes[name] = "changed"
    for name in ("roles", "permissions", "agencies"):
        was, now = (getattr(side, name) if side else () for side in (before, after))
        changes |= _moved(name, was, now)
    return changes


def _moved(name: str, was: Iterable[str], now: Iterable[str]) -> Changes:
    given, removed = sorted(set(now) - set(was)), sorted(set(was) - set(now))
    found: Changes = {}
    if given:
        found[f"{name}_given"] = [*given]
    if removed:
        found[f"{name}_taken"] = [*removed]
    return found


def _role(pk: int) -> _Role | None:
    group = Group.objects.filter(pk=pk).first()
    if group is None:
        return None
    members = User.objects.filter(groups=group).order_by("pk").values_list("pk", flat=True)
    return _Role(group.name, names_of(group.permissions.all()), tuple(members))


def _settle_role(before: _Role | None, after: _Role | None, rows: Rows, by: User | None) -> None:
    shown = after or before
    if shown is None or before == after:
        return
    what = "added" if before is None else "deleted" if after is None else "changed"
    payload: Changes = {"role": shown.name, "members": len(shown.members)}
    if before and after and before.name != after.name:
        payload["role_was"] = before.name
    was, now = (side.permissions if side else frozenset() for side in (before, after))
    if by is not None and shown.members and now - was - (rights.ORDINARY - {rights.SECOND}):
        message = gettext(
            "Everybody with this role would get more without a second administrator. Make another "
            "role of it, and give them that."
        )
        raise NotAllowed(message)
    _record(f"people.role_{what}", payload | _moved("permissions", was, now), by, rows)


def _record(kind: str, payload: Changes, by: User | None, rows: Rows) -> None:
    actor = "system" if by is None else by.actor
    record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=actor, **rows.moved())
