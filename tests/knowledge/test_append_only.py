"""Releases and publications are written once, whoever asks."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from ieim.audit.models import AppendOnlyError
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Publication, Release
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def release(bundle: Bundle) -> Release:
    import_bundle(bundle=bundle, by=None)
    return publish(note="First", by=None)


def test_it_refuses_to_save_or_delete_what_is_stored(release: Release) -> None:
    publication = Publication.objects.get()
    for row in (release, publication, Release.objects.get()):
        with pytest.raises(AppendOnlyError):
            row.save()
        with pytest.raises(AppendOnlyError):
            row.delete()


def test_it_refuses_updates_and_deletes_of_querysets(release: Release) -> None:
    for rows, change in (
        (Release.objects.all(), {"note": "x"}),
        (Publication.objects.all(), {"release": release}),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**change)
        with pytest.raises(IntegrityError), transaction.atomic():
            rows._raw_delete(rows.db)
    assert Release.objects.get().note == "First"
    assert Publication.objects.count() == 1


def test_it_refuses_a_second_release_of_a_number(release: Release) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Release(number=1, sha256="0" * 64, content={}).save()


@pytest.mark.parametrize("table", ["knowledge_release", "knowledge_publication"])
def test_it_refuses_sql_that_replaces_or_empties(release: Release, table: str) -> None:
    with connection.cursor() as cursor:
        statement = f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"  # noqa: S608 - our names
        if connection.vendor == "postgresql":
            # It does not empty a table whose foreign keys are still to be checked.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            statement = f"TRUNCATE {table} CASCADE"
        with pytest.raises(IntegrityError), transaction.atomic():
            cursor.execute(statement)
    assert Release.objects.get().note == "First"
