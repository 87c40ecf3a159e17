"""The list of translations and the coverage on the overview."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing, services
from ieim.studio.models import Change, Translation
from tests.review.people import browser, person
from tests.studio.editor.entry_pages import filled
from tests.studio.proposals.proposing import change

pytestmark = pytest.mark.django_db
LIST = "/knowledge/translations/?language=fr"
EDIT = "/knowledge/translations/edit/?language=fr&agency=passports&service=renew"
FRENCH = {"language": "fr", "agency": "passports", "service": "renew"}


@pytest.fixture
def eve(bundle: Bundle) -> User:
    services.import_bundle(bundle=bundle, by=None)
    return person("eve", Role.EDITOR)


def translate(by: User, **texts: Any) -> Translation:
    """Translate the passport service into French."""
    editing.save(
        table="translations",
        values={**FRENCH, **texts},
        by=by,
        expected_version=None,
        source=Change.Source.ADMIN,
    )
    return Translation.objects.get()


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_what_is_stale_is_marked_until_somebody_says_that_it_is_right(eve: User) -> None:
    row, page = translate(eve, name="Renouveler", fees="80 couronnes"), browser(eve)
    assert "Out of date</strong>" not in text(page.get(f"{LIST}&state=all"))
    change(eve, fees="90 crowns")
    html = text(page.get(f"{LIST}&state=stale"))
    assert html.count("Out of date</strong>") == 1
    assert html.index("90 crowns</div>") < html.index("Out of date</strong>")
    assert f'href="{EDIT}"'.replace("&", "&amp;") in html
    confirm = f"/knowledge/translations/{row.pk}/confirm/"
    refused = page.post(confirm, {"version": "5", "state": "stale"}, follow=True)
    assert "after you opened it" in text(refused)
    done = page.post(confirm, {"version": "1", "state": "stale"}, follow=True)
    assert "These texts count as up to date." in text(done)
    assert "There is nothing of this kind." in text(done)


def test_it_is_edited_beside_the_original_from_the_service_too(eve: User) -> None:
    row, client = translate(eve, name="Renouveler", fees="80 couronnes"), browser(eve)
    change(eve, fees="90 crowns")
    service = text(client.get("/knowledge/services/passports/renew/"))
    assert f'href="{EDIT}">Translation: French</a>'.replace("&", "&amp;") in service
    assert "/admin/studio/translation/" not in service
    page = client.get(EDIT)
    html = text(page)
    assert html.index("Out of date</strong>") < html.index("90 crowns</div>")
    assert 'href="/knowledge/services/passports/renew/">The original</a>' in html
    assert page.context["form"].fields.keys() == {"seen", *TRANSLATED["service"]}
    data = filled(client, EDIT, fees="90 couronnes")
    assert client.post(EDIT, data)["Location"] == EDIT
    row.refresh_from_db()
    assert (row.name, row.fees, row.version) == ("Renouveler", "90 couronnes", 2)
    assert "Out of date</strong>" not in text(client.get(EDIT))
    stale = client.post(EDIT, {**data, "fees": "91 couronnes"})
    assert stale.status_code == 422
    assert "Two people changed “What it costs”" in text(stale)


def test_a_new_translation_is_of_what_the_address_says(eve: User, settings: Any) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["en", "fr"]}
    client = browser(eve)
    assert client.post(EDIT, filled(client, EDIT, name="Renouveler")).status_code == 303
    row = Translation.objects.get()
    assert (row.language, row.agency_id, row.service, row.name) == (*FRENCH.values(), "Renouveler")
    for nothing in (EDIT.replace("=fr", "=xx"), EDIT.replace("renew", "nothing")):
        assert client.get(nothing).status_code == 404
    other = browser(person("pat", Role.EDITOR, "visas"))
    assert other.get(EDIT).status_code == 200
    assert other.post(EDIT, {"seen": "1", "name": "x"}).status_code == 403
    assert other.get(EDIT.replace("&service=renew", "")).status_code == 403


def test_a_reader_of_another_agency_sees_it_and_changes_nothing(eve: User) -> None:
    row = translate(eve, name="Renouveler", fees="80 couronnes")
    change(eve, fees="90 crowns")
    other = browser(person("pat", Role.EDITOR, "visas"))
    assert "still right" not in text(other.get(f"{LIST}&state=stale"))
    refused = other.post(f"/knowledge/translations/{row.pk}/confirm/", {"version": "1"})
    assert refused.status_code == 404
    assert row.sources == Translation.objects.get().sources
    assert browser(person("ann", Role.AUDITOR)).get(LIST).status_code == 403


def test_the_overview_counts_whole_translations_that_are_current(
    eve: User, bundle: Bundle, settings: Any
) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["en", "de"]}
    page, total = browser(eve), len(bundle.services)
    original = next(s for s in bundle.services if s.key == "renew")
    columns = ("overview", "applicability_summary", "fees", "processing_time", "contact")
    texts = {name: f"({getattr(original, name)})" for name in columns if getattr(original, name)}
    lists = {name: list(getattr(original, name)) for name in ("requirements", "how_to_apply")}
    translate(eve, name="Renouveler", **texts, **lists)
    home = text(page.get("/knowledge/"))
    assert f">German 0 of {total}</a>" in home
    assert f'?language=fr">French 1 of {total}</a>' in home
    change(eve, fees="91 crowns")
    assert f">French 0 of {total}</a> (1 out of date)" in text(page.get("/knowledge/"))


def test_one_language_says_how_to_have_more(eve: User) -> None:
    assert "IEIM_LANGUAGES" in text(browser(eve).get("/knowledge/translations/"))
    assert "language=" not in text(browser(eve).get("/knowledge/"))
