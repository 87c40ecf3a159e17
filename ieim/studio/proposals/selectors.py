"""Reads of proposals: their changes, the agencies they touch, and their golden questions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet
from django.utils.translation import gettext

from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.scope import agencies_of
from ieim.pipeline.knowledge import Release
from ieim.studio.drafts import sets
from ieim.studio.drafts.merging import WHOLE
from ieim.studio.models import Change, GoldenQuestion, GoldenRun, Proposal
from ieim.studio.proposals.differences import Difference, Kind, differences

_HELP: Final = frozenset({"help_lines", "labels"})
"""Tables with texts for somebody in danger."""


def proposals() -> QuerySet[Proposal]:
    """Return the change sets that were proposed, newest first, with their content deferred."""
    return all_sets().exclude(state=Proposal.State.DRAFT)


def all_sets() -> QuerySet[Proposal]:
    """Return all change sets, newest first, with their content deferred."""
    return Proposal.objects.select_related("proposed_by", "decided_by").defer("content")


def sides(proposal: Proposal) -> tuple[Release | None, Release]:
    """Return the release that a change set changes, None for nothing, and what it makes of it.

    Of one that is edited that is the current release, else the one that was current when it was
    proposed. Raises :class:`ieim.knowledge.bundles.bundle.BundleError` for one that is edited and
    refers to what is not there.
    """
    if proposal.state == Proposal.State.DRAFT:
        return selectors.current_release(), sets.assembled(sets.parts_of(proposal)).release
    before = None if proposal.base_id is None else selectors.release(proposal.base_id)
    return before, _release(proposal.pk, proposal.sha256)


def changes(proposal: Proposal) -> list[Difference]:
    """Return the changes of a ``proposal``; see :func:`sides`."""
    return differences(*sides(proposal))


@lru_cache(maxsize=3)
def _release(pk: int, sha256: str) -> Release:
    content = Proposal.objects.values_list("content", flat=True).get(pk=pk, sha256=sha256)
    return Bundle.from_content(content).release()


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


def written_by(proposal: Proposal, user: AbstractBaseUser) -> list[str]:
    """Return the entries with a proposed field that ``user`` was the last to change before it was
    proposed; none for an earlier release proposed again."""
    if proposal.again_id is not None:
        return []
    parts = sets.proposed_parts(proposal)
    changes = Change.objects.filter(at__lte=proposal.proposed_at)
    names = parts.keys() & set(changes.filter(by=user.pk).values_list("table", "entry"))
    editors: dict[tuple[str, str, str], int | None] = {}
    for change in changes.filter(entry__in={entry for _, entry in names}).order_by("pk"):
        for column in change.fields:
            editors[change.table, change.entry, column] = change.by_id
    return sorted(
        {
            entry
            for (table, entry, column), editor in editors.items()
            if editor == user.pk and (table, entry) in parts
            if parts[table, entry].columns & {WHOLE, column}
        }
    )


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
