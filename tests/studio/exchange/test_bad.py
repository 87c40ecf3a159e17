"""Files that cannot be used: every reason with its line, before anything is written."""

from __future__ import annotations

import datetime
import json

import pytest
from django.core.cache import cache
from django.test import Client

from ieim.knowledge.bundles.bundle import Bundle
from ieim.people.roles import Role
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.exchange import files
from ieim.studio.models import Change, Service
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, said
from tests.studio.exchange.files import (
    KINDS,
    confirm,
    export,
    preview,
    problems,
    repacked,
    workbook,
)

pytestmark = pytest.mark.django_db

HEAD = "agency,key,name,url,categories\n"
GOOD = f"{HEAD}tax,pay,Pay a tax,https://tax.example/pay,income\n"


@pytest.fixture
def client(bundle: Bundle) -> Client:
    """The browser of an editor of every agency."""
    import_bundle(bundle=bundle, by=None)
    return browser(person("edith", Role.EDITOR))


@pytest.fixture(autouse=True)
def unchanged(client: Client) -> object:
    """Nothing in this file changes the draft, unless it says so."""
    before = (drafts.draft().content, Change.objects.count())
    yield
    assert (drafts.draft().content, Change.objects.count()) == before


def test_it_lists_every_error_with_its_line(client: Client) -> None:
    rows = [
        HEAD + "tax,return,,ftp://x,",
        "gone,a,A,,",
        '"tax","two\nlines",B,,"income | travel"',
        "tax,new,New,,",
        "tax,new,Twice,,",
        "tax,short",
    ]
    found = problems(preview(client, "service", "csv", "\n".join(rows).encode()))
    assert found == [
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
        ["tax", 7.5, "=1+1", datetime.date(2024, 1, 31), 1.5, None],
        [],
        ["tax", "ok", "Fine", "#N/A", True, None],
    ]
    found = problems(preview(client, "service", "xlsx", workbook(rows)))
    assert found == [
        "mine.xlsx, sheet 'services':2: the column 'extra' is unknown: services have agency, key, "
        "name, path, overview, applicability_summary, categories, requirements, fees, "
        "processing_time, how_to_apply, contact, url, next_services, "
        "deadline_days",
        "mine.xlsx, sheet 'services':2: key must be text, this is a number: format the cell as "
        "text and write it again",
        "mine.xlsx, sheet 'services':2: name must be text, this is a formula: paste its result as "
        "a value",
        "mine.xlsx, sheet 'services':2: fees must be text, this is a date or a time: format the "
        "cell as text",
        "mine.xlsx, sheet 'services':2: processing_time must be text, this is a number: format "
        "the cell as text and write it again",
        "mine.xlsx, sheet 'services':4: fees must be text, this is the error #N/A",
        "mine.xlsx, sheet 'services':4: processing_time must be text, this is true or false: put "
        "it in quotes",
    ]


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("csv", b"", "The submitted file is empty."),
        ("csv", b" \n", "mine.csv: is empty"),
        ("csv", b"agency,key,name\n", "mine.csv: has no rows: there is nothing to import"),
        ("csv", HEAD.encode() + b"tax,caf\xe9,x,,\n", "mine.csv:2: is not UTF-8 text here"),
        ("csv", b'agency,key\n"tax,return', "mine.csv:2: is not CSV: unexpected end of data"),
        ("csv", b"agency,agency\na,b\n", "mine.csv:1: has the column 'agency' twice"),
        (
            "csv",
            b"agency;key;name\ntax;new;Pay; and more\n",
            "has 4 cells, the header has 3 columns: quote cells that contain semicolons",
        ),
        ("json", b"{}", "mine.json:1: is not a JSON array"),
        ("json", b'[\n{"agency": "tax",\n]', "mine.json:3: is not JSON: "),
        (
            "json",
            b'[{"agency": "tax", "key": "x", "name": "y"}',
            "mine.json:1: is not JSON: a comma",
        ),
        ("json", b"[1]", "mine.json:1: is not a JSON object"),
        ("json", b"[" * 100_000, "mine.json:1: is not JSON that can be read"),
        ("json", b'[{"agency": "a", "agency": "b"}]', "mine.json:1: has the key 'agency' twice"),
        ("json", b"[{}]]", "mine.json:1: is not JSON: something stands after"),
        ("yaml", b"a: b", "mine.yaml:1: is not a list of rows"),
        ("yaml", b"- [", "mine.yaml:1: is not YAML"),
        ("yaml", b"- agency: !!python/object:os.system x", "agency must be text, this is a value"),
        ("yaml", b"- " + b"[" * 50_000, "mine.yaml: is not YAML that can be read"),
        ("xlsx", GOOD.encode(), "mine.xlsx: is no XLSX workbook that can be read"),
        ("xlsx", b"PK\x03\x04 and no more", "mine.xlsx: is no XLSX workbook that can be read"),
        (
            "xlsx",
            workbook([["agency"], ["tax"]], "one", "two"),
            "mine.xlsx: has the sheets one, two",
        ),
        ("csv", workbook([["agency"], ["tax"]]), "is not UTF-8 text here"),
        ("csv", b"agency,key,,name\ntax,new,more,New\n", "mine.csv:2: has something in column 3"),
        ("csv", b"agency\tkey\tname\ntax\tnew\tA\tB\n", "quote cells that contain tabs"),
        ("csv", b"key,Key \na,b\n", "mine.csv:1: has the column 'key' twice"),
        (
            "xlsx",
            workbook([["agency", None, "key"], ["tax", "x", "new"]]),
            "sheet 'services':2: has something in column 2, which has no name",
        ),
        ("json", b'[{"agency": "\\ud800", "key": "\\u0000", "name": "x"}]', "contains half of a"),
    ],
)
def test_it_says_what_is_wrong_with_a_file(
    client: Client, kind: str, data: bytes, expected: str
) -> None:
    found = problems(preview(client, "service", kind, data))
    assert any(expected in problem for problem in found), found


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("csv", b"broken|file\nand|rows\nbelow|it\n"),
        ("xlsx", workbook([["broken", "file"], ["and", "rows"]])),
    ],
)
def test_it_says_once_that_a_header_names_nothing_it_knows(
    client: Client, kind: str, data: bytes
) -> None:
    (problem,) = problems(preview(client, "category", kind, data))
    assert ":1: has no column that is known: those of dictionary are agency, key, " in problem


