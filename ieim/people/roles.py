"""The roles of staff: Django groups with these permissions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import product


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
        *permissions("people", ("user", "agencyscope"), _ALL),
        *permissions("auth", ("group",), ("view",)),
        *permissions("people", ("token",), ("view", "delete")),
        "administration.change_section",
        "review.view_metrics",
    ),
}
"""The permissions of each role; ``make_roles`` gives its group exactly these."""
