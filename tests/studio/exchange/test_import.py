"""A file goes in: first what it would change, then the change."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.test import Client
from openpyxl import Workbook

from ieim.audit.models import AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Category, Change, Service
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, said
from tests.studio.exchange.files import KINDS, confirm, export, preview, problems, workbook

pytestmark = pytest.mark.django_db

FILE = b"""agency,key,fees,requirements
tax,return,free,
passports,renew,90 crowns,A photo | <b>Money</b>
"""


@pytest.fixture
def edith(bundle: Bundle) -> User:
    import_bundle(bundle=bundle, by=None)
    return person("edith", Role.EDITOR, name="Edith Ek")


@pytest.fixture
def client(edith: User) -> Client:
    return browser(edith)


def renewed() -> Service:
    return Service.objects.get(key="renew")


def change(by: User, **values: Any) -> None:
    editing.save(
        table="services",
        values={"agency": "passports", "key": "renew", **values},
        by=by,
        seen=renewed().version,
        source=Change.Source.ADMIN,
    )


def test_it_shows_what_a_file_would_change_and_changes_nothing(client: Client) -> None:
    page = preview(client, "service", "csv", FILE)
    planned = {entry.entry: entry.fields for entry in page.context["result"].planned}
    assert planned == {
        "tax return": {"fees": ["", "free"]},
        "passports renew": {
            "fees": ["80 crowns", "90 crowns"],
            "requirements": [["A photo", "The old passport"], ["A photo", "<b>Money</b>"]],
        },
    }
    assert "&lt;b&gt;Money&lt;/b&gt;" in said(page)
    assert "<b>Money" not in said(page)
    assert renewed().fees == "80 crowns"


@pytest.mark.parametrize("before", ["", "\ufeff", "\r\n", ";;;\r\n"])
def test_it_reads_what_a_spreadsheet_saves_with_semicolons(client: Client, before: str) -> None:
    file = (
        '"agency";"key";fees;"requirements"\r\n'
        "tax;return;1,50 crowns, in cash;\r\n"
        'passports;renew;"90; or 80 crowns";A photo | The old passport\r\n'
    )
    page = preview(client, "service", "csv", f"{before}{file}".encode())
    assert {entry.entry: entry.fields for entry in page.context["result"].planned} == {
        "tax return": {"fees": ["", "1,50 crowns, in cash"]},
        "passports renew": {"fees": ["80 crowns", "90; or 80 crowns"]},
    }


@pytest.mark.parametrize(
    "data",
    [
        b"sep=;\r\nagency;key;name\r\ntax;new;Permit, new\r\n",
        b'\xef\xbb\xbf"sep=,"\r\nagency,key,name\r\ntax,new,"Permit, new"\r\n',
        b"SEP=\t\nagency\tkey\tname\ntax\tnew\tPermit, new\n",
        b"sep=|\nagency|key|name\ntax|new|Permit, new\n",
        b"agency\tkey\tname\r\ntax\tnew\tPermit, new\r\n",
        b"agency; Key;NAME;;\ntax;new;Permit, new;;\n;;;;\n",
        'agency,key\u00a0, Name ,,\ntax,new,"Permit, new",, \n,,,,\n'.encode(),
        b'agency,key,,name\ntax,new,,"Permit, new"\n',
        "agency\tkey\tname\r\ntax\tnew\tPermit, new\r\n".encode("utf-16"),
        "\ufeffsep=;\nagency;key;name\ntax;new;Permit, new\n".encode("utf-16-be"),
        b"Services, fees and forms;;;\n;;;\nagency;key;name\ntax;new;Permit, new\n",
    ],
)
def test_it_reads_what_other_spreadsheets_save(client: Client, data: bytes) -> None:
    page = preview(client, "service", "csv", data)
    (planned,) = page.context["result"].planned
    assert (planned.entry, planned.fields["name"][1]) == ("tax new", "Permit, new")


@pytest.mark.parametrize("title", ["Services", "SERVICES "])
def test_it_reads_a_workbook_as_people_write_it(client: Client, title: str) -> None:
    rows: list[list[object]] = [
        ["Our services"],
        ["Agency", "key ", None, "Name", "fees", "How to apply", None, " "],
        ["tax", 135, None, "Permit", 25, "1. Go\n2. Pay", None, " "],
        [],
    ]
    page = preview(client, "service", "xlsx", workbook(rows, title, "Standards"))
    (planned,) = page.context["result"].planned
    given = {name: after for name, (_, after) in planned.fields.items() if after}
    given.pop("position", None)
    assert given == {
        "agency": "tax",
        "key": "135",
        "name": "Permit",
        "fees": "25",
        "how_to_apply": ["Go", "Pay"],
    }


@pytest.mark.parametrize(
    ("value", "shown_as", "read"),
    [(7, "00000", "00007"), (7.0, "General", "7"), (7, '0.00 "EUR"', None), (7.5, "General", None)],
)
def test_a_whole_number_is_the_digits_that_the_sheet_shows(
    client: Client, value: float, shown_as: str, read: str | None
) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["agency", "key", "name"])
    sheet.append(["tax", value, "Permit"])
    sheet["B2"].number_format = shown_as
    out = io.BytesIO()
    book.save(out)
    page = preview(client, "service", "xlsx", out.getvalue())
    if read is None:
        assert "key must be text, this is a number" in problems(page)[0]
    else:
        assert page.context["result"].planned[0].entry == f"tax {read}"


def test_it_imports_what_the_preview_showed(client: Client, edith: User) -> None:
    events = AuditEvent.objects.count()
    answer = confirm(client, "service", preview(client, "service", "csv", FILE))
    assert answer.url == address("service", "changelist")
    assert "Imported: 0 new, 2 changed, 0 as before." in said(client.get(answer.url))
    service = renewed()
    # A column that the file does not have stays.
    assert (service.fees, service.version, service.contact) == ("90 crowns", 2, "+999 1 555 0100")
    changes = Change.objects.filter(source="file")
    assert [(row.entry, row.by) for row in changes] == [
        ("passports renew", edith),
        ("tax return", edith),
    ]
    assert AuditEvent.objects.count() == events + 1
    payload = json.loads(AuditEvent.objects.order_by("id").last().payload)  # type: ignore[union-attr]
    assert (payload["changed"], payload["entries"]) == (2, ["tax return", "passports renew"])


@pytest.mark.parametrize("kind", KINDS)
def test_it_adds_entries_in_the_order_of_the_file(client: Client, kind: str) -> None:
    data = {
        "csv": b"agency,key,value\ntax,b,B\ntax,a,A\n",
        "xlsx": workbook([["agency", "key", "value"], ["tax", "b", "B"], ["tax", "a", "A"]]),
        "yaml": b"- {agency: tax, key: b, value: B}\n- {agency: tax, key: a, value: A}\n",
        "json": b'[{"agency": "tax", "key": "b"}, {"agency": "tax", "key": "a"}]',
    }[kind]
    assert confirm(client, "category", preview(client, "category", kind, data)).status_code == 302
    keys = list(Category.objects.order_by("position").values_list("key", flat=True))
    assert keys == ["travel", "income", "b", "a"]


def test_it_refuses_to_import_over_a_change_made_after_the_preview(
    client: Client, edith: User
) -> None:
    page = preview(client, "service", "csv", FILE)
    change(edith, fees="85 crowns")
    answer = confirm(client, "service", page)
    (problem,) = problems(answer)
    assert "somebody changed these entries after the preview" in problem
    assert renewed().fees == "85 crowns"
    assert confirm(client, "service", preview(client, "service", "csv", FILE)).status_code == 302


def test_it_imports_a_file_once(client: Client) -> None:
    page = preview(client, "service", "csv", FILE)
    assert confirm(client, "service", page).status_code == 302
    assert confirm(client, "service", page).url == address("service", "import")
    assert renewed().version == 2


def test_it_warns_of_links_worth_a_look(client: Client) -> None:
    data = json.dumps(
        [
            {"agency": "tax", "key": "return", "url": "https://passports.example/renew"},
            {"agency": "tax", "key": "x", "name": "X", "url": "http://old.example"},
            {"agency": "tax", "key": "y", "name": "Y", "url": "https:// two words"},
        ]
    ).encode()
    page = preview(client, "service", "json", data)
    assert page.context["result"].warnings == [
        "tax y: the link does not open. Write the whole address.",
        "tax x: the link is not encrypted. Use https:// if the site has it.",
        "tax return, passports renew have the same link, https://passports.example/renew. Is that "
        "right?",
    ]
    assert "the link is not encrypted" in said(page)


def test_it_previews_without_a_query_for_every_row(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    rows = [{"agency": "tax", "key": f"k{n}", "name": "N"} for n in range(300)]
    with django_assert_max_num_queries(30):
        page = preview(client, "service", "json", json.dumps(rows).encode())
    with django_assert_max_num_queries(50):
        assert confirm(client, "service", page).status_code == 302
    with django_assert_max_num_queries(30):
        export(client, "service", "csv")
    assert Service.objects.count() == 302
