"""Replies are data that a citizen can read, with nothing in them that was not gated."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.pipeline.reply.cards import Section, Source
from ieim.pipeline.reply.plain_text import paragraphs
from ieim.pipeline.reply.reply import Reply, render_answer, render_guidance, render_service

AGENCY = Agency("visas", "Visa Office", "https://visas.example")
SERVICE = Service(
    agency="visas",
    key="extend",
    name="Extend a visa",
    path="https://visas.example/extend",
    overview="Stay longer in the U.S. Embassy zone. You may extend once.",
    applicability_summary="For **visitors** (see [who](/who)).",
    requirements=("A passport", "A photo"),
    fees="MRK 45.00",
    how_to_apply=("Fill in the form.", "Pay."),
    url="https://visas.example/extend/",
)
RELEASE = Release(1, "", {"visas": AGENCY}, {}, {("visas", "extend"): SERVICE})
SOURCE = Source("visas", "Visa Office", "extend", "Extend a visa", "https://visas.example/extend/")
ALL = (
    *("entity_ENT_DATE", "service_contact", "service_how_to_apply", "service_processing_time"),
    *("service_fees", "service_requirements", "service_applicability_summary", "service_overview"),
    *("service_name", "agency_name"),
)


def render(
    *keys: str, service: Service = SERVICE, agency: Agency = AGENCY, **changes: Any
) -> Reply:
    given = {"category_value": None, "entities": {"ENT_DATE": "3 May"}} | changes
    placeholders = {key: f"{{{key}}}" for key in keys}
    return render_service(placeholders, service=service, agency=agency, **given)


def test_it_renders_a_service_in_a_fixed_order_without_empty_fields() -> None:
    reply = render(*ALL)
    assert (reply.kind, reply.title, reply.lead) == ("service", SERVICE.name, "Fill in the form.")
    assert reply.paragraphs == ()
    assert reply.sections == (
        Section("overview", (SERVICE.overview,)),
        Section("applicability_summary", ("For visitors (see who).",)),
        Section("requirements", ("A passport", "A photo")),
        Section("fees", ("MRK 45.00",)),
        Section("how_to_apply", ("Fill in the form.", "Pay.")),
        Section("entity_ENT_DATE", ("3 May",)),
        Section("agency_name", ("Visa Office",)),
    )
    assert reply.sources == (SOURCE,)


def test_it_shows_only_what_was_asked_for_and_always_its_source() -> None:
    reply = render("service_fees")
    assert [section.field for section in reply.sections] == ["fees"]
    assert render().sections == ()
    assert render().sources == (SOURCE,)


def test_it_takes_nothing_from_the_values_of_the_placeholders() -> None:
    given = {"service_fees": "Free!", "made_up": "Free!"}
    reply = render_service(given, service=SERVICE, agency=AGENCY, category_value=None, entities={})
    assert "Free" not in json.dumps(reply.as_dict())


@pytest.mark.parametrize(
    ("overview", "lead"),
    [
        (SERVICE.overview, "Stay longer in the U.S. Embassy zone."),
        ("Is it for you? Yes.", "Is it for you?"),
        ("No end", "No end"),
        ("Bring papers, e.g. Form A. Then wait.", "Bring papers, e.g. Form A. Then wait."),
        ("", ""),
    ],
)
def test_it_leads_with_the_first_sentence_when_there_are_no_steps(overview: str, lead: str) -> None:
    assert render(service=replace(SERVICE, overview=overview, how_to_apply=())).lead == lead


@pytest.mark.parametrize(
    ("url", "path", "home", "shown"),
    [
        ("", "https://a.example/p", "", "https://a.example/p"),
        ("javascript:alert(1)", "Our page", "https://a.example", "https://a.example"),
        ('https://a.example/"onclick="x', "", "", ""),
        ("", "", "", ""),
    ],
)
def test_it_links_only_to_http_and_https(url: str, path: str, home: str, shown: str) -> None:
    service = replace(SERVICE, url=url, path=path)
    assert render(service=service, agency=replace(AGENCY, path=home)).sources[0].url == shown


def test_it_renders_an_answer_with_each_source_once() -> None:
    reply = render_answer("First.\n\nSecond\nline.", [SERVICE, SERVICE], RELEASE)
    assert (reply.kind, reply.title, reply.lead, reply.sections) == ("answer", "", "", ())
    assert reply.paragraphs == ("First.", "Second line.")
    assert reply.sources == (SOURCE,)


def test_it_renders_guidance_without_sources() -> None:
    reply = render_guidance("Hello. Ask me something.")
    assert reply == Reply("guidance", "", "", ("Hello. Ask me something.",), (), ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Fees #\nIt is **free** and *quick*.", ["Fees", "It is free and quick."]),
        (
            "Do:\n- one\n* two\n  more\n1. three\n\nEnd",
            ["Do:", "one", "two more", "1. three", "End"],
        ),
        ("__a__ and _b_ and `c` and ~~d~~ and ***e***", ["a and b and c and d and e"]),
        ("**Bring _both_ forms**", ["Bring both forms"]),
        ("a\n---\nb\n```\nc\n```", ["a", "b", "c"]),
        ("> quoted\n> text", ["quoted text"]),
        ("a\r\n \r\nb", ["a", "b"]),
        ("[the form](https://a.example/f)", ["the form (https://a.example/f)"]),
        ("[https://a.example/f](https://a.example/f)", ["https://a.example/f"]),
        ("[write](mailto:a@b.example) or [see](/here)", ["write (a@b.example) or see"]),
        (" \n---\n", []),
    ],
)
def test_it_strips_markdown_and_keeps_the_words(text: str, expected: list[str]) -> None:
    assert list(paragraphs(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Fields marked * are needed, 5 * 3 too, and 2*3*4.",
        "Use snake_case_names and https://a.example/_a_/b_c_d.",
        "#1 in line, - or not, <b>bold</b> & more",
    ],
)
def test_it_leaves_plain_text_alone(text: str) -> None:
    assert list(paragraphs(text)) == [text]


def test_it_goes_to_json_and_back() -> None:
    for reply in (render(*ALL), render_answer("Text", [SERVICE], RELEASE), render_guidance("Hi")):
        assert Reply.from_dict(json.loads(json.dumps(reply.as_dict()))) == reply


def test_it_reads_as_plain_text() -> None:
    text = render("service_fees", "service_how_to_apply").as_text()
    assert text == (
        "Extend a visa\n\nFill in the form.\n\nFees: MRK 45.00\n\n"
        "How to apply:\n- Fill in the form.\n- Pay."
    )
    assert render_guidance("One\n\nTwo").as_text() == "One\n\nTwo"


@given(st.text(alphabet="ab1 \n*_`~#->[]()|.\u2028", max_size=60))
def test_it_loses_no_word_of_any_text(text: str) -> None:
    # The address of a relative link and the line that opens a block of code are not shown.
    assume("](" not in text and "```" not in text and "~~~" not in text)
    result = " ".join(paragraphs(text))
    assert [c for c in result if c.isalpha()] == [c for c in text if c.isalpha()]


@pytest.mark.parametrize(
    "unit",
    [
        "*",
        "*a",
        "**a ",
        "_a",
        "`a",
        "~~a",
        "[",
        "[](",
        "[a](b",
        "# ",
        "#",
        "- ",
        "-",
        "> ",
        ">",
        " ",
    ],
)
def test_it_takes_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit)) + "x"
    started = time.process_time()
    render_guidance(text)
    render(service=replace(SERVICE, overview=text, how_to_apply=()))
    # Quadratic time would be minutes.
    assert time.process_time() - started < 10
