"""The index over the words, each database's own."""

from __future__ import annotations

from django.db import migrations

from review import fulltext


class Migration(migrations.Migration):

    dependencies = [("review", "0010_search_texts")]

    operations = [migrations.RunPython(fulltext.create, fulltext.drop)]
