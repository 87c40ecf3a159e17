"""Reading good bundles: formats, values, the release that they become."""

from __future__ import annotations

import csv
import json
import string
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import Bundle, default_labels, read_bundle
from ieim.knowledge.bundles.formats import guarded
from ieim.pipeline.canonical import digest
from ieim.pipeline.knowledge import LABEL_SETS, Label, Service
from ieim.studio.exchange.files import write as exported
from tests.knowledge.bundles import tables, write, write_yaml


def test_it_reads_a_folder_of_json_lines(tmp_path: Path) -> None:
    bundle = read_bundle(write(tmp_path, tables()))
    assert bundle.services[0] == Service(
        agency="passports",
        key="renew",
        name="Renew a passport",
        path="Home > Travel > Passports",
        overview="For a passport that runs out.",
        applicability_summary="Citizens",
        categories=("travel",),
        requirements=("A photo", "The old passport"),
        fees="80 crowns",
        processing_time="3 weeks",
        how_to_apply=("Fill in the form", "Pay"),
        contact="+999 1 555 0100",
        url="https://passports.example/renew",
    )
    assert bundle.services[1] == Service("tax", "return", "File a tax return")
    assert bundle.dictionary[0].keywords == ("holiday",)
    assert bundle.labels[0] == Label("intents", "apply", "Apply", "Wants to apply", Decimal("0.60"))
    assert str(bundle.labels[0].threshold) == "0.60"
    assert bundle.own_labels


def test_it_reads_one_yaml_file_alike(tmp_path: Path) -> None:
    folder = read_bundle(write(tmp_path / "folder", tables()))
    assert read_bundle(write_yaml(tmp_path / "bundle.yaml", tables())) == folder
    assert read_bundle(str(write_yaml(tmp_path / "bundle.yml", tables()))) == folder


def test_it_reads_a_folder_of_mixed_formats_alike(tmp_path: Path) -> None:
    content = tables()
    expected = read_bundle(write(tmp_path / "expected", content))
    folder = write(tmp_path / "mixed", {"agencies": content["agencies"]})
    (folder / "dictionary.csv").write_text(
        "\ufeffagency,key,value,keywords\r\npassports,travel,Travel,holiday\r\n\r\n"
        "tax,income,Income tax,\r\n",
        encoding="utf-8",
        newline="",
    )
    (folder / "services.yml").write_text(yaml.safe_dump(content["services"]), encoding="utf-8")
    (folder / "labels.csv").write_text(
        "set,code,name,description,threshold,effect\n"
        "intents,apply,Apply,Wants to apply,0.6,\n"
        "urgencies,today,Today,,,240\nrisk_flags,threat,Threat,,,escalate\n",
        encoding="utf-8",
    )
    (folder / "README.md").write_text("Other files are not looked at.", encoding="utf-8")
    assert read_bundle(folder) == expected


def test_it_reads_csv_lists_and_quoted_cells(tmp_path: Path) -> None:
    folder = write(tmp_path, {"agencies": tables()["agencies"], "dictionary": []})
    (folder / "services.csv").write_text(
        "agency,key,name,requirements,overview\n"
        'tax,return,"Tax, and more",A form | A pen|Proof,"Two\nlines, ""quoted"""\n',
        encoding="utf-8",
    )
    service = read_bundle(folder).services[0]
    assert service.requirements == ("A form", "A pen", "Proof")
    assert service.name == "Tax, and more"
    assert service.overview == 'Two\nlines, "quoted"'


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_it_reads_tables_with_tabs(tmp_path: Path, ending: str) -> None:
    folder = write(tmp_path, {"agencies": tables()["agencies"], "dictionary": []})
    text = 'Agency\tkey \tname\trequirements\t\ntax\treturn\tTax, and more\t"• A\n• B"\t\n'
    (folder / f"services{ending}").write_text(text, encoding="utf-8")
    service = read_bundle(folder).services[0]
    assert (service.name, service.requirements) == ("Tax, and more", ("A", "B"))


def test_it_reads_csv_as_it_was_exported(tmp_path: Path) -> None:
    content = tables()
    row = content["services"][0]
    row.update(requirements=["Cash|card", "C:\\forms\\", "'-1"], contact="+999 1 555 0100")
    row.update(amounts=["45.00 EUR", "0 EUR (children)"], hours=["Mo-Fr 09:00-16:00"])
    row.update(processing_days="5-10 working", places=["City Hall, 1 Market Square"])
    columns = list(row)
    data = exported("csv", "services", columns, [[row[name] for name in columns]])
    del content["services"][1]
    expected = read_bundle(write(tmp_path / "json", content))
    folder = write(tmp_path / "csv", content)
    (folder / "services.jsonl").unlink()
    (folder / "services.csv").write_bytes(data)
    assert read_bundle(folder) == expected
    assert expected.services[0].requirements[0] == "Cash|card"


@pytest.mark.parametrize("how", ["no file", "an empty file"])
def test_it_takes_the_default_labels_when_a_bundle_has_none(tmp_path: Path, how: str) -> None:
    content = tables()
    del content["labels"]
    write(tmp_path, content)
    if how == "an empty file":
        (tmp_path / "labels.jsonl").write_text("\n", encoding="utf-8")
    bundle = read_bundle(tmp_path)
    assert bundle.labels == default_labels()
    assert not bundle.own_labels
    assert set(bundle.release().labels) == set(LABEL_SETS)


