from django.db import migrations, models

from ieim.audit.services import ERASED
from ieim.audit.triggers import Guard, ended_by, guarded


def _set_legacy_rename(state):
    def run(apps, editor):
        # SQLite builds a new table and renames it. Otherwise it refuses, because triggers of other
        # tables read this one, which is not there at that moment.
        if editor.connection.vendor == "sqlite":
            editor.execute(f"PRAGMA legacy_alter_table = {state}")

    return run


class Migration(migrations.Migration):
    """What a conversation's events say can be emptied once it is erased, and nothing else of them.

    What stands in the table has neither column filled: it is hashed as before, and stays.
    """

    dependencies = [("audit", "0003_event_indexes")]

    operations = [
        migrations.RunPython(_set_legacy_rename("ON"), _set_legacy_rename("OFF")),
        migrations.AddField(
            model_name="auditevent",
            name="salt",
            field=models.CharField(db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            model_name="auditevent",
            name="digest",
            field=models.CharField(db_default="", default="", max_length=64),
        ),
        migrations.RunPython(_set_legacy_rename("OFF"), _set_legacy_rename("ON")),
        guarded(
            Guard(
                "audit_auditevent",
                keys=[["chain", "seq"]],
                may_change=["at", "payload", "salt"],
                update_if=(
                    "NEW.payload = '{}' AND NEW.salt = '' AND OLD.digest <> '' "
                    f"AND NEW.at <= OLD.at AND {ended_by(ERASED, 'OLD.chain')}"
                ),
            )
        ),
    ]
