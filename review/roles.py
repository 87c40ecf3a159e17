"""The roles of the people who work with IEIM: Django groups with these permissions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import product

from django.contrib.auth.models import Group, Permission
from django.db import transaction


class Role(StrEnum):
    """A role; its value is the group's name."""

    CASEWORKER = "caseworker"
    """Clears the queue of their agencies."""
    SUPERVISOR = "supervisor"
    """A caseworker who hands out work and sees the figures."""
    EDITOR = "knowledge editor"
    """Changes what the answers are made from."""
    AUDITOR = "auditor"
    """Reads what was decided and recorded, and changes nothing."""
    ADMINISTRATOR = "administrator"
    """Gives people accounts, roles and agencies."""


def _each(app: str, models: tuple[str, ...], actions: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{app}.{action}_{model}" for model, action in product(models, actions))


_ALL = ("view", "add", "change", "delete")
_DECIDES = (
    "review.view_reviewitem",
    "review.decide_reviewitem",
    "review.second_reviewitem",
)
PERMISSIONS: Mapping[Role, tuple[str, ...]] = {
    Role.CASEWORKER: _DECIDES,
    Role.SUPERVISOR: (*_DECIDES, "review.supervise_reviewitem", "review.view_metrics"),
    Role.EDITOR: (
        *_each("knowledge", ("agency", "category", "service", "label", "translation"), _ALL),
        *_each("knowledge", ("release", "publication"), ("view",)),
        *_each("knowledge", ("proposal",), ("view", "add")),
        "knowledge.publish_proposal",
        *_each("knowledge", ("directive",), ("view", "add", "change")),
        "conversations.view_citation",
        "conversations.add_correctionnotice",
    ),
    Role.AUDITOR: (
        "review.view_reviewitem",
        "review.view_decision",
        "review.view_metrics",
        *_each("audit", ("auditevent", "auditcheckpoint"), ("view",)),
    ),
    Role.ADMINISTRATOR: (
        *_each("auth", ("user",), _ALL),
        *_each("auth", ("group",), ("view",)),
        *_each("knowledge", ("agencyscope",), _ALL),
        "review.view_metrics",
    ),
}
"""What each role may; a group that has more is brought back to this."""


@transaction.atomic
def make_roles() -> None:
    """Create the groups that are missing, and give every role exactly its permissions."""
    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    for role, names in PERMISSIONS.items():
        group, _ = Group.objects.get_or_create(name=role.value)
        group.permissions.set([known[name] for name in names])
