from django.db import migrations

from ieim.audit.triggers import append_only


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        append_only("audit_auditevent", keys=[["chain", "seq"]]),
        append_only("audit_auditcheckpoint", keys=[["number"]]),
        append_only("audit_checkpointhead", keys=[["chain", "seq"]]),
        append_only(
            "audit_audithead",
            keys=[["chain"]],
            update_if="NEW.chain = OLD.chain AND NEW.seq = OLD.seq + 1",
        ),
    ]
