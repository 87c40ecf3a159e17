"""Reads of proposals: their changes, the agencies they touch, and their golden questions."""

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
"""Tables with texts for somebody in danger."""


def changes(proposal: Proposal) -> list[Difference]:
    """Return the changes of ``proposal`` to the release that was current when it was made."""
    before = None if proposal.base_id is None else selectors.release(proposal.base_id)
    return differences(before, drafts.release_of(proposal))


def agencies_outside_scope(
    changed: Iterable[Difference], user: AbstractBaseUser | AnonymousUser
) -> str:
    """Return the agencies of changes outside the scope of ``user``, as words; "" for none."""
    scope = agencies_of(user)
    if scope is None:
        return ""
    # "" is the agency of entries of no single one, such as labels.
    others = sorted({change.agency for change in changed} - scope)
    return ", ".join(agency or gettext("what all agencies share") for agency in others)


def golden_state(proposal: Proposal) -> tuple[bool, GoldenRun | None]:
    """Return whether there are golden questions to ask, and the newest run of ``proposal``."""
    return GoldenQuestion.objects.exists(), proposal.golden_runs.first()


def help_numbers(changed: Iterable[Difference]) -> list[str]:
    """Return the entries of help lines and labels with changed or removed digits: a wrong telephone
    number there is a call for help that nobody answers."""
    return [
        change.entry
        for change in changed
        if change.table in _HELP
        and change.kind is not Kind.ADDED
        and any(_digits(field.before) != _digits(field.after) for field in change.fields)
    ]


def _digits(text: str) -> str:
    return "".join(re.findall(r"\d", text))
