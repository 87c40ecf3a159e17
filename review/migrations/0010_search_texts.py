"""Search the citizens' words by rows of our own, with accents folded and characters apart."""

from __future__ import annotations

from itertools import islice

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from review import fulltext

BATCH = 1000


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Write the words of every item's message."""
    items, texts = apps.get_model("review", "ReviewItem"), apps.get_model("review", "SearchText")
    found = items.objects.order_by("pk").values_list("pk", "turn__text")
    rows = (
        texts(item_id=pk, words=fulltext.searched(text)) for pk, text in found.iterator(BATCH)
    )
    while batch := list(islice(rows, BATCH)):
        texts.objects.bulk_create(batch)


class Migration(migrations.Migration):

    dependencies = [("review", "0009_ranked_indexes")]

    operations = [
        migrations.RunPython(fulltext.drop, migrations.RunPython.noop),
        migrations.CreateModel(
            "SearchText",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("words", models.TextField()),
                (
                    "item",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="search_text",
                        to="review.reviewitem",
                    ),
                ),
            ],
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
