"""A file imported again: what people changed meanwhile is theirs, field by field."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import Values
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.exchange.importing import Moved, write_import
from ieim.studio.models import Change, Service
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, said
from tests.studio.api.editing_api import Editor
from tests.studio.exchange.files import confirm, preview, workbook

pytestmark = pytest.mark.django_db
FILE = b"agency,key,name,fees,contact\npassports,renew,Renew a passport,90 crowns,Counter 1\n"
TAKE = "services {} passports renew"


@pytest.fixture
def edith(bundle: Bundle) -> User:
    import_bundle(bundle=bundle, by=None)
    return person("edith", Role.EDITOR, name="Edith Ek")


@pytest.fixture
def client(edith: User) -> Client:
    return browser(edith)


def renewed() -> Service:
    return Service.objects.get(key="renew")


def edit(by: User, source: Change.Source = Change.Source.ADMIN, **values: Any) -> None:
    editing.save(
        table="services",
        values={"agency": "passports", "key": "renew", **values},
        by=by,
        expected_version=renewed().version,
        source=source,
    )


def edited(page: Any) -> dict[str, set[str]]:
    return {entry.name: set(entry.edits) for entry in page.context["plan"].entries if entry.edits}


def take(client: Client, page: Any, *choices: str) -> Any:
    form = {bound.html_name: bound.value() for bound in page.context["confirm_form"]}
    return client.post(address("service", "process_import"), {**form, "take": choices})


def test_an_edited_field_stays_and_the_others_are_taken(client: Client, edith: User) -> None:
    edit(edith, fees="85 crowns")
    page = preview(client, "service", "csv", FILE)
    assert edited(page) == {"passports renew": {"fees"}}
    assert "Take this, although Edith Ek changed it on" in said(page)
    assert take(client, page).status_code == 302
    assert (renewed().fees, renewed().contact) == ("85 crowns", "Counter 1")
    # It is theirs still when the file comes once more.
    assert edited(preview(client, "service", "csv", FILE)) == {}
    edit(edith, fees="86 crowns", contact="Counter 2")
    page = preview(client, "service", "csv", FILE)
    assert edited(page) == {"passports renew": {"fees", "contact"}}
    take(client, page, TAKE.format("fees"))
    assert (renewed().fees, renewed().contact) == ("90 crowns", "Counter 2")


def test_what_others_wrote_is_ticked_and_ones_own_is_already(
    client: Client, edith: User, bundle: Bundle
) -> None:
    olga = person("olga", Role.EDITOR, name="Olga Oh")
    data = b"agency,key,fees\npassports,renew,90 crowns\n"
    edit(edith, fees="85 crowns")
    page = preview(client, "service", "csv", data)
    assert f'value="{TAKE.format("fees")}" checked>' in said(page)
    assert 'value="Import 1 entry"' in said(page)
    other = browser(olga)
    page = preview(other, "service", "csv", data)
    assert " checked>" not in said(page)
    assert "This imports nothing unless you tick a box" in said(page)
    assert 'value="Import what is ticked"' in said(page)
    form = {bound.html_name: bound.value() for bound in page.context["confirm_form"]}
    done = other.post(address("service", "process_import"), form, follow=True)
    assert "Nothing was imported: no box was ticked." in said(done)
    assert renewed().fees == "85 crowns"
    take(other, preview(other, "service", "csv", data), "all")
    assert renewed().fees == "90 crowns"


def test_what_an_import_wrote_is_not_a_persons(client: Client, edith: User) -> None:
    edit(edith, Change.Source.FILE, fees="85 crowns")
    page = preview(client, "service", "csv", FILE)
    assert edited(page) == {}
    take(client, page)
    assert renewed().fees == "90 crowns"


def test_what_a_person_emptied_stays_empty(client: Client, edith: User) -> None:
    edit(edith, fees="")
    page = preview(client, "service", "csv", FILE)
    assert edited(page) == {"passports renew": {"fees"}}
    take(client, page)
    assert renewed().fees == ""


def test_what_a_person_wrote_anew_is_theirs_but_for_blank_fields(
    client: Client, edith: User
) -> None:
    editing.save(
        table="services",
        values={"agency": "passports", "key": "lost", "name": "Lost passport"},
        by=edith,
        expected_version=None,
        source=Change.Source.API,
    )
    data = b"agency,key,name,fees\npassports,lost,Passport lost,free\n"
    page = preview(client, "service", "csv", data)
    assert edited(page) == {"passports lost": {"name"}}
    take(client, page)
    service = Service.objects.get(key="lost")
    assert (service.name, service.fees) == ("Lost passport", "free")


def test_edited_entries_come_first(client: Client, edith: User) -> None:
    edit(edith, fees="85 crowns")
    data = b"agency,key,fees\ntax,return,free\npassports,renew,90 crowns\n"
    page = preview(client, "service", "csv", data)
    names = [entry.name for entry in page.context["plan"].entries]
    assert names == ["passports renew", "tax return"]


def test_an_unknown_column_is_ignored_and_named(client: Client) -> None:
    data = b"agency,key,fees,colour\npassports,renew,90 crowns,blue\n"
    page = preview(client, "service", "csv", data)
    assert "The column colour is unknown and was ignored." in said(page)
    confirm(client, "service", page)
    assert renewed().fees == "90 crowns"


def test_a_number_in_a_column_of_text_is_its_text(client: Client) -> None:
    data = workbook([["agency", "key", "fees"], ["passports", "renew", 7.5]])
    confirm(client, "service", preview(client, "service", "xlsx", data))
    assert renewed().fees == "7.5"


LOST = b"agency,key,name\npassports,lost,Lost passport\npassports,renew,Renew it\n"


def removed(client: Client, by: User) -> None:
    """Import an entry that somebody then removes."""
    confirm(client, "service", preview(client, "service", "csv", LOST))
    editing.remove(
        table="services",
        identity={"agency": "passports", "key": "lost"},
        by=by,
        expected_version=1,
        source=Change.Source.ADMIN,
    )


def lost() -> bool:
    return Service.objects.filter(key="lost").exists()


def test_a_removed_entry_comes_back_only_where_its_box_is_ticked(
    client: Client, edith: User
) -> None:
    removed(client, edith)
    data = LOST.replace(b"Renew it", b"Renew this")
    page = preview(client, "service", "csv", data)
    assert "It was removed by Edith Ek on" in said(page)
    assert take(client, page).status_code == 302
    assert (lost(), renewed().name) == (False, "Renew this")
    page = preview(client, "service", "csv", data)
    assert take(client, page, TAKE.format("*").replace("renew", "lost")).status_code == 302
    assert lost()
    # What is there again is nobody's to decide any more.
    assert "It was removed by" not in said(preview(client, "service", "csv", data + b",,\n"))


def test_what_others_need_is_not_left_out(client: Client, edith: User) -> None:
    category = {"agency": "passports", "key": "new", "value": "New"}
    service = {"agency": "passports", "key": "renew", "categories": ["new"]}
    write_import({"dictionary": [category]}, by=edith, expected_fingerprint=None)
    editing.remove(
        table="dictionary",
        identity={"agency": "passports", "key": "new"},
        by=edith,
        expected_version=1,
        source=Change.Source.ADMIN,
    )
    before = renewed().categories
    rows: dict[Table, list[Values]] = {"dictionary": [category], "services": [service]}
    with pytest.raises(Moved, match="Other rows need an entry that you leave out"):
        write_import(rows, by=edith, expected_fingerprint=None, chosen=())
    assert renewed().categories == before
    chosen = ["dictionary * passports new"]
    write_import(rows, by=edith, expected_fingerprint=None, chosen=chosen)
    assert renewed().categories == ["new"]


def test_a_program_names_what_to_take(client: Client, edith: User) -> None:
    removed(client, edith)
    edit(edith, fees="85 crowns")
    data = [
        {"agency": "passports", "key": "lost", "name": "Lost passport"},
        {"agency": "passports", "key": "renew", "fees": 90, "contact": True},
    ]
    program, path = Editor(edith), "services/file/"
    seen = program.send("POST", path, data).json()
    first, second = sorted(seen["entries"], key=lambda entry: str(entry["entry"]))
    assert (first["take"], first["removal"]["by"]) == ("services * passports lost", "edith")
    (fees, contact) = second["differences"]
    assert (fees["take"], fees["edit"]["by"], contact["edit"]) == (
        "services fees passports renew",
        "edith",
        None,
    )
    query: dict[str, str] = {"confirm": seen["digest"], "take": ""}
    written = program.send("POST", path, data, query=query)
    assert (written.status_code, lost()) == (200, False)
    assert (renewed().fees, renewed().contact) == ("85 crowns", "true")
    seen = program.send("POST", path, data).json()
    query = {"confirm": seen["digest"], "take": first["take"]}
    program.send("POST", path, data, query=query)
    assert lost()
    edit(edith, fees="85 crowns")
    seen = program.send("POST", path, data).json()
    program.send("POST", path, data, query={"confirm": seen["digest"]})
    assert renewed().fees == "90"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("json", b'[{"agency": "passports", "key": "renew", "fees": 7.50, "contact": false}]'),
        ("yaml", b"- {agency: passports, key: renew, fees: 7.50, contact: false}"),
    ],
)
def test_what_is_no_text_is_its_text(client: Client, kind: str, data: bytes) -> None:
    confirm(client, "service", preview(client, "service", kind, data))
    assert (renewed().fees, renewed().contact) == ("7.50", "false")


def test_a_date_is_its_text(client: Client) -> None:
    data = b"- {agency: passports, key: renew, fees: 2026-03-31}"
    confirm(client, "service", preview(client, "service", "yaml", data))
    assert renewed().fees == "2026-03-31"
