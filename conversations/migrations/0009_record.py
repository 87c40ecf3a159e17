"""Keep prompts and schemas, let spans stand until others do, and guard what is only added to."""

from __future__ import annotations

from django.db import migrations, models

from conversations.record.guards import GUARDS, guard


class Migration(migrations.Migration):

    dependencies = [
        ("audit", "0002_append_only"),
        ("conversations", "0008_rating"),
    ]

    operations = [
        migrations.CreateModel(
            name="Artifact",
            fields=[
                ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("content", models.BinaryField()),
            ],
        ),
        migrations.AddField(
            model_name="evidencespan",
            name="stands",
            field=models.BooleanField(default=True),
        ),
        *(guard(table) for table in GUARDS),
    ]
