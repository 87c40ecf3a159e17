"""Rank 1 is of weak signs of danger now: an urgency of a minute comes after them."""

from __future__ import annotations

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_room(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    items = apps.get_model("review", "ReviewItem").objects.using(editor.connection.alias)
    items.filter(rank=1).update(rank=2)


class Migration(migrations.Migration):
    dependencies = [("review", "0002_person")]
    operations = [migrations.RunPython(make_room, migrations.RunPython.noop)]
