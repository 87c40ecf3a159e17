"""What a proposal changes, and which agencies it touches: who decides works for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.translation import gettext

from ieim.knowledge import selectors
from ieim.people.scope import agencies_of
from ieim.studio.drafts import cached as drafts
from ieim.studio.models import GoldenQuestion, GoldenRun, Proposal
from ieim.studio.proposals.differences import Difference, Kind, differences

_HELP: Final = frozenset({"help_lines", "labels"})
"""Tables whose texts somebody in danger reads."""


def changes(proposal: Proposal) -> list[Difference]:
    """Return what ``proposal`` changes, beside the release that it was made over."""
    before = None if proposal.base_id is None else selectors.release(proposal.base_id)
    return differences(before, drafts.release_of(proposal))


def beyond(proposal: Proposal, user: AbstractBaseUser | AnonymousUser) -> str:
    """Return what ``proposal`` touches and ``user`` does not work for, in words; "" for nothing."""
    scope = agencies_of(user)
    if scope is None:
        return ""
    # "" is the agency of what belongs to no single one, such as labels.
    others = sorted({each.agency for each in changes(proposal)} - scope)
    return ", ".join(each or gettext("what all agencies share") for each in others)


def golden_state(proposal: Proposal) -> tuple[bool, GoldenRun | None]:
    """Return whether there are golden questions to ask, and the newest run of ``proposal``."""
    return GoldenQuestion.objects.exists(), proposal.golden_runs.first()


def help_numbers(changed: Iterable[Difference]) -> list[str]:
    """Return the entries of help lines and labels of which figures change or go: a wrong one there
    is a call for help that nobody answers."""
    return [
        each.entry
        for each in changed
        if each.table in _HELP
        and each.kind is not Kind.ADDED
        and any(_figures(field.before) != _figures(field.after) for field in each.fields)
    ]


def _figures(text: str) -> str:
    return "".join(re.findall(r"\d", text))
