from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from ieim.studio.drafts import editing as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Agency, Change, Service
from ieim.studio.standards import views
from tests.review.people import browser, person
from tests.studio.standards.samples.samples import HSDS, PASSPORTS, RENEW, SCHEMA_ORG

UPLOAD, PREVIEW = "/knowledge/standards/", "/knowledge/standards/preview/"


@pytest.fixture
def stored(bundle: Bundle, db: None) -> Bundle:
    """A draft with the agencies passports and tax."""
    import_bundle(bundle=bundle, by=None)
    return bundle


@pytest.fixture
def editing(stored: Bundle) -> Client:
    """The browser of an editor of every agency."""
    return browser(person("edna", Role.EDITOR))


def upload(client: Client, content: Any, agency: str = "") -> Any:
    """Send a file's path, or a value as a file."""
    data = content.read_bytes() if isinstance(content, Path) else json.dumps(content).encode()
    file = SimpleUploadedFile("services.json", data)
    return client.post(UPLOAD, {"file": file, "agency": agency})


def fingerprint(page: Any) -> str:
    """What the preview's form says was seen."""
    match = re.search(r'name="fingerprint" value="([0-9a-f]{64})"', page.content.decode())
    assert match
    return match[1]


def test_a_preview_shows_what_would_change_and_changes_nothing(editing: Client) -> None:
    assert upload(editing, SCHEMA_ORG).headers["Location"] == PREVIEW
    page = editing.get(PREVIEW).content.decode()
    assert "Renew a passport" in page
    assert "the index has no place for it" in page
    assert "/@graph/*/logo" in page
    assert Service.objects.count() == 2


def test_it_leads_to_the_imports_of_tables(editing: Client) -> None:
    html = editing.get(UPLOAD).content.decode()
    assert 'href="/admin/studio/service/import/">Service</a>' in html
    assert editing.get("/admin/studio/service/import/").status_code == 200


def test_a_confirmed_preview_is_imported_once(editing: Client) -> None:
    upload(editing, SCHEMA_ORG)
    shown_fingerprint = fingerprint(editing.get(PREVIEW))
    response = editing.post(PREVIEW, {"fingerprint": shown_fingerprint}, follow=True)
    assert "Imported into the draft: 6 entries added, 0 changed." in response.content.decode()
    assert Service.objects.filter(key="lost").exists()
    assert editing.get(PREVIEW).headers["Location"] == UPLOAD


def test_a_draft_that_moved_is_shown_again(editing: Client) -> None:
    upload(editing, HSDS, "passports")
    shown_fingerprint = fingerprint(editing.get(PREVIEW))
    Agency.objects.filter(pk="passports").update(name="Another", version=2)
    again = editing.post(PREVIEW, {"fingerprint": shown_fingerprint})
    assert again.status_code == 409
    assert "The draft was changed since you looked" in again.content.decode()
    assert Service.objects.count() == 2
    editing.post(PREVIEW, {"fingerprint": fingerprint(again)})
    assert Service.objects.count() == 4


def test_it_can_be_called_off(editing: Client) -> None:
    upload(editing, HSDS)
    assert editing.post(PREVIEW, {"cancel": "1"}).headers["Location"] == UPLOAD
    assert editing.get(PREVIEW).status_code == 302


def test_it_lists_every_error_and_keeps_no_file(editing: Client) -> None:
    response = upload(editing, [{"id": "a", "status": "active", "name": "<b>x"}, 7])
    assert response.status_code == 422
    assert "/1</code>: is no JSON object" in response.content.decode()
    assert editing.get(PREVIEW).status_code == 302


def test_it_asks_for_a_file(editing: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    response = editing.post(UPLOAD, {})
    assert (response.status_code, "Choose a file." in response.content.decode()) == (422, True)
    monkeypatch.setattr(views, "MAX_FILE_BYTES", 100)
    response = upload(editing, HSDS)
    assert (response.status_code, "split it" in response.content.decode()) == (422, True)


def test_people_of_one_agency_import_into_theirs_only(stored: Bundle) -> None:
    client = browser(person("paul", Role.EDITOR, "passports"))
    page = client.get(UPLOAD).content.decode()
    assert "Passport Office" in page
    assert "Revenue Service" not in page
    for agency in ("", "tax"):
        assert upload(client, HSDS, agency).status_code == 422
    upload(client, HSDS, "passports")
    client.post(PREVIEW, {"fingerprint": fingerprint(client.get(PREVIEW))})
    assert Service.objects.filter(agency="passports").count() == 3
    assert not Agency.objects.filter(pk="housing").exists()


def test_who_lost_the_agency_meanwhile_imports_nothing(stored: Bundle) -> None:
    client = browser(person("paul", Role.EDITOR, "passports"))
    upload(client, HSDS, "passports")
    shown_fingerprint = fingerprint(client.get(PREVIEW))
    AgencyScope.objects.all().delete()
    response = client.post(PREVIEW, {"fingerprint": shown_fingerprint})
    assert response.status_code == 422
    assert "You do not work for that agency" in response.content.decode()
    assert Service.objects.count() == 2


def test_others_cannot_import(stored: Bundle) -> None:
    client = browser(person("carl", Role.CASEWORKER))
    assert upload(client, HSDS).status_code == 403
    assert client.get(PREVIEW).status_code == 403


def test_an_import_of_one_person_is_not_another_s(editing: Client) -> None:
    upload(editing, HSDS)
    other = browser(person("emil", Role.EDITOR))
    assert other.get(PREVIEW).headers["Location"] == UPLOAD


def change(**values: Any) -> None:
    service = Service.objects.get(key=RENEW)
    drafts.save(
        table="services",
        values={"agency": PASSPORTS, "key": RENEW, **values},
        by=User.objects.filter(username="olga").first() or person("olga", Role.EDITOR),
        expected_version=service.version,
        source=Change.Source.ADMIN,
    )


def test_what_a_person_changed_stays_unless_it_is_chosen(editing: Client) -> None:
    def again(**form: Any) -> Any:
        upload(editing, SCHEMA_ORG)
        page = editing.get(PREVIEW)
        answer = editing.post(PREVIEW, {"fingerprint": fingerprint(page), **form})
        return page.content.decode(), answer

    upload(editing, SCHEMA_ORG)
    editing.post(PREVIEW, {"fingerprint": fingerprint(editing.get(PREVIEW))})
    before = Service.objects.get(key=RENEW)
    change(name="New passport", categories=[])
    page, _ = again()
    every, *choices = re.findall(r'name="take" value="([^"]*)"', page)
    assert every == "all"
    assert choices == [
        f"services {column} {PASSPORTS} {RENEW}" for column in ("name", "categories")
    ]
    assert " checked" not in page
    renewed = Service.objects.get(key=RENEW)
    assert (renewed.name, renewed.categories) == ("New passport", [])
    again(take=choices[0])
    renewed = Service.objects.get(key=RENEW)
    assert (renewed.name, renewed.categories) == (before.name, [])
