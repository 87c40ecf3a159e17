"""Nothing any more: the index that was made here over the turns is of 0009, over rows of its own."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0004_api"),
        ("review", "0002_deciding"),
    ]

    operations: list[migrations.operations.base.Operation] = []
