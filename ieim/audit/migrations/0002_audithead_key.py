from django.db import migrations, models

from ieim.audit.triggers import append_only


class Migration(migrations.Migration):
    """The key of a session's digests stands beside its events."""

    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="audithead",
            name="key",
            field=models.BinaryField(db_default=b"", default=b""),
        ),
        append_only(
            "audit_audithead",
            keys=[["chain"]],
            update_if="NEW.chain = OLD.chain AND NEW.seq = OLD.seq + 1",
        ),
    ]
