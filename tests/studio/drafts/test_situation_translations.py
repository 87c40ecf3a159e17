"""Translations of situations: in bundles, releases, the draft, its form, REST and as events."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.checks.rules import different_figures
from ieim.studio.drafts import editing
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Change, Translation
from ieim.studio.standards.schema_org import release_json_ld
from tests.knowledge.bundles import errors, tables, write
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, filled, said
from tests.studio.api.editing_api import Editor
from tests.studio.drafts.test_situations import MOVING, RENEW, RETURN
from tests.studio.standards.samples.samples import read

SITUATION: dict[str, Any] = {**MOVING, "services": [f"{RETURN} | if you earn 40,000", RENEW]}
GERMAN: dict[str, Any] = {
    "language": "de",
    "situation": "moving",
    "name": "Umzug",
    "conditions": [f"{RETURN} | wenn Sie 40.000 verdienen"],
}


def read_with(folder: Path, *rows: dict[str, Any]) -> Bundle:
    content = {**tables(), "situations": [SITUATION], "translations": list(rows)}
    return read_bundle(write(folder, content))


@pytest.fixture
def whole(tmp_path: Path) -> Bundle:
    return read_with(tmp_path / "whole", GERMAN)


@pytest.fixture
def eve(db: None, whole: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=whole, by=None)
    return person("eve", Role.EDITOR)


@pytest.fixture
def editor(eve: User) -> Client:
    return browser(eve)


def test_a_release_has_them_in_its_view(whole: Bundle) -> None:
    release = whole.release()
    moving = release.in_language("de").situations["moving"]
    assert (moving.name, moving.description) == ("Umzug", SITUATION["description"])
    assert [step.condition for step in moving.steps] == ["wenn Sie 40.000 verdienen", ""]
    assert release.situations["moving"].name == "Moving house"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**GERMAN, "agency": "tax"}, "has a situation and an agency: a translation is of one"),
        ({**GERMAN, "situation": ""}, "agency is missing"),
        ({**GERMAN, "situation": "x"}, "situation 'x' is not among the situations"),
        ({**GERMAN, "conditions": ["tax/x | wenn"]}, "service 'tax/x' is not there"),
        ({**GERMAN, "fees": "1"}, "a translated situation has name, description, conditions"),
        (GERMAN, "has the same language and situation as"),
    ],
)
def test_it_says_what_is_wrong(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    content = {**tables(), "situations": [SITUATION], "translations": [GERMAN, row]}
    result = errors(write(tmp_path / "bundle", content))
    assert any(message in error for error in result), result


def test_the_check_compares_the_figures_of_conditions(tmp_path: Path, whole: Bundle) -> None:
    assert list(different_figures(whole)) == []
    other = {**GERMAN, "conditions": [f"{RETURN} | wenn Sie 50.000 verdienen"]}
    (remark,) = different_figures(read_with(tmp_path / "other", other))
    assert (remark.entry, "conditions: 40 in the original, 50 here" in remark.sentence) == (
        "de moving",
        True,
    )


def test_a_changed_one_stays_one_row_and_goes_with_its_situation(eve: User) -> None:
    source = Change.Source.API
    row = {**GERMAN, "name": "Umziehen"}
    editing.save(table="translations", values=row, by=eve, expected_version=1, source=source)
    stored = Translation.objects.get()
    assert (stored.name, stored.version, stored.agency_id) == ("Umziehen", 2, None)
    identity = {"key": "moving"}
    editing.remove(table="situations", identity=identity, by=eve, expected_version=1, source=source)
    assert not Translation.objects.exists()


def test_the_form_takes_conditions_a_line_each(editor: Client) -> None:
    Translation.objects.all().delete()
    add = f"{address('translation', 'add')}?situation=moving"
    page = filled(editor, add, language="de", name="Umzug", conditions=GERMAN["conditions"][0])
    assert "requirements" not in page
    response = editor.post(add, page)
    assert response.status_code == 302, said(response)
    stored = Translation.objects.get()
    assert (stored.situation, stored.conditions) == ("moving", GERMAN["conditions"])


def test_a_program_reads_them(eve: User) -> None:
    row = Editor(eve).get("translations/entry/", language="de", situation="moving").json()
    assert {name: row[name] for name in GERMAN} == GERMAN


def test_they_are_texts_of_an_event_and_read_back(whole: Bundle) -> None:
    mapped, _ = read(release_json_ld(whole.release(1), "https://ask.example"))
    (row,) = mapped.rows["translations"].values()
    assert (row["language"], row["situation"], row["name"]) == ("de", "moving", "Umzug")


def change_situation(by: User, seen: int, **values: Any) -> None:
    source = Change.Source.ADMIN
    row = {"key": "moving", **values}
    editing.save(table="situations", values=row, by=by, expected_version=seen, source=source)


def stale() -> tuple[str, ...]:
    (row,) = drafts.draft().translations
    return row.stale


def test_it_is_stale_once_its_original_changes(eve: User) -> None:
    assert stale() == ()
    change_situation(eve, 1, services=[RENEW, f"{RETURN} | if you earn 40,000"], description="D")
    assert stale() == (), "neither the order nor what is not translated"
    services = [f"{RETURN} | if you earn 50,000", RENEW]
    change_situation(eve, 2, name="Moving home", services=services)
    assert stale() == ("name", "conditions")
    release = drafts.draft().release()
    for omit in (False, True):
        moving = release.in_language("de", omit_stale=omit).situations["moving"]
        conditions = [step.condition for step in moving.steps]
        assert (moving.name, conditions) == ("Moving home", ["if you earn 50,000", ""])
    row = {**GERMAN, "conditions": [f"{RETURN} | wenn Sie 50.000 verdienen"]}
    source = Change.Source.ADMIN
    editing.save(table="translations", values=row, by=eve, expected_version=1, source=source)
    assert stale() == ("name",)


def test_the_list_has_it_until_somebody_says_that_it_is_right(
    eve: User, editor: Client, settings: Any
) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["en", "de", "fr"]}
    change_situation(eve, 1, name="Moving home")
    html = editor.get("/knowledge/translations/?language=de&state=stale").content.decode()
    assert "Moving home" in html
    assert html.count("Out of date</strong>") == 1
    stored = Translation.objects.get()
    assert 'href="/knowledge/translations/edit/?' in html
    assert "Let the model draft" not in html
    local = browser(person("lou", Role.EDITOR, "tax"))
    confirm = f"/knowledge/translations/{stored.pk}/confirm/"
    assert local.post(confirm, {"version": "1"}).status_code == 404
    editor.post(confirm, {"version": "1"})
    assert stale() == ()
    add = "/knowledge/translations/?language=fr&state=missing"
    assert "language=fr&amp;situation=moving" in editor.get(add).content.decode()


def test_the_migration_counts_what_is_there_as_current(eve: User) -> None:
    before = Translation.objects.get().sources
    Translation.objects.update(sources={})
    migration = import_module("ieim.studio.migrations.0017_situation_sources")
    migration.set_sources(apps, None)
    assert Translation.objects.get().sources == before != {}
