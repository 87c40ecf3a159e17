from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.columns import LIST_LIMIT, NAME_LIMIT, TEXT_LIMIT
from ieim.studio.standards import services
from ieim.studio.standards.report import Report, StandardError
from ieim.studio.standards.texts import fitted, plain
from tests.studio.standards.samples.samples import read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=25,
)
NAMES = st.sampled_from(
    (
        *("@context", "@graph", "@id", "@type", "@value", "@language", "@list", "@reverse", "name"),
        *("provider", "category", "contents", "service", "organization", "phones", "attributes"),
        *("subjectOf", "step", "availableChannel", "id", "status", "audience", "url", "schedules"),
    )
)
WORDS = st.sampled_from(("GovernmentService", "GovernmentOrganization", "https://schema.org", "x"))
LIKELY = st.recursive(
    VALUES | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=8),
    max_leaves=40,
)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the file: is empty"),
        (b"\xff[]", "the file: is not UTF-8 text (line 1)"),
        (b"<!doctype html><h1>Permit</h1>", "the file: is a web page or XML, not JSON: choose"),
        (b"\xef\xbb\xbf\n<?xml version='1.0'?><rdf:RDF/>", "the file: is a web page or XML"),
        (b'{"a":1}{"b":2}', "the file: is not JSON: Extra data (line 1, column 8)"),
        (b'{"a":1},"b":{"c":1}', "the file: is not JSON: Extra data"),
        (b'[{"a":{"b":1,"b":2}}]', "/0/a/b: The key stands in its object more than once."),
        (b'{"a/b":NaN}', "/a~1b: NaN and Infinity are not JSON numbers."),
        (b'["\\ud800"]', "/0: There is a NUL, a lone surrogate"),
        (b'["\\u0000"]', "/0: There is a NUL, a lone surrogate"),
        (b"[1e999]", "/0: The number is too large"),
        (b"[" * 32 + b"]" * 32, "the file: is nested more than 31 levels deep"),
        (b"[" * 200_000, "the file: is nested more than 31 levels deep"),
    ],
)
def test_it_reads_json_strictly(data: bytes, why: str) -> None:
    with pytest.raises(StandardError) as caught:
        services.read_json(data)
    assert str(caught.value).startswith(why)


def test_it_refuses_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_FILE_BYTES", 2**20)
    with pytest.raises(StandardError, match="larger than 1 MiB: split it"):
        services.read_json(b" " * (2**20 + 1))


@given(LIKELY)
def test_no_file_does_more_than_to_be_refused(value: Any) -> None:
    records: list[object] = []
    try:
        mapped, _ = read(value)
    except StandardError as error:
        records.extend(error.problems)
    else:
        records.extend(rows for rows in mapped.rows.values() if rows)
    assert records


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\nTwo"),
        ("a<br/>b<BR>c", "a\nb\nc"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("5 &lt; 6 &amp; 7 &#8364;", "5 < 6 & 7 €"),
        ("<script>alert(1)</script><b>bold</b>", "bold"),
        ('<img src=x onerror="alert(1)">text', "text"),
        ("<style>p{}</style>x<!-- secret -->y", "xy"),
        ("<p>a\n   b</p>", "a\nb"),
    ],
)
def test_it_makes_plain_text_of_markup(html: str, text: str) -> None:
    report = Report()
    assert plain(html, "/a", report) == text
    assert [note.why for note in report.notes] == ["markup became plain text"]


@pytest.mark.parametrize("text", ["5 < 6 & 7", "a <- b", "  kept \n as it is ", "R&D; x", "<3"])
def test_it_leaves_plain_text_as_it_is(text: str) -> None:
    report = Report()
    assert plain(text, "/a", report) == text
    assert report.notes == []


def test_it_cuts_what_is_too_long_and_tells_it() -> None:
    report = Report()
    name = fitted("services", "name", "x" * (NAME_LIMIT + 1), "/n", report)
    assert name == "x" * (NAME_LIMIT - 1) + "…"
    steps_kept = fitted("services", "how_to_apply", ["y"] * (LIST_LIMIT + 1), "/s", report)
    assert steps_kept == ["y"] * LIST_LIMIT
    long = fitted("services", "requirements", ["z" * (TEXT_LIMIT + 1), " "], "/r", report)
    assert isinstance(long, list)
    assert [len(item) for item in long] == [TEXT_LIMIT]
    assert [note.why for note in report.notes] == [
        f"name cut to {NAME_LIMIT} characters",
        f"requirements cut to {TEXT_LIMIT:,} characters",
        f"how_to_apply cut to {LIST_LIMIT} entries",
    ]
