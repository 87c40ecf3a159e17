"""The queue's indexes, by rank first."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    # Apart from the filling: PostgreSQL makes no index on a table with changes still to be checked.
    dependencies = [("review", "0008_rank")]

    operations = [
        migrations.AddIndex(
            "reviewitem",
            models.Index(
                fields=[
                    *("state", "rank", "due_at", "id"),
                    *("stage", "reason", "urgency", "language", "opened_at"),
                ],
                name="review_queue",
            ),
        ),
        migrations.AddIndex(
            "reviewitem",
            models.Index(
                fields=["state", "agencies", "rank", "due_at", "id"], name="review_agencies"
            ),
        ),
        migrations.AddIndex(
            "reviewitem",
            models.Index(fields=["claimed_by", "state", "rank", "due_at"], name="review_mine"),
        ),
    ]
