"""The draft as files over REST: a table out and in, a file of a standard in."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from ieim.people.roles import Role
from ieim.studio.api import files
from ieim.studio.models import Change, Service
from tests.review.people import person
from tests.studio.api.editing_api import ROOT, Editor
from tests.studio.exchange.files import workbook

pytestmark = pytest.mark.usefixtures("published")

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TYPES = {"csv": "text/csv", "xlsx": XLSX, "yaml": "application/yaml", "json": "application/json"}
KEY = "immigration.extend-tourist-visa"
FEES = f'agency,key,fees\nimmigration,{KEY},"99 euros"\n'


@pytest.fixture
def ed(published: None) -> Editor:
    return Editor(person("ed", Role.EDITOR))


@pytest.fixture
def local(published: None) -> Editor:
    return Editor(person("local", Role.EDITOR, "passports"))


def send(editor: Editor, path: str, data: bytes | str, kind: str, **query: str) -> Any:
    return editor.http.post(
        f"{ROOT}{path}?{urlencode(query)}",
        data.encode() if isinstance(data, str) else data,
        content_type=kind,
        headers={"X-CSRFToken": editor.csrf},
    )


def imported() -> bool:
    return Change.objects.filter(by__isnull=False).exists()


def fees() -> str:
    return Service.objects.get(agency="immigration", key=KEY).fees


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        *[("services", kind) for kind in TYPES],
        *[(table, "csv") for table in ("agencies", "dictionary", "labels", "translations")],
    ],
)
def test_it_takes_back_what_it_gave_without_a_change(ed: Editor, table: str, kind: str) -> None:
    file = ed.get(f"{table}/file/", format=kind)
    assert file.status_code == 200
    assert file["Content-Disposition"] == f'attachment; filename="{table}.{kind}"'
    response = send(ed, f"{table}/file/", file.content, TYPES[kind])
    assert response.status_code == 200, response.content
    answer = response.json()
    assert (answer["added"], answer["changed"], answer["entries"]) == (0, 0, [])
    assert answer["unchanged"] > 0


def test_it_says_what_a_file_would_change_and_writes_it_once_confirmed(ed: Editor) -> None:
    before = fees()
    new = 'agency,key,name\nimmigration,fresh,"A fresh service"\n'
    file = FEES.replace("fees\n", "fees,name\n").replace("euros", 'euros","Extend')
    file += new.partition("\n")[2].replace("fresh,", "fresh,,", 1)
    preview = send(ed, "services/file/", file, "text/csv")
    assert preview.status_code == 200
    answer = preview.json()
    assert (answer["written"], answer["added"], answer["changed"]) == (False, 1, 1)
    changed, added = answer["entries"]
    assert changed["entry"] == f"immigration {KEY}"
    difference = {"field": "fees", "before": before, "after": "99 euros", "edit": None}
    difference["take"] = f"services fees immigration {KEY}"
    assert difference in changed["differences"]
    assert (added["entry"], added["change"]) == ("immigration fresh", "added")
    assert fees() == before
    assert not imported()
    written = send(ed, "services/file/", file, "text/csv", confirm=answer["digest"])
    assert written.json() == {**answer, "written": True}
    assert fees() == "99 euros"
    stored = Change.objects.get(entry=f"immigration {KEY}", by__isnull=False)
    assert (stored.source, stored.by.username if stored.by else "") == ("file", "ed")


def test_it_writes_nothing_but_what_was_previewed(ed: Editor) -> None:
    digest = send(ed, "services/file/", FEES, "text/csv").json()["digest"]
    other = FEES.replace("99", "11")
    assert send(ed, "services/file/", other, "text/csv", confirm=digest).status_code == 412
    query = {"agency": "immigration", "key": KEY}
    tag = ed.get("services/entry/", **query)["ETag"]
    ed.send("PUT", "services/entry/", {"fees": "5 euros"}, query=query, If_Match=tag)
    outdated = send(ed, "services/file/", FEES, "text/csv", confirm=digest)
    assert (outdated.status_code, fees()) == (412, "5 euros")
    assert "preview" in outdated.json()["detail"]


def test_a_bad_file_changes_nothing_and_every_error_has_its_place(ed: Editor) -> None:
    rows = [
        ["agency", "key", "name", "url", "categories"],
        ["immigration", KEY, "X", "ftp://x", ""],
        ["immigration", "fresh", "", "", "nowhere"],
    ]
    response = send(ed, "services/file/", workbook(rows, "services", "notes"), XLSX)
    assert response.status_code == 422
    errors = response.json()["errors"]
    assert {(error["place"], error["line"]) for error in errors} == {
        ("sheet 'services'", 2),
        ("sheet 'services'", 3),
    }
    assert len(errors) >= 3
    lines = send(ed, "services/file/", "agency,key,fee\nimmigration,x,1\n", "text/csv").json()
    assert any(e.get("line") == 2 and "place" not in e for e in lines["errors"])
    assert send(ed, "services/file/", "[{", "application/json").json()["errors"][0]["line"] == 1
    assert not imported()


def test_an_editor_of_one_agency_exports_and_imports_only_theirs(local: Editor) -> None:
    rows = json.loads(local.get("services/file/", format="json").content)
    assert {row["agency"] for row in rows} == {"passports"}
    response = send(local, "services/file/", FEES, "text/csv")
    assert response.status_code == 422
    assert "you do not work for" in response.json()["errors"][0]["detail"]
    one = local.get("services/file/", format="json", agency="immigration")
    assert json.loads(one.content) == []


def test_files_are_for_editors_and_need_the_token(ed: Editor) -> None:
    carl = Editor(person("carl", Role.CASEWORKER))
    assert carl.get("services/file/", format="csv").status_code == 403
    for path in ("services/file/", "standards/file/"):
        assert send(carl, path, "{}", "application/json").status_code == 403
    ed.csrf = "x" * 32
    assert send(ed, "services/file/", FEES, "text/csv").status_code == 403


def test_a_file_has_a_kind_and_a_size(ed: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert send(ed, "services/file/", FEES, "text/plain").status_code == 415
    assert send(ed, "standards/file/", FEES, "text/csv").status_code == 415
    assert send(ed, "services/file/", "", "text/csv").status_code == 400
    assert ed.get("services/file/").status_code == 400
    assert ed.get("labels/file/", format="csv", agency="passports").status_code == 400
    monkeypatch.setattr(files.TableParser, "limit", 10)
    assert send(ed, "services/file/", FEES, "text/csv").status_code == 413


LD = {
    "@context": "https://schema.org",
    "@type": "GovernmentService",
    "@id": "https://passports.example.org/lost",
    "name": "Report a lost passport",
    "description": "Tell us at once.",
    "audience": {"@type": "Audience", "audienceType": "everyone"},
    "award": "none",
}


def test_it_merges_a_file_of_a_standard_and_says_what_has_no_place(local: Editor) -> None:
    file = json.dumps(LD)
    query = {"agency": "passports"}
    preview = send(local, "standards/file/", file, "application/ld+json", **query)
    assert preview.status_code == 200, preview.content
    answer = preview.json()
    assert (answer["written"], answer["added"]) == (False, 1)
    assert "/award" in {note["pattern"] for note in answer["notes"]}
    assert not imported()
    wrong = send(local, "standards/file/", file, "application/ld+json", **query, confirm="0" * 64)
    assert wrong.status_code == 412
    query["confirm"] = answer["digest"]
    written = send(local, "standards/file/", file, "application/ld+json", **query)
    assert written.json() == {**answer, "written": True}
    assert Service.objects.filter(agency="passports", name=LD["name"]).exists()


def test_a_standard_is_for_an_agency_of_ones_own(local: Editor) -> None:
    file = json.dumps(LD)
    assert send(local, "standards/file/", file, "application/json").status_code == 400
    for agency in ("immigration", "nowhere"):
        response = send(local, "standards/file/", file, "application/json", agency=agency)
        assert response.status_code == 404
    broken = send(local, "standards/file/", "{", "application/json", agency="passports")
    assert broken.status_code == 422
    assert broken.json()["errors"][0]["detail"]
