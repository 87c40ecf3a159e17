"""Importing into the draft and publishing it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.knowledge import selectors
from ieim.knowledge.audited import PUBLICATION, RELEASE
from ieim.knowledge.bundles.bundle import Bundle, default_labels, read_bundle
from ieim.knowledge.models import Publication, Release
from ieim.people.models import User
from ieim.studio.drafts import publishing, services
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import Counts, import_bundle
from ieim.studio.models import Agency, Category, Label, Service
from tests.knowledge.bundles import Tables, tables, write

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def bundle_of(folder: Path, content: Tables) -> Bundle:
    return read_bundle(write(folder, content))


def last_event() -> AuditEvent:
    event = AuditEvent.objects.filter(chain=SYSTEM_CHAIN).order_by("seq").last()
    assert event is not None
    return event


def test_it_stores_a_bundle_as_the_draft(bundle: Bundle) -> None:
    result = import_bundle(bundle=bundle, by=None)
    assert result == {
        "agencies": Counts(2, 0, 0, 0),
        "dictionary": Counts(2, 0, 0, 0),
        "services": Counts(2, 0, 0, 0),
        "labels": Counts(3, 0, 0, 0),
        "translations": Counts(0, 0, 0, 0),
        "help_lines": Counts(0, 0, 0, 0),
        "risk_examples": Counts(0, 0, 0, 0),
        "texts": Counts(0, 0, 0, 0),
        "situations": Counts(0, 0, 0, 0),
        "questions": Counts(0, 0, 0, 0),
    }
    assert drafts.draft() == bundle
    service = Service.objects.get(agency="passports", key="renew")
    assert service.requirements == ["A photo", "The old passport"]
    assert service.categories == ["travel"]


def test_it_changes_nothing_when_the_draft_is_the_same(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    result = import_bundle(bundle=bundle, by=None)
    assert {counts.unchanged for counts in result.values()} == {0, 2, 3}
    assert all(c.added == c.changed == c.removed == 0 for c in result.values())


def test_it_replaces_the_draft_and_counts_what_it_did(tmp_path: Path, bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    service = Service.objects.get(key="return").pk
    content = tables()
    content["services"] = [
        {"agency": "roads", "key": "permit", "name": "Parking permit"},
        {"agency": "tax", "key": "return", "name": "File a tax return", "fees": "free"},
    ]
    content["agencies"] = [{"id": "roads", "name": "Roads"}, {"id": "tax", "name": "Revenue"}]
    content["dictionary"] = content["dictionary"][1:]
    del content["labels"]
    other = bundle_of(tmp_path / "other", content)
    result = import_bundle(bundle=other, by=None)
    assert result["agencies"] == Counts(added=1, changed=1, removed=1, unchanged=0)
    assert result["dictionary"] == Counts(added=0, changed=0, removed=1, unchanged=1)
    assert result["services"] == Counts(added=1, changed=1, removed=1, unchanged=0)
    labels = result["labels"]
    assert labels.added + labels.changed + labels.unchanged == len(default_labels())
    assert drafts.draft().content == other.content
    assert Service.objects.get(key="return").pk == service


def test_it_keeps_the_order_of_the_bundle(tmp_path: Path, bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    content = tables()
    for rows in content.values():
        rows.reverse()
    turned = bundle_of(tmp_path / "turned", content)
    result = import_bundle(bundle=turned, by=None)
    assert all(c.added == c.changed == c.removed == 0 for c in result.values())
    assert drafts.draft() == turned


def test_it_undoes_an_import_that_fails_midway(
    tmp_path: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_bundle(bundle=bundle, by=None)
    events = AuditEvent.objects.count()

    def fail(**_: object) -> None:
        raise RuntimeError("the record is not to be had")

    monkeypatch.setattr(services, "record_system", fail)
    content = tables()
    content["agencies"][0]["name"] = "Another name"
    content["services"] = []
    with pytest.raises(RuntimeError):
        import_bundle(bundle=bundle_of(tmp_path / "other", content), by=None)
    assert drafts.draft() == bundle
    assert AuditEvent.objects.count() == events


def test_it_records_an_import(bundle: Bundle, editor: User) -> None:
    import_bundle(bundle=bundle, by=editor)
    event = last_event()
    assert (event.kind, event.actor) == ("knowledge.imported", "staff:edith")
    payload = json.loads(event.payload)
    assert payload["tables"]["services"] == {
        "added": 2,
        "changed": 0,
        "removed": 0,
        "unchanged": 0,
    }


def test_it_publishes_the_draft(bundle: Bundle, editor: User) -> None:
    import_bundle(bundle=bundle, by=editor)
    release = publish(note="First", by=editor)
    assert (release.number, release.note, release.created_by) == (1, "First", editor)
    assert release.sha256 == bundle.release().sha256
    publication = Publication.objects.get()
    assert (publication.release, publication.published_by) == (release, editor)
    assert selectors.current_release() == bundle.release(1)
    event = last_event()
    assert (event.kind, event.actor) == ("knowledge.published", "staff:edith")
    assert json.loads(event.payload) == {
        "agencies": 2,
        "release": 1,
        "services": 2,
        "sha256": release.sha256,
        "rows": [list(RELEASE.row(release)), list(PUBLICATION.row(publication))],
    }


def test_it_numbers_releases_and_leaves_older_ones_alone(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    Service.objects.filter(key="return").update(fees="free")
    assert publish(note="", by=None).number == 2
    assert selectors.release(1) == bundle.release(1)
    assert selectors.release(2).services["tax", "return"].fees == "free"


def test_it_refuses_to_publish_what_is_current_already(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    publish(note="", by=None)
    with pytest.raises(publishing.NothingToPublishError) as caught:
        publish(note="again", by=None)
    assert caught.value.number == 1
    assert Release.objects.count() == Publication.objects.count() == 1


def test_it_refuses_to_publish_an_empty_draft() -> None:
    Agency.objects.create(id="a", name="A")
    with pytest.raises(publishing.PublishError, match="The draft has no services"):
        publish(note="", by=None)
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("model", "values", "expected"),
    [
        (
            Service,
            {"url": "javascript:alert(1)"},
            ["service passports renew: url is", "service tax"],
        ),
        (Service, {"categories": ["gone"]}, ["category 'gone' is not in the dictionary"] * 2),
        (Category, {"key": "other"}, ["service passports renew: category 'travel'"]),
        (Label, {"effect": "x"}, ["label intents apply: effect"] + ["label "] * 2),
    ],
)
def test_it_refuses_to_publish_a_faulty_draft(
    bundle: Bundle, model: Any, values: dict[str, Any], expected: Sequence[str]
) -> None:
    import_bundle(bundle=bundle, by=None)
    model.objects.update(**values)
    with pytest.raises(publishing.PublishError) as caught:
        publish(note="", by=None)
    reasons = caught.value.reasons
    assert len(reasons) == len(expected)
    assert all(part in reason for part, reason in zip(expected, reasons, strict=True))
    assert not Release.objects.exists()


def test_it_publishes_the_default_labels_for_a_draft_without_any(bundle: Bundle) -> None:
    import_bundle(bundle=bundle, by=None)
    Label.objects.all().delete()
    publish(note="", by=None)
    current = selectors.current_release()
    assert current is not None
    assert sum(len(labels) for labels in current.labels.values()) == len(default_labels())


@pytest.mark.postgres
def test_it_stores_what_postgresql_can_store(tmp_path: Path) -> None:
    content = tables()
    content["services"][0]["overview"] = "\u0001\u2028\U0001f3db\ufffe\\u0000"
    odd = bundle_of(tmp_path / "odd", content)
    import_bundle(bundle=odd, by=None)
    publish(note="", by=None)
    assert connection.vendor == "postgresql"
    assert selectors.release(1) == odd.release(1)