def test_it_takes_null_for_a_value_that_is_not_there(tmp_path: Path) -> None:
    content = tables()
    content["services"][1] |= {"fees": None, "categories": None, "overview": None}
    content["labels"][0]["threshold"] = None
    bundle = read_bundle(write(tmp_path, content))
    assert bundle.services[1] == Service("tax", "return", "File a tax return")
    assert bundle.labels[0].threshold is None


@pytest.mark.parametrize("threshold", [0, 1, 0.5, 0.57, 0.29])
def test_it_reads_thresholds_of_two_decimals_by_value(tmp_path: Path, threshold: float) -> None:
    content = tables()
    content["labels"][0]["threshold"] = threshold
    label = read_bundle(write(tmp_path, content)).labels[0]
    assert str(label.threshold) == f"{threshold:.2f}"


@pytest.mark.parametrize(
    "path",
    ["", "Home > Travel", "News: what is new", "www.agency.example/x", "HTTPS://agency.example"],
)
def test_it_takes_words_and_links_for_a_path(tmp_path: Path, path: str) -> None:
    content = tables()
    content["agencies"][0]["path"] = path
    assert read_bundle(write(tmp_path, content)).agencies[0].path == path


def test_it_keeps_text_byte_for_byte(tmp_path: Path) -> None:
    odd = " cafe\u0301 \u2028\u00a0ﬁ\t\r\n\U0001f3db\x85 "
    content = tables()
    content["services"][0]["overview"] = odd
    for path in (write(tmp_path / "a", content), write_yaml(tmp_path / "b.yaml", content)):
        assert read_bundle(path).services[0].overview == odd


def test_it_makes_a_release_in_the_bundles_order(tmp_path: Path) -> None:
    bundle = read_bundle(write(tmp_path, tables()))
    release = bundle.release(7)
    assert release.number == 7
    assert release.sha256 == digest(json.loads(json.dumps(bundle.content)))
    assert list(release.agencies) == ["passports", "tax"]
    assert release.services["passports", "renew"] is bundle.services[0]
    assert release.categories["tax", "income"] is bundle.dictionary[1]
    assert release.labels["urgencies"]["today"].effect == "240"
    assert bundle.release().number == 0


def test_a_column_that_came_later_changes_no_digest_where_it_is_blank(tmp_path: Path) -> None:
    content = read_bundle(write(tmp_path, tables())).content
    assert content["services"][0].keys().isdisjoint({"next_services", "deadline_days", "read_on"})


def test_it_warns_of_what_citizens_will_miss(tmp_path: Path) -> None:
    content = tables()
    content["services"][0]["url"] = "http://"
    assert read_bundle(write(tmp_path, content)).warnings == [
        "1 service has no overview: the answer cannot say what it is (tax return).",
        "1 service has a link that does not open: write the whole address (passports renew).",
    ]


TEXT = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufeff\ufffe\uffff"),
    max_size=20,
)
NAME = TEXT.filter(lambda text: bool(text.strip()))
KEY = st.text(string.ascii_letters + string.digits + "-.", min_size=1, max_size=8)


@st.composite
def contents(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    """Any good bundle, as the values of its tables."""
    ids = draw(st.lists(KEY, min_size=1, max_size=3, unique=True))
    own = st.tuples(st.sampled_from(ids), KEY)
    entries = draw(st.lists(own, max_size=4, unique=True))
    services = draw(st.lists(own, max_size=4, unique=True))
    items = st.lists(NAME, max_size=3)
    return {
        "agencies": [{"id": id_, "name": draw(NAME), "description": draw(TEXT)} for id_ in ids],
        "dictionary": [
            {"agency": agency, "key": key, "value": draw(TEXT), "keywords": draw(items)}
            for agency, key in entries
        ],
        "services": [
            {
                "agency": agency,
                "key": key,
                "name": draw(NAME),
                "overview": draw(TEXT),
                "categories": [k for a, k in entries if a == agency],
                "requirements": draw(items),
                "fees": draw(TEXT),
                **draw(st.sampled_from([{}, {"read_on": "2026-11-29"}])),
            }
            for agency, key in services
        ],
        "labels": [
            {
                "set": "intents",
                "code": code,
                "name": draw(NAME),
                "threshold": draw(st.integers(0, 100)) / 100,
            }
            for code in draw(st.lists(KEY, min_size=1, max_size=2, unique=True))
        ],
    }


@settings(max_examples=60, deadline=None)
@given(contents())
def test_it_reads_back_whatever_was_written(content: dict[str, list[dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        from_json = read_bundle(write(Path(name) / "folder", content))
        from_yaml = read_bundle(write_yaml(Path(name) / "bundle.yaml", content))
        path = Path(name) / "folder" / "agencies.jsonl"
        path.unlink()
        with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["id", "name", "description"])
            writer.writeheader()
            writer.writerows(
                {name: guarded(text) for name, text in row.items()} for row in content["agencies"]
            )
        from_csv = read_bundle(path.parent)
    assert from_json == from_yaml == from_csv
    for table, rows in content.items():
        for row, read in zip(rows, json.loads(json.dumps(from_json.content))[table], strict=True):
            if table == "labels":
                read["threshold"] = float(read["threshold"])
            assert row.items() <= read.items()
    assert Bundle.from_content(from_json.content) == from_json
