"""The JSON socket is gone, and its table of events with it.

Processes of the version before still write to the table while they are replaced, so it stays for
one more version: emptied, because it repeats what citizens read, and without constraints, so that
what is still written hinders no erasure.
"""

from django.db import migrations, models


def empty(apps, schema_editor):
    apps.get_model("conversations", "SessionEvent").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0005_webhooks"),
    ]

    operations = [
        migrations.AlterField(
            model_name="sessionevent",
            name="session",
            field=models.ForeignKey(
                to="conversations.session",
                on_delete=models.CASCADE,
                related_name="events",
                db_constraint=False,
            ),
        ),
        migrations.AlterField(
            model_name="sessionevent",
            name="turn",
            field=models.ForeignKey(
                to="conversations.turn",
                on_delete=models.CASCADE,
                related_name="events",
                null=True,
                db_constraint=False,
            ),
        ),
        migrations.RunPython(empty, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(name="SessionEvent")]
        ),
    ]