def test_it_refuses_a_workbook_that_unpacks_to_too_much(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = workbook([["agency", "key", "name"], ["tax", "x", "X"]])
    monkeypatch.setattr(files, "MAX_UNPACKED", 1024 * 1024)
    bomb = repacked(good, "xl/worksheets/sheet1.xml", b" " * 2 * 1024 * 1024)
    assert len(bomb) < 20_000
    (problem,) = problems(preview(client, "service", "xlsx", bomb))
    assert problem == "mine.xlsx: is larger than 1 MiB when it is unpacked: split it"


def test_it_refuses_a_workbook_of_too_many_cells_before_it_reads_one(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = workbook([["agency", "key", "name"], ["tax", "x", "X"]])
    monkeypatch.setattr(files, "MAX_CELLS", 1_000)
    monkeypatch.setattr(files, "load_workbook", None)
    wide = repacked(good, "xl/worksheets/sheet1.xml", b"<row>" + b"<c/>" * 10_000 + b"</row>")
    (problem,) = problems(preview(client, "service", "xlsx", wide))
    assert problem.startswith("mine.xlsx: has more than 1,000 cells: remove sheets")


@pytest.mark.parametrize(
    "sheet",
    [
        # Entities that grow, a sheet that says it is endless, and nothing of a sheet.
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
        b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;">'
        b'<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;">'
        b'<!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;"><!ENTITY h "&g;&g;&g;&g;&g;&g;&g;&g;&g;">]>'
        b"<worksheet><sheetData><row><c><v>&h;&h;&h;&h;&h;</v></c></row></sheetData></worksheet>",
        b"<worksheet><dimension ref='A1:XFD1048576'/><sheetData><row r='1048576'>"
        b"<c r='XFD1048576' t='str'><v>x</v></c></row></sheetData></worksheet>",
        b"<worksheet",
        b"<worksheet/>",
    ],
)
def test_it_survives_a_hostile_sheet(client: Client, sheet: bytes) -> None:
    good = workbook([["agency", "key", "name"], ["tax", "x", "X"]])
    space = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    bad = repacked(good, "xl/worksheets/sheet1.xml", sheet.replace(b"<worksheet", space))
    assert problems(preview(client, "service", "xlsx", bad))


@pytest.mark.parametrize("kind", KINDS)
def test_it_refuses_a_huge_file(client: Client, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = export(client, "service", kind)
    monkeypatch.setattr(files, "MAX_ROWS", 1)
    (problem,) = problems(preview(client, "service", kind, data))
    assert problem.startswith(f"mine.{kind}")
    assert problem.endswith(": has more than 1 rows: split it, or load a bundle")
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    (problem,) = problems(preview(client, "service", kind, data))
    assert "is larger than 0 MiB" in problem


@pytest.mark.parametrize("change", [{"format": "9"}, {"format": "x"}, {"seen": ""}])
def test_it_refuses_a_confirmation_that_no_preview_made(
    client: Client, change: dict[str, str]
) -> None:
    page = preview(client, "service", "csv", GOOD.encode())
    form = {bound.html_name: bound.value() for bound in page.context["confirm_form"]}
    assert client.post(address("service", "process_import"), form | change).status_code == 200


def test_it_asks_for_a_file_again_that_is_no_longer_kept(client: Client) -> None:
    page = preview(client, "service", "csv", GOOD.encode())
    cache.clear()
    answer = confirm(client, "service", page)
    assert answer.url == address("service", "import")
    assert "no longer kept" in said(client.get(answer.url))


def test_it_keeps_an_editor_to_their_agencies(client: Client) -> None:
    pam = browser(person("pam", Role.EDITOR, "passports"))
    found = problems(preview(pam, "service", "csv", GOOD.encode()))
    assert found == [
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
