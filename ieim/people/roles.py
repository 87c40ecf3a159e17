"""The roles of staff: Django groups with these permissions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_lazy

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


class Role(StrEnum):
    """A role; its value is the group's name."""

    CASEWORKER = "caseworker"
    """Clears the queue of their agencies."""
    SUPERVISOR = "supervisor"
    """A caseworker who hands out work, sees the figures, and what has no agency yet."""
    EDITOR = "knowledge editor"
    """Changes what the answers are made from, and proposes it."""
    PUBLISHER = "knowledge publisher"
    """Publishes or turns down what somebody else proposed."""
    AUDITOR = "auditor"
    """Reads what was decided and recorded, and changes nothing."""
    ADMINISTRATOR = "administrator"
    """Gives people accounts, roles and agencies, and says what every page says of the office."""


def permissions(app: str, models: tuple[str, ...], actions: tuple[str, ...]) -> tuple[str, ...]:
    """Return the permissions for ``actions`` on ``models`` of an app."""
    return tuple(f"{app}.{action}_{model}" for model, action in product(models, actions))


_ALL = ("view", "add", "change", "delete")
DRAFT = (
    *("agency", "category", "service", "label", "translation"),
    *("helpline", "riskexample", "casetext", "situation", "examplequestion"),
)
_DECIDES = (
    "review.view_reviewitem",
    "review.decide_reviewitem",
    "review.second_reviewitem",
)
_TOKENS = ("people.view_token", "people.add_token")
"""The user's own tokens; the permission to delete tokens covers those of others."""
PERMISSIONS: Mapping[Role, tuple[str, ...]] = {
    Role.CASEWORKER: _DECIDES,
    Role.SUPERVISOR: (
        *_DECIDES,
        "review.supervise_reviewitem",
        "review.triage_reviewitem",
        "review.view_metrics",
        *_TOKENS,
    ),
    Role.EDITOR: (
        *permissions("studio", DRAFT, _ALL),
        *permissions("knowledge", ("release", "publication"), ("view",)),
        *permissions("studio", ("proposal", "goldenrun"), ("view", "add")),
        *permissions("knowledge", ("directive",), ("view", "add", "change")),
        "conversations.view_citation",
        "conversations.add_correctionnotice",
        "studio.add_gapaction",
        *_TOKENS,
    ),
    Role.PUBLISHER: (
        *permissions("studio", DRAFT, ("view",)),
        *permissions("knowledge", ("release", "publication", "directive"), ("view",)),
        *permissions("studio", ("goldenrun",), ("view", "add")),
        "knowledge.change_directive",
        "studio.view_proposal",
        "studio.publish_proposal",
        *_TOKENS,
    ),
    Role.AUDITOR: (
        "review.view_reviewitem",
        "review.view_decision",
        "review.view_metrics",
        "audit.view_auditevent",
    ),
    Role.ADMINISTRATOR: (
        *permissions("people", ("user",), ("view", "add", "change")),
        *permissions("people", ("token",), ("view", "delete")),
        "administration.change_section",
        "review.view_metrics",
    ),
}
"""The permissions of each role; ``make_roles`` gives its group exactly these."""

# Lazy: the settings import this module, and a noop would ask for them.
_NAMES: Mapping[str, StrPromise] = {
    Role.CASEWORKER: gettext_lazy("caseworker"),
    Role.SUPERVISOR: gettext_lazy("supervisor"),
    Role.EDITOR: gettext_lazy("knowledge editor"),
    Role.PUBLISHER: gettext_lazy("knowledge publisher"),
    Role.AUDITOR: gettext_lazy("auditor"),
    Role.ADMINISTRATOR: gettext_lazy("administrator"),
}
_DESCRIPTIONS: Mapping[str, StrPromise] = {
    Role.CASEWORKER: gettext_lazy("answers what waits for a person, and gives second opinions"),
    Role.SUPERVISOR: gettext_lazy("a caseworker who also hands out work, and sees the figures"),
    Role.EDITOR: gettext_lazy("changes what the answers are made from, and proposes it"),
    Role.PUBLISHER: gettext_lazy("publishes or turns down what somebody else has proposed"),
    Role.AUDITOR: gettext_lazy("reads what was decided and recorded, and changes nothing"),
    Role.ADMINISTRATOR: gettext_lazy("gives people accounts and roles, and changes the settings"),
}


def name_of(group: str) -> str:
    """Return the name of a role in the reader's language; that of another group as it is."""
    return str(_NAMES[group]) if group in _NAMES else group


def description_of(group: str) -> str:
    """Return in a few words what a role may do."""
    if group not in _DESCRIPTIONS:
        return gettext("a role of this site, see its permissions in the admin")
    return str(_DESCRIPTIONS[group])
