"""Let the queue's index answer its filters, too."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("review", "0004_records")]

    operations = [
        migrations.RemoveIndex(model_name="reviewitem", name="review_queue"),
        migrations.AddIndex(
            model_name="reviewitem",
            index=models.Index(
                fields=[
                    *("state", "due_at", "id"),
                    *("stage", "reason", "urgency", "language", "opened_at"),
                ],
                name="review_queue",
            ),
        ),
    ]
