"""What goes out comes in again, and changes nothing."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import COLUMNS, check_row
from ieim.knowledge.bundles.formats import guarded, joined, split, unguarded
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.exchange.files import read, write
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
from tests.studio.exchange.files import KINDS, MODELS, confirm, export, preview

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


@settings(max_examples=150)
@given(st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_it_reads_what_it_wrote(kind: str, data: st.DataObject) -> None:
    columns = ["requirements", "fees", "key", "how_to_apply", "contact"]
    row = st.tuples(*(values_of(column) for column in columns)).filter(lambda r: any(r))
    rows = [list(values) for values in data.draw(st.lists(row, min_size=1, max_size=3))]
    found = read(kind, "services", write(kind, "services", columns, rows))
    assert found.problems == []
    checked = [check_row("services", row)[0] for row in found.rows]
    got = [[_listed(values[column]) for column in columns] for values in checked]
    assert got == rows


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


@pytest.fixture
def odd(db: None, bundle: Bundle) -> Bundle:
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
    result = page.context["result"]
    assert (result.places, result.planned) == ([], [])
    assert result.total_rows > 0
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
    found = [cell for row in book["services"].iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in found} == {"s"}
    assert {cell.number_format for cell in found} == {"@"}
    assert [cell.value for cell in found][:2] == list(COLUMNS["services"])[:2]


def test_it_says_what_a_workbook_cannot_hold(admin_client: Client, odd: Bundle) -> None:
    Service.objects.filter(key="return").update(requirements=["x" * 10_000] * 4)
    page = admin_client.post(
        "/admin/studio/service/export/", {"format": "1", "resource": "0"}
    ).content.decode()
    assert "requirements has more than 32,767 characters" in page
    assert export(admin_client, "service", "json")
