"""Files of one table: written, and read as people and spreadsheets write them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from ieim.knowledge.bundles.columns import check_row
from ieim.knowledge.bundles.formats import guarded, joined, split, unguarded
from ieim.studio.exchange import files
from ieim.studio.exchange.files import read, write
from tests.studio.exchange.files import KINDS, repacked, workbook

GOOD = workbook([["agency", "key", "name"], ["tax", "x", "X"]])
_ODD = "\\| '\"=+-@;,:#_x005F\n\r\t\x1b\x85\u2028\ufeff<é😀0"
TEXT = st.text(
    alphabet=st.one_of(
        st.sampled_from(_ODD), st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    ),
    max_size=12,
)
ITEMS = st.lists(TEXT.filter(lambda text: bool(text.strip())), max_size=3)
STRANGE = [
    *("=1+1", "+44", "-1", "@SUM(A1)", "'=x", "''", "\t=x", "007", "2024-01-31", "1e5", "true"),
    *("null", "~", "- a", "a,b", 'a "b"', "a\nb", "a\r\nb", " a ", "a | b", "\\", "a\\", "_x0041_"),
    *("\uff1d1", "#N/A", "<script>", "{a: 1}", "[1]", "12:30"),
]


def values_of(column: str) -> st.SearchStrategy[Any]:
    if column in ("categories", "keywords", "requirements", "how_to_apply"):
        return st.one_of(ITEMS, st.lists(st.sampled_from(STRANGE), max_size=3))
    return st.one_of(TEXT, st.sampled_from(STRANGE))


@given(st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_it_reads_what_it_wrote(kind: str, data: st.DataObject) -> None:
    columns = ["requirements", "fees", "overview", "how_to_apply", "contact"]
    row = st.tuples(*(values_of(column) for column in columns)).filter(lambda r: any(r))
    rows = [list(values) for values in data.draw(st.lists(row, min_size=1, max_size=3))]
    text = read(kind, "services", write(kind, "services", columns, rows))
    assert text.problems == []
    checked = [check_row("services", row)[0] for row in text.rows]
    results = [[_listed(values[column]) for column in columns] for values in checked]
    assert results == rows


@given(ITEMS)
def test_it_splits_what_it_joined(items: list[str]) -> None:
    assert split(joined(items)) == items


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        *(("a|b", ["a", "b"]), (" a | b ", ["a", "b"]), (r"a\|b", ["a|b"]), ("a|", ["a", ""])),
        ("", []),
        ("• Photo\n• ID card\n\n•Form 12", ["Photo", "ID card", "Form 12"]),
        ("1. Go\r\n2) Pay\r\n", ["Go", "Pay"]),
        ("- Go\n– Pay -now", ["Go", "Pay -now"]),
        ("2 photos\n1.5 m of tape", ["2 photos", "1.5 m of tape"]),
        ("- one only", ["- one only"]),
        ("two\nlines | b", ["two\nlines", "b"]),
    ],
)
def test_it_reads_a_list_that_a_person_wrote(cell: str, items: list[str]) -> None:
    assert split(cell) == items


@given(st.text(alphabet="'=+-@\t\r\n\uff1da ", max_size=5))
def test_it_leaves_no_cell_that_a_spreadsheet_runs(text: str) -> None:
    assert guarded(text)[:1] not in tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
    assert unguarded(guarded(text)) == text


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("csv", b" \n", ": is empty"),
        ("csv", b"agency,key,name\n", ": has no rows: there is nothing to import"),
        (
            "csv",
            b"agency;key;name\ntax;new;Pay; and more\n",
            "has 4 cells, the header has 3 columns: quote cells that contain semicolons",
        ),
        ("json", b"{}", ":1: is not a JSON array"),
        ("json", b'[\n{"agency": "tax",\n]', ":3: is not JSON: "),
        (
            "json",
            b'[{"agency": "tax", "key": "x", "name": "y"}',
            ":1: is not JSON: a comma",
        ),
        ("json", b"[1]", ":1: is not a JSON object"),
        ("json", b"[" * 100_000, ":1: is not JSON that can be read"),
        ("json", b'[{"agency": "a", "agency": "b"}]', ":1: has the key 'agency' twice"),
        ("json", b"[{}]]", ":1: is not JSON: something stands after"),
        ("yaml", b"a: b", ":1: is not a list of rows"),
        ("xlsx", b"agency,key\ntax,pay\n", ": is no XLSX workbook that can be read"),
        ("xlsx", b"PK\x03\x04 and no more", ": is no XLSX workbook that can be read"),
        (
            "xlsx",
            workbook([["agency"], ["tax"]], "one", "two"),
            ": has the sheets one, two",
        ),
        ("csv", workbook([["agency"], ["tax"]]), "is not UTF-8 text here"),
        ("csv", b"agency,key,,name\ntax,new,more,New\n", ":2: has something in column 3"),
        ("csv", b"agency\tkey\tname\ntax\tnew\tA\tB\n", "quote cells that contain tabs"),
        ("csv", b"key,Key \na,b\n", ":1: has the column 'key' twice"),
        (
            "xlsx",
            workbook([["agency", None, "key"], ["tax", "x", "new"]]),
            "sheet 'services':2: has something in column 2, which has no name",
        ),
    ],
)
def test_it_says_what_is_wrong_with_a_file(kind: str, data: bytes, expected: str) -> None:
    problems = [str(problem) for problem in read(kind, "services", data).problems]
    assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("csv", b"broken|file\nand|rows\nbelow|it\n"),
        ("xlsx", workbook([["broken", "file"], ["and", "rows"]])),
    ],
)
def test_it_says_once_that_a_header_names_nothing_it_knows(kind: str, data: bytes) -> None:
    (problem,) = read(kind, "dictionary", data).problems
    expected = "has no column that is known: those of dictionary are agency, key, "
    assert (problem.line, problem.message.startswith(expected)) == (1, True)


def test_it_refuses_a_workbook_that_unpacks_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED", 1024 * 1024)
    bomb = repacked(GOOD, "xl/worksheets/sheet1.xml", b" " * 2 * 1024 * 1024)
    assert len(bomb) < 20_000
    (problem,) = read("xlsx", "services", bomb).problems
    assert problem.message == "is larger than 1 MiB when it is unpacked: split it"


def test_it_refuses_a_workbook_of_too_many_cells_before_it_reads_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "MAX_CELLS", 1_000)
    monkeypatch.setattr(files, "load_workbook", None)
    wide = repacked(GOOD, "xl/worksheets/sheet1.xml", b"<row>" + b"<c/>" * 10_000 + b"</row>")
    (problem,) = read("xlsx", "services", wide).problems
    assert problem.message.startswith("has more than 1,000 cells: remove sheets")


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
def test_it_survives_a_hostile_sheet(sheet: bytes) -> None:
    space = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    bad = repacked(GOOD, "xl/worksheets/sheet1.xml", sheet.replace(b"<worksheet", space))
    assert read("xlsx", "services", bad).problems


@pytest.mark.parametrize("kind", KINDS)
def test_it_refuses_a_huge_file(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(kind, "services", ["agency", "key"], [["tax", "a"], ["tax", "b"]])
    monkeypatch.setattr(files, "MAX_ROWS", 1)
    (problem,) = read(kind, "services", data).problems
    assert problem.message == "has more than 1 rows: split it, or load a bundle"
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    (problem,) = read(kind, "services", data).problems
    assert "is larger than 0 MiB" in problem.message


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
def test_it_reads_what_other_spreadsheets_save(data: bytes) -> None:
    source = read("csv", "services", data)
    assert source.problems == []
    (row,) = source.rows
    assert row.values == {"agency": "tax", "key": "new", "name": "Permit, new"}


@pytest.mark.parametrize("title", ["Services", "SERVICES "])
def test_it_reads_a_workbook_as_people_write_it(title: str) -> None:
    rows: list[list[object]] = [
        ["Our services"],
        ["Agency", "key ", None, "Name", "fees", "How to apply", None, " "],
        ["tax", 135, None, "Permit", 25, "1. Go\n2. Pay", None, " "],
        [],
    ]
    (row,) = read("xlsx", "services", workbook(rows, title, "Standards")).rows
    assert row.values == {
        "agency": "tax",
        "key": "135",
        "name": "Permit",
        "fees": "25",
        "how_to_apply": ["Go", "Pay"],
    }


@pytest.mark.parametrize(
    ("value", "shown_as", "digits"),
    [
        (7, "00000", "00007"),
        (7.0, "General", "7"),
        (7.5, "General", "7.5"),
        (7, "0.00", "7.00"),
        (7.125, "0.00", "7.125"),
        (1250, "#,##0.00", "1250.00"),
        (1e21, "General", "1000000000000000000000"),
        (7, '0.00 "EUR"', None),
        (0.07, "0%", None),
    ],
)
def test_a_number_is_the_digits_that_the_sheet_shows(
    value: float, shown_as: str, digits: str | None
) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["agency", "key", "name"])
    sheet.append(["tax", value, "Permit"])
    sheet["B2"].number_format = shown_as
    out = io.BytesIO()
    book.save(out)
    (row,) = read("xlsx", "services", out.getvalue()).rows
    values, problems = check_row("services", row)
    assert values["key"] == (digits or "")
    assert bool(problems) == (digits is None)
