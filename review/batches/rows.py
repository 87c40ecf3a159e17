"""Groups of alike items as the queue shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.timesince import timesince
from django.utils.translation import gettext

from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.studio.labels import stage_label
from review import finding_texts
from review.batches import alike
from review.batches.alike import Group
from review.models import ReviewItem
from review.queue.filters import ItemFilter


def group_row(
    group: Group, filters: ItemFilter, release: Release | None, now: datetime
) -> dict[str, Any]:
    """Return a group as a row of the queue; its ``query`` leads to its items."""
    stage, reason, rest = group.key.split("|", 2)
    codes, number = rest.rsplit("|", 1)
    trend = gettext("{recent} in the last hour, {earlier} in the hour before")
    return {
        "number": group.number,
        "reason": finding_texts.sentence(reason),
        "stage": stage_label(stage),
        "subject": alike.subject_name(release, codes),
        "release": number,
        "trend": trend.format(recent=group.recent, earlier=group.earlier),
        "since": group.since,
        "waits": timesince(group.since, now, depth=1),
        "query": filters.with_changes(alike=group.key),
    }


def group_head(
    items: QuerySet[ReviewItem],
    user: User,
    filters: ItemFilter,
    release: Release | None,
    now: datetime,
) -> dict[str, Any] | None:
    """Return the group that a list is of, ``number`` being how many can be decided together, with
    those that the user has; None where none is open."""
    key = filters.values["alike"]
    groups = alike.groups(items, now, least=1) if key else []
    if not groups:
        return None
    number = alike.members(user, filters, key).count()
    return {**group_row(groups[0], filters, release, now), "number": number}
