from django.db import migrations

from ieim.audit.triggers import append_only


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_initial")]

    operations = [
        append_only("knowledge_release", keys=[["number"]]),
        append_only("knowledge_publication", keys=[]),
    ]
