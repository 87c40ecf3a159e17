"""Index the citizens' words, each database in its own way."""

from __future__ import annotations

from django.db import migrations

from review.fulltext import index_words


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0004_api"),
        ("review", "0002_deciding"),
    ]

    operations = [index_words()]
