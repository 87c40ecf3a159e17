"""Translations of situations know the originals that they were made from; today's are current."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from ieim.pipeline.canonical import digest


def set_sources(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let every translation of a situation be made from the original as it is."""
    get = apps.get_model
    situations = {row.key: row for row in get("studio", "Situation").objects.all()}
    translations = list(get("studio", "Translation").objects.exclude(situation=""))
    for row in translations:
        if (original := situations.get(row.situation)) is not None:
            both = (line.partition("|") for line in original.services)
            lines = ((service.strip(), condition.strip()) for service, _, condition in both)
            conditions = sorted(" | ".join(pair) for pair in lines if pair[1])
            texts = {"name": original.name, "description": original.description}
            texts["conditions"] = conditions
            row.sources = {n: digest(text) for n, text in texts.items() if getattr(row, n)}
    get("studio", "Translation").objects.bulk_update(translations, ["sources"], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [("studio", "0016_fresh")]

    operations = [migrations.RunPython(set_sources, migrations.RunPython.noop)]
