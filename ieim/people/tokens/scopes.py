"""What a token may be for: words that people choose from, and the permissions behind each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from ieim.people.models import User
from ieim.people.roles import DRAFT, each


@dataclass(frozen=True, slots=True)
class Scope:
    """What somebody reads of a scope, and its permissions."""

    says: str | Promise
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
    "knowledge:read": Scope(
        _("Read the draft, releases, proposals and notices"),
        frozenset(
            (
                *each("studio", (*DRAFT, "proposal", "goldenrun"), ("view",)),
                *each("knowledge", ("release", "publication", "directive"), ("view",)),
            )
        ),
    ),
    "knowledge:edit": Scope(
        _("Change the draft"), frozenset(each("studio", DRAFT, ("add", "change", "delete")))
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
    "knowledge:answers": Scope(
        _("Read which answers were made from a service"), frozenset({"conversations.view_citation"})
    ),
}
"""Nothing of accounts, tokens, settings or the record: no program gives anybody rights."""


def offered(user: User) -> dict[str, Scope]:
    """Return the scopes of which a user has something."""
    return {
        name: scope
        for name, scope in SCOPES.items()
        if any(user.has_perm(permission) for permission in scope.permissions)
    }


def permissions_of(names: Iterable[str]) -> frozenset[str]:
    """Return the permissions of scopes; one that is no longer known has none."""
    known = (SCOPES[name].permissions for name in names if name in SCOPES)
    return frozenset[str]().union(*known)
