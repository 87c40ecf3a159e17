"""No right waits for a second administrator any more, and the table of requests goes with it.

A request that still waits is not granted; it is printed, so that an administrator can give the
rights again. Processes of the version before read the table while they are replaced, so it stays
for one more version: emptied, and without constraints.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def empty(apps, schema_editor):
    Grant = apps.get_model("people", "Grant")
    grants = Grant.objects.using(schema_editor.connection.alias)
    for grant in grants.filter(state="asked").select_related("user", "asked_by").order_by("pk"):
        rights = ", ".join(right.partition("address:")[0] or "address" for right in grant.rights)
        by = grant.asked_by.username if grant.asked_by else "-"
        print(  # noqa: T201  # read by whoever runs migrate
            f"\n  Not granted to {grant.user.username}: {rights} (requested by {by}, waited for a "
            "second administrator). Give it again if it is wanted."
        )
    grants.all().delete()


def unconstrained(field, related_name, **options):
    return migrations.AlterField(
        model_name="grant",
        name=field,
        field=models.ForeignKey(
            to=settings.AUTH_USER_MODEL,
            related_name=related_name,
            db_constraint=False,
            **options,
        ),
    )


class Migration(migrations.Migration):

    dependencies = [
        ("people", "0003_token"),
    ]

    operations = [
        unconstrained("user", "grants", on_delete=django.db.models.deletion.CASCADE),
        unconstrained(
            "asked_by", "+", on_delete=django.db.models.deletion.SET_NULL, null=True
        ),
        unconstrained(
            "decided_by", "+", on_delete=django.db.models.deletion.SET_NULL, null=True
        ),
        migrations.RunPython(empty, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(name="Grant")]
        ),
    ]
