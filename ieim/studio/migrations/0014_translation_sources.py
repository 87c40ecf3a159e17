"""Translations know the originals that they were made from; today's count as current."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ieim.pipeline.canonical import digest

SERVICE = (
    *("name", "overview", "applicability_summary", "requirements", "fees", "processing_time"),
    *("how_to_apply", "contact"),
)


def set_sources(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let every translation be made from the original as it is."""
    get = apps.get_model
    agencies = {(row.pk, "", ""): row for row in get("studio", "Agency").objects.all()}
    categories = {(c.agency_id, c.key, ""): c for c in get("studio", "Category").objects.all()}
    services = {(s.agency_id, "", s.key): s for s in get("studio", "Service").objects.all()}
    originals = {**agencies, **categories, **services}
    translations = list(get("studio", "Translation").objects.all())
    for row in translations:
        columns = {"name": "name", "description": "description"}
        if row.category:
            columns = {"name": "value"}
        elif row.service:
            columns = {name: name for name in SERVICE}
        original = originals.get((row.agency_id, row.category, row.service))
        if original is not None:
            row.sources = {
                name: digest(getattr(original, column))
                for name, column in columns.items()
                if getattr(row, name)
            }
    get("studio", "Translation").objects.bulk_update(translations, ["sources"], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [("studio", "0013_gaps")]

    operations = [
        migrations.AddField(
            model_name="translation",
            name="sources",
            field=models.JSONField(
                db_default=models.Value({}, models.JSONField()), default=dict, editable=False
            ),
        ),
        migrations.RunPython(set_sources, migrations.RunPython.noop),
    ]
