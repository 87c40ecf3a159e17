"""Bad files: unreadable, malformed, missing, hostile; never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles import formats
from ieim.knowledge.bundles.bundle import Bundle, BundleError, BundleProblem, read_bundle
from tests.knowledge.bundles import Tables, errors, one_error, tables, write, write_yaml


def outcome(path: Path) -> Bundle | list[BundleProblem]:
    """The bundle, or what is wrong with it."""
    try:
        return read_bundle(path)
    except BundleError as error:
        return error.errors


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('"text"', "is not a JSON object"),
        ('{"id": "a", "name": "A", "id": "b"}', "has the key 'id' twice"),
        ('{"id": "a", "name": "A"} x', "is not JSON"),
        ("[" * 100_000, "nested or numbered too far"),
        ('{"id": "a", "name": ' + "9" * 5000 + "}", "name must be text, this is a number"),
        ('{"id": "a", "name": 1e999999999}', "name must be text, this is a number"),
        ('{"id": "a", "name": 1E9999999999999999999999}', "nested or numbered too far"),
        ('{"id": "a", "name": NaN}', "name must be text, this is NaN"),
    ],
)
def test_it_refuses_lines_that_are_no_rows(tmp_path: Path, line: str, expected: str) -> None:
    write(tmp_path, tables())
    with (tmp_path / "agencies.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + line)
    result = one_error(tmp_path)
    assert result.startswith("agencies.jsonl:4: ")
    assert expected in result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- id: a\n  name: A\n- id: b\n  colour: red\n  name: B\n", ":4: the column 'colour'"),
        ("- id: a\n  name: A\n  id: b\n", ":3: has the key 'id' twice"),
        ("- id: a\n  name:\n    - A\n", ":3: name must be text, this is a list"),
        ("- id: a\n  name: 2024-01-01\n", ":2: name must be text, this is a date: put it in"),
        ("- id: a\n  name: no\n", ":2: name must be text, this is true or false: put it in"),
        ("- id: 007\n  name: A\n", ":1: id must be text, this is a number: put it in quotes"),
        ("- id: a\n  name: 1:30\n", ":2: name must be text, this is a number"),
        ("- id: a\n  name: {b: c}\n", ":2: name must be text, this is a mapping"),
        ("- id: a\n  name: !!python/name:os.system\n", ":2: name must be text, this is a value of"),
        ("- id: a\n  name: A\n  <<: {path: x}\n", "the column '<<' is unknown"),
        ("- ? [a]\n  : b\n  id: a\n  name: A\n", ":1: has a key that is no text"),
        ("- a\n", ":1: is not a row"),
        ("id: a\n", ":1: is not a list of rows"),
        ("- id: a\n name: A\n", ":2: is not YAML"),
        ("- id: 'a\n", ": is not YAML"),
        ("- id: a\n- name: \x07\n", ":2: has the character U+0007: remove it"),
        ("--- []\n--- []\n", "is not YAML"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
    ],
)
def test_it_refuses_bad_yaml_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    folder = write(tmp_path, {"dictionary": [], "services": []})
    (folder / "agencies.yaml").write_text(text, encoding="utf-8")
    result = errors(folder)[0]
    assert result.startswith("agencies.yaml")
    assert expected in result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,name\na,A,x\n", ":2: has 3 cells, the header has 2 columns"),
        ("id,name\na\n", ":2: has 1 cells, the header has 2 columns"),
        ("id,name,id\na,A,b\n", ":1: has the column 'id' twice"),
        ('id,name\na,"A\n', ":2: is not CSV"),
        ('id,name,path\na,"A\nB",\nb,,\n', ":4: name is missing"),
        ("id,colour\n\na,red\n", ":3: the column 'colour' is unknown"),
        ("id,name\na,A\n" + "x" * 200_000 + ",b\n", ":3: is not CSV"),
    ],
)
def test_it_refuses_bad_csv_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    folder = write(tmp_path, {"dictionary": [], "services": []})
    (folder / "agencies.csv").write_text(text, encoding="utf-8")
    result = errors(folder)[0]
    assert result.startswith("agencies.csv")
    assert expected in result


@pytest.mark.parametrize("threshold", ["x", "0.555", "2", "NaN", "1e999999999"])
def test_it_refuses_a_bad_threshold_in_csv(tmp_path: Path, threshold: str) -> None:
    content = tables()
    del content["labels"]
    write(tmp_path, content)
    text = f"set,code,name,threshold\nintents,a,A,{threshold}\n"
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    assert one_error(tmp_path).startswith("labels.csv:2: threshold must be a number from 0 to 1")


def test_it_refuses_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    write(tmp_path, tables())
    path = tmp_path / "labels.jsonl"
    path.write_bytes(path.read_bytes() + b'\n{"set": "caf\xe9"}')
    assert one_error(tmp_path).startswith("labels.jsonl:5: is not UTF-8 text here")


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda folder: (folder / "services.jsonl").unlink(), "has no services file: add services"),
        (
            lambda folder: (folder / "agencies.csv").write_text("id,name\n", encoding="utf-8"),
            "has agencies.jsonl and agencies.csv: keep one of them",
        ),
    ],
)
def test_it_refuses_a_folder_with_too_few_or_too_many_files(
    tmp_path: Path, damage: Callable[[Path], object], expected: str
) -> None:
    damage(write(tmp_path, tables()))
    assert any(expected in error for error in errors(tmp_path))


def test_it_does_not_call_references_dangling_when_a_file_is_missing(tmp_path: Path) -> None:
    content = tables()
    del content["agencies"], content["dictionary"]
    result = errors(write(tmp_path, content))
    assert len(result) == 2
    assert all("has no" in error for error in result)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("nowhere", "does not exist"), ("notes.txt", "is no folder and no YAML file")],
)
def test_it_refuses_a_path_that_is_no_bundle(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    assert expected in one_error(tmp_path / name)


def test_it_refuses_an_empty_bundle(tmp_path: Path) -> None:
    content: Tables = {"agencies": [], "dictionary": [], "services": []}
    assert "is empty" in one_error(write(tmp_path, content))
    assert "has no key 'agencies'" in errors(write_yaml(tmp_path / "bundle.yaml", {}))[0]


def test_it_refuses_other_keys_in_a_yaml_bundle(tmp_path: Path) -> None:
    content = {**tables(), "offices": []}
    assert "unknown top-level key 'offices'" in one_error(write_yaml(tmp_path / "b.yaml", content))
    (tmp_path / "b.yaml").write_text("- a\n", encoding="utf-8")
    assert "b.yaml:1: is not a mapping" in one_error(tmp_path / "b.yaml")


def test_it_gives_lines_in_a_yaml_bundle(tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(
        "agencies:\n- id: a\n  name: A\ndictionary: []\nservices:\n- agency: b\n  key: k\n"
        "  name: N\n  categories:\n  - x\n",
        encoding="utf-8",
    )
    assert one_error(path) == f"{path}:6: agency 'b' is not among the agencies"


def test_it_refuses_a_file_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MAX_FILE_BYTES", 300)
    content = tables()
    del content["labels"]
    assert one_error(write(tmp_path, content)).startswith("services.jsonl: is larger than")


@given(
    ending=st.sampled_from([".jsonl", ".yaml", ".csv"]),
    data=st.one_of(
        st.binary(max_size=80),
        st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["id", "name", "path", "x"]), inner, max_size=3)
            ),
            max_leaves=8,
        ).map(lambda value: json.dumps(value).encode()),
    ),
)
def test_it_never_fails_otherwise(
    tmp_path_factory: pytest.TempPathFactory, ending: str, data: bytes
) -> None:
    folder = write(tmp_path_factory.mktemp("any"), {"dictionary": [], "services": []})
    (folder / f"agencies{ending}").write_bytes(data)
    assert outcome(folder)
