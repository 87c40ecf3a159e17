"""Let what is most urgent come first, a crisis before everything."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

CRISIS, NORMAL, LONGEST = 0, 1440, 365 * 24 * 60
BATCH = 1000


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Give the items that nobody has decided their rank, from the labels of their releases."""
    items, releases = apps.get_model("review", "ReviewItem"), apps.get_model("knowledge", "Release")

    @cache
    def labels(number: int) -> Mapping[tuple[str, str], str]:
        found = releases.objects.filter(number=number).values_list("content", flat=True).first()
        rows = (found or {}).get("labels", [])
        return {(row["set"], row["code"]): row.get("effect") or "" for row in rows}

    def rank(item: Any) -> int:
        known = labels(item.turn.release_number)
        if any(known.get(("risk_flags", r["code"])) == "escalate" for r in item.turn.risks):
            return CRISIS
        minutes = known.get(("urgencies", item.urgency), "")
        return min(max(int(minutes), 1), LONGEST) if minutes else NORMAL

    changed = []
    waiting = items.objects.exclude(state="decided").select_related("turn").order_by("pk")
    for item in waiting.iterator(BATCH):
        item.rank = rank(item)
        if item.rank != NORMAL:
            changed.append(item)
    items.objects.bulk_update(changed, ["rank"], batch_size=BATCH)


class Migration(migrations.Migration):

    dependencies = [
        ("review", "0007_fill_agency_sets"),
        ("conversations", "0008_rating"),
        ("knowledge", "0006_check_runs"),
    ]

    operations = [
        migrations.AddField("reviewitem", "rank", models.PositiveIntegerField(default=NORMAL)),
        migrations.AlterModelOptions(
            "reviewitem",
            {
                "ordering": ["rank", "due_at", "id"],
                "permissions": [
                    ("decide_reviewitem", "Can claim and decide review items"),
                    ("supervise_reviewitem", "Can assign and take over review items"),
                    ("second_reviewitem", "Can give a second opinion"),
                    ("triage_reviewitem", "Can work on items without an agency"),
                    ("view_metrics", "Can see the metrics"),
                ],
            },
        ),
        *(
            migrations.RemoveIndex("reviewitem", name)
            for name in ("review_queue", "review_agencies", "review_mine")
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
