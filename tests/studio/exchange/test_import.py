"""The pages of files: what one would change, the change, what is wrong with it, and export."""

from __future__ import annotations

import csv
import datetime
import io
import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from openpyxl import load_workbook

from ieim.audit.models import AuditEvent
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.drafts import editing
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import (
    Agency,
    CaseText,
    Category,
    Change,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Translation,
)
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, said
from tests.studio.exchange.files import KINDS, MODELS, confirm, export, preview, problems, workbook
from tests.studio.exchange.test_files import STRANGE

pytestmark = pytest.mark.django_db

HEAD = "agency,key,name,url,categories\n"
GOOD = f"{HEAD}tax,pay,Pay a tax,https://tax.example/pay,income\n"
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
        expected_version=renewed().version,
        source=Change.Source.ADMIN,
    )


def test_it_shows_what_a_file_would_change_and_changes_nothing(client: Client) -> None:
    page = preview(client, "service", "csv", FILE)
    planned = {entry.name: entry.fields for entry in page.context["plan"].entries}
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
    assert page.context["warnings"] == [
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


def test_it_lists_every_error_with_its_line(client: Client) -> None:
    rows = [
        HEAD + "tax,return,,ftp://x,",
        "gone,a,A,,",
        '"tax","two\nlines",B,,"income | travel"',
        "tax,new,New,,",
        "tax,new,Twice,,",
        "tax,short",
    ]
    result = problems(preview(client, "service", "csv", "\n".join(rows).encode()))
    assert result == [
        "mine.csv:2: name is missing: fill it in",
        "mine.csv:2: url is 'ftp://x': it must begin with http:// or https://, or be blank",
        "mine.csv:3: agency 'gone' is not among the agencies",
        "mine.csv:4: key begins or ends with a space or has a control character: ids are compared "
        "exactly",
        "mine.csv:4: category 'travel' is not in the dictionary of 'tax'",
        "mine.csv:7: 'tax new' stands here twice: keep one",
        "mine.csv:8: has 2 cells, the header has 5 columns: quote cells that contain commas",
    ]


def test_it_names_the_sheet_and_the_line_of_a_workbook(client: Client) -> None:
    rows: list[list[object]] = [
        ["agency", "key", "name", "fees", "processing_time", "extra"],
        ["tax", 7.5, "=1+1", datetime.date(2024, 1, 31), 1.5, "x"],
        [],
        ["tax", "ok", "Fine", "#N/A", True, None],
    ]
    result = problems(preview(client, "service", "xlsx", workbook(rows)))
    assert result == [
        "mine.xlsx, sheet 'services':2: name must be text, this is a formula: paste its result as "
        "a value",
        "mine.xlsx, sheet 'services':2: fees must be text, this is a date or a time: format the "
        "cell as text",
        "mine.xlsx, sheet 'services':4: fees must be text, this is the error #N/A",
        "mine.xlsx, sheet 'services':4: processing_time must be text, this is true or false: put "
        "it in quotes",
    ]


def test_a_file_of_no_known_kind_is_refused(client: Client) -> None:
    for name, data in (("mine.doc", b"x"), ("mine.csv", b"")):
        file = SimpleUploadedFile(name, data)
        page = client.post(address("service", "import"), {"file": file})
        assert page.context["form"].errors["file"]
    assert not Change.objects.exclude(source="bundle").exists()


@pytest.mark.parametrize("change", [{"token": "x"}, {"seen": ""}])
def test_it_refuses_a_confirmation_that_no_preview_made(
    client: Client, change: dict[str, str]
) -> None:
    page = preview(client, "service", "csv", GOOD.encode())
    form = {bound.html_name: bound.value() for bound in page.context["confirm_form"]}
    answer = client.post(address("service", "process_import"), form | change)
    assert answer.headers["Location"] == address("service", "import")


def test_it_asks_for_a_file_again_that_is_no_longer_kept(client: Client) -> None:
    page = preview(client, "service", "csv", GOOD.encode())
    cache.clear()
    answer = confirm(client, "service", page)
    assert answer.url == address("service", "import")
    assert "no longer kept" in said(client.get(answer.url))


def test_it_keeps_an_editor_to_their_agencies(client: Client) -> None:
    pam = browser(person("pam", Role.EDITOR, "passports"))
    result = problems(preview(pam, "service", "csv", GOOD.encode()))
    assert result == [
        "mine.csv:2: you do not work for 'tax': leave the row out, or ask somebody who may"
    ]
    new = json.dumps([{"id": "roads", "name": "Roads"}]).encode()
    assert "may not add the agency 'roads'" in problems(preview(pam, "agency", "json", new))[0]
    assert pam.get(address("label", "import")).status_code == 403
    assert pam.post(address("label", "process_import")).status_code == 403
    caseworker = browser(person("carla", Role.CASEWORKER))
    assert caseworker.get(address("service", "import")).status_code == 403
    assert caseworker.get(address("service", "export")).status_code == 403
    assert not Service.objects.filter(key="pay").exists()


@pytest.fixture
def odd(bundle: Bundle) -> Bundle:
    """A draft whose texts are as awkward as they get."""
    import_bundle(bundle=bundle, by=None)
    Category.objects.create(agency_id="tax", key="=007", value="-1", keywords=STRANGE)
    for key in ("007", "=cmd", "1e5"):
        Service.objects.create(
            agency_id="tax",
            key=key,
            name="2024-01-31",
            overview="\n".join(STRANGE),
            requirements=STRANGE,
            categories=["=007"],
            fees="=HYPERLINK(1)",
            read_on="2026-11-29",
            position=9,
        )
    Translation.objects.create(
        language="fr", agency_id="tax", service="007", name="=Été", requirements=STRANGE
    )
    Label.objects.create(set="intents", code="01", name="-x", threshold=Decimal("0.57"))
    HelpLine.objects.create(language="fr", flag="threat", text="\n".join(STRANGE))
    RiskExample.objects.create(language="fr", text="=1 | '2", flag="threat", kind="danger")
    CaseText.objects.create(case="thanks", language="fr", text="=1\n" + "\n".join(STRANGE))
    return drafts.draft()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_it_changes_nothing_with_its_own_export(
    admin_client: Client, odd: Bundle, model: str, kind: str
) -> None:
    page = preview(admin_client, model, kind, export(admin_client, model, kind))
    assert page.context["plan"].entries == []
    assert page.context["rows"] > 0
    assert "The file changes nothing" in page.content.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_it_makes_the_same_draft_from_its_own_exports(
    admin_client: Client, odd: Bundle, kind: str
) -> None:
    files = {model: export(admin_client, model, kind) for model in MODELS}
    for table in (Translation, Service, Category, Agency, Label, HelpLine, RiskExample, CaseText):
        table._default_manager.all().delete()
    for model, data in files.items():
        assert confirm(admin_client, model, preview(admin_client, model, kind, data)).url
    assert drafts.draft().content == odd.content
    assert not Change.objects.exclude(source="bundle").exclude(source="file").exists()


def test_it_writes_no_formula_and_no_number(admin_client: Client, odd: Bundle) -> None:
    cells = csv.reader(io.StringIO(export(admin_client, "service", "csv").decode("utf-8-sig")))
    assert not [cell for row in cells for cell in row if cell.startswith(("=", "+", "-", "@"))]
    book = load_workbook(io.BytesIO(export(admin_client, "service", "xlsx")))
    assert book.sheetnames == ["services"]
    result = [
        cell for row in book["services"].iter_rows() for cell in row if cell.value is not None
    ]
    assert {cell.data_type for cell in result} == {"s"}
    assert {cell.number_format for cell in result} == {"@"}
    assert [cell.value for cell in result][:2] == list(COLUMNS["services"])[:2]


def test_it_says_what_a_workbook_cannot_hold(admin_client: Client, odd: Bundle) -> None:
    Service.objects.filter(key="return").update(requirements=["x" * 10_000] * 4)
    page = admin_client.post("/admin/studio/service/export/", {"format": "xlsx"}).content.decode()
    assert "requirements has more than 32,767 characters" in page
    assert export(admin_client, "service", "json")
