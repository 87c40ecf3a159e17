"""Translations whose original has changed since they were made."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from ieim.audit.models import SYSTEM_CHAIN, AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.knowledge import Release
from ieim.studio.checks import at_once
from ieim.studio.drafts import editing
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Change, DraftEntry, Translation
from tests.review.people import person

pytestmark = pytest.mark.django_db

RENEW = {"agency": "passports", "key": "renew"}
FRENCH = {"language": "fr", "agency": "passports", "service": "renew"}


@pytest.fixture
def eve(bundle: Bundle) -> User:
    """An editor who has translated the passport service and its agency."""
    import_bundle(bundle=bundle, by=None)
    eve = person("eve", Role.EDITOR)
    texts = {"name": "Renouveler un passeport", "fees": "80 couronnes", "contact": "Écrivez-nous"}
    save(eve, "translations", None, **FRENCH, **texts)
    save(eve, "translations", None, language="fr", agency="passports", name="Les passeports")
    return eve


def save(by: User, table: Table, seen: int | None, **values: Any) -> DraftEntry:
    return editing.save(
        table=table, values=values, by=by, expected_version=seen, source=Change.Source.ADMIN
    )


def french() -> Translation:
    return Translation.objects.get(language="fr", service="renew")


def confirm(by: User, seen: int) -> None:
    editing.confirm_translation(
        translation=french(), by=by, expected_version=seen, source=Change.Source.ADMIN
    )


def stale() -> dict[str, tuple[str, ...]]:
    """The stale fields of the draft, by the key of the service."""
    return {row.service: row.stale for row in drafts.draft().translations if row.stale}


def test_a_text_is_stale_once_its_original_changes(eve: User) -> None:
    assert stale() == {}
    save(eve, "services", 1, **RENEW, fees="90 crowns", processing_time="Two weeks")
    assert stale() == {"renew": ("fees",)}  # how long it takes is not translated
    save(eve, "agencies", 1, id="passports", name="Passports and visas")
    assert stale() == {"renew": ("fees",), "": ("name",)}


def test_translating_it_again_makes_that_text_current_and_no_other(eve: User) -> None:
    save(eve, "services", 1, **RENEW, fees="90 crowns", contact="Write to us")
    save(eve, "translations", 1, **FRENCH, fees="90 couronnes")
    assert stale() == {"renew": ("contact",)}
    save(eve, "services", 2, **RENEW, fees="80 crowns")
    assert stale() == {"renew": ("fees", "contact")}


def test_the_original_taken_back_makes_it_current(eve: User) -> None:
    before = drafts.draft()
    save(eve, "services", 1, **RENEW, fees="90 crowns")
    assert drafts.draft().release().sha256 != before.release().sha256
    original = next(s for s in before.services if s.key == "renew")
    save(eve, "services", 2, **RENEW, fees=original.fees)
    assert drafts.draft().content == before.content


def test_somebody_says_that_it_is_still_right(eve: User) -> None:
    save(eve, "services", 1, **RENEW, fees="90 crowns")
    stranger = person("pat", Role.EDITOR, "taxes")
    with pytest.raises(editing.Stale):
        confirm(eve, seen=7)
    with pytest.raises(editing.OutOfScope):
        confirm(stranger, seen=1)
    assert stale() == {"renew": ("fees",)}
    confirm(eve, seen=1)
    assert stale() == {}
    change = Change.objects.first()
    assert change is not None
    assert (change.by, change.fields) == (eve, {"stale": [["fees"], []]})
    event = AuditEvent.objects.filter(chain=SYSTEM_CHAIN).latest("seq")
    assert event.kind == "knowledge.changed"
    assert french().version == 2


def test_an_import_marks_what_it_leaves_behind(eve: User) -> None:
    bundle = drafts.draft()
    services = [replace(s, fees="90 crowns") if s.key == "renew" else s for s in bundle.services]
    import_bundle(bundle=replace(bundle, services=tuple(services)), by=None)
    assert stale() == {"renew": ("fees",)}
    texts = [replace(t, fees="90 couronnes", stale=()) for t in bundle.translations if t.service]
    import_bundle(
        bundle=replace(bundle, services=tuple(services), translations=tuple(texts)), by=None
    )
    assert stale() == {}


def test_the_checks_name_the_texts(eve: User) -> None:
    save(eve, "services", 1, **RENEW, fees="90 crowns")
    remarks = at_once(drafts.draft(), budget=None)
    (remark,) = [remark for remark in remarks if remark.code == "translation.stale"]
    assert (remark.entry, remark.agency) == ("fr passports renew", "passports")
    assert "translated: fees." in remark.sentence


def test_a_release_reads_as_the_setting_says(eve: User) -> None:
    save(eve, "services", 1, **RENEW, name="Renew your passport", fees="90 crowns")
    content = drafts.draft().content
    assert [row["stale"] for row in content["translations"] if "stale" in row] == [("name", "fees")]
    release: Release = Bundle.from_content(content).release()
    key = ("passports", "renew")
    shown, left_out = (release.in_language("fr", omit_stale=omit) for omit in (False, True))
    assert (shown.services[key].fees, left_out.services[key].fees) == ("90 crowns", "")
    assert shown.services[key].name == left_out.services[key].name == "Renew your passport"
    assert shown.translated[key] == left_out.translated[key] == {"contact"}
    assert left_out.services[key].contact == "Écrivez-nous"


def test_the_migration_counts_what_is_there_as_current(eve: User) -> None:
    save(eve, "translations", None, language="fr", agency="passports", category="travel", name="V")
    before = dict(Translation.objects.values_list("pk", "sources"))
    Translation.objects.update(sources={})
    migration = import_module("ieim.studio.migrations.0014_translation_sources")
    migration.set_sources(apps, None)
    assert dict(Translation.objects.values_list("pk", "sources")) == before
    assert all(before.values())
