"""Let signatures stand until they are withdrawn, and records go only with an erased session."""

from __future__ import annotations

from django.db import migrations, models

from review.record import GUARDS, guard


class Migration(migrations.Migration):

    dependencies = [
        ("audit", "0002_append_only"),
        ("conversations", "0009_record"),
        ("review", "0011_search_index"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="signoff", name="signed_once_an_agency"),
        migrations.AddField(
            model_name="signoff",
            name="stands",
            field=models.BooleanField(default=True),
        ),
        migrations.AddConstraint(
            model_name="signoff",
            constraint=models.UniqueConstraint(
                fields=["item", "agency"],
                condition=models.Q(stands=True),
                name="signed_once_an_agency",
            ),
        ),
        *(guard(table) for table in GUARDS),
    ]
