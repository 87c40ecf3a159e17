"""Keep how much of a prompt a provider's prefix cache had."""

from __future__ import annotations

from django.db import migrations, models

from conversations.record.guards import guard


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0012_unused"),
    ]

    operations = [
        migrations.AddField(
            model_name="attempt",
            name="cached_tokens",
            field=models.PositiveIntegerField(null=True),
        ),
        guard("conversations_attempt"),
    ]
