"""The scopes of tokens, with their descriptions and permissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from ieim.people.models import User
from ieim.people.roles import DRAFT, permissions


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope: its description for people, and its permissions."""

    description: str | Promise
    permissions: frozenset[str]


SCOPES: Mapping[str, Scope] = {
    "review:read": Scope(
        _("Read the queue and its items, with what citizens wrote"),
        frozenset({"review.view_reviewitem"}),
    ),
    "review:triage": Scope(
        _("Have the items too that no agency was found for"),
        frozenset({"review.triage_reviewitem"}),
    ),
    "review:decide": Scope(
        _("Claim items, decide them, and write to their citizens"),
        frozenset({"review.decide_reviewitem"}),
    ),
    "review:second": Scope(
        _("Give a second opinion on decisions"), frozenset({"review.second_reviewitem"})
    ),
    "review:lead": Scope(
        _("Read the board and the figures, share items out, and set absences"),
        frozenset({"review.supervise_reviewitem", "review.view_metrics"}),
    ),
    "knowledge:read": Scope(
        _("Read the draft, releases, proposals and notices"),
        frozenset(
            (
                *permissions("studio", (*DRAFT, "proposal", "goldenrun"), ("view",)),
                *permissions("knowledge", ("release", "publication", "directive"), ("view",)),
            )
        ),
    ),
    "knowledge:edit": Scope(
        _("Change the draft"), frozenset(permissions("studio", DRAFT, ("add", "change", "delete")))
    ),
    "knowledge:propose": Scope(
        _("Propose the draft, and take a proposal back"), frozenset({"studio.add_proposal"})
    ),
    "knowledge:publish": Scope(
        _("Publish or turn down what somebody else proposed"),
        frozenset({"studio.publish_proposal"}),
    ),
    "knowledge:try": Scope(
        _("Try questions on the draft, and ask the golden questions"),
        frozenset({"studio.add_goldenrun"}),
    ),
    "knowledge:notices": Scope(
        _("Add and end notices"),
        frozenset({"knowledge.add_directive", "knowledge.change_directive"}),
    ),
    "knowledge:gaps": Scope(
        _("Read the questions that ended badly, and do something about them"),
        frozenset({"studio.add_gapaction"}),
    ),
    "knowledge:answers": Scope(
        _("Read which answers were made from a service"), frozenset({"conversations.view_citation"})
    ),
}
"""No scope covers accounts, tokens, settings or the audit record: no program grants rights."""


def offered(user: User) -> dict[str, Scope]:
    """Return the scopes of which a user has at least one permission."""
    return {
        name: scope
        for name, scope in SCOPES.items()
        if any(user.has_perm(permission) for permission in scope.permissions)
    }


def permissions_of(names: Iterable[str]) -> frozenset[str]:
    """Return the permissions of scopes; one that no longer exists has none."""
    return frozenset[str]().union(*(SCOPES[name].permissions for name in names if name in SCOPES))
