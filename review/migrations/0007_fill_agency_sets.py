"""Give the items that are there their agencies, and their list to those that wait for a signature.

What was found for an item's turn stands in the stage's result; what a person handed over has the
agency in its own column.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

BATCH = 500
STAGE = "agency_detect_v1"
PROPOSALS = ("approve", "override", "retry", "write", "ask", "dismiss")


def fill_sets(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    items: Any = apps.get_model("review", "ReviewItem")._default_manager
    rows = items.order_by("pk").values_list("pk", "turn_id", "agency")
    batch = list(rows[:BATCH])
    while batch:
        found = _found(apps, [turn for _, turn, _ in batch])
        of_set: dict[frozenset[str], list[Any]] = defaultdict(list)
        for pk, turn, agency in batch:
            several = found[turn] if len(found[turn]) > 1 else frozenset[str]()
            of_set[several | (frozenset([agency]) if agency else found[turn])].append(pk)
        for ids, keys in of_set.items():
            if ids:
                items.filter(pk__in=keys).update(agencies=_set_of(apps, sorted(ids)))
        batch = list(rows.filter(pk__gt=batch[-1][0])[:BATCH])


def _found(apps: Apps, turns: list[Any]) -> defaultdict[Any, frozenset[str]]:
    stages: Any = apps.get_model("conversations", "Stage")._default_manager
    done = stages.filter(
        turn__in=turns, contract=STAGE, status__in=["passed", "approved", "overridden"]
    )
    found = defaultdict(frozenset[str])
    for turn, merge in done.values_list("turn_id", "state_merge"):
        found[turn] = frozenset(merge[STAGE]["agencyDetected"]) if merge else frozenset()
    return found


def _set_of(apps: Apps, ids: list[str]) -> Any:
    sets: Any = apps.get_model("review", "AgencySet")._default_manager
    members: Any = apps.get_model("review", "SetMember")._default_manager
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    found, new = sets.get_or_create(digest=digest, defaults={"ids": ids})
    if new:
        for agency in ids:
            members.create(set=found, agency=agency)
    return found


def move_waiting(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """A decision that waited for signatures left its item among the open ones."""
    items: Any = apps.get_model("review", "ReviewItem")._default_manager
    decisions: Any = apps.get_model("review", "Decision")._default_manager
    made = decisions.filter(item__state="open", action__in=PROPOSALS)
    last = {}
    for decision in made.order_by("created_at", "id").iterator():
        last[decision.item_id] = decision.pk
    answered = set(decisions.filter(about__item__state="open").values_list("about_id", flat=True))
    waiting = [item for item, decision in last.items() if decision not in answered]
    for start in range(0, len(waiting), BATCH):
        items.filter(pk__in=waiting[start : start + BATCH]).update(state="second_opinion")


class Migration(migrations.Migration):
    dependencies = [("review", "0006_agency_sets"), ("conversations", "0008_rating")]

    operations = [
        migrations.RunPython(fill_sets, migrations.RunPython.noop),
        migrations.RunPython(move_waiting, migrations.RunPython.noop),
    ]
