"""Correction records cannot be changed, by the database's own rule.

Unlike the audit record they can be deleted: a session's erasure takes them along.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ieim.audit.triggers import append_only

TABLE = "review_decision"


def let_delete(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    on = f" ON {TABLE}" if editor.connection.vendor == "postgresql" else ""
    editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_no_delete{on}")


class Migration(migrations.Migration):
    dependencies = [("review", "0003_search")]

    operations = [
        append_only(TABLE, keys=[["id"]]),
        migrations.RunPython(let_delete, migrations.RunPython.noop),
    ]
