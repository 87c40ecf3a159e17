from django.db import migrations, models


class Migration(migrations.Migration):
    """Events are looked for by kind, actor and time, however many there are."""

    dependencies = [("audit", "0002_audithead_key")]

    operations = [
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["at", "id"], name="audit_event_at"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["kind", "at", "id"], name="audit_event_kind_at"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["actor", "at", "id"], name="audit_event_actor_at"),
        ),
        migrations.RemoveIndex(model_name="auditevent", name="audit_event_kind"),
    ]
