"""What the answer benchmark asks: questions and talks made by a rule, and the blind questions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import answer_sets as sets
from benchmarks.bench_answers import BLIND, COLUMNS, QUESTIONS, Row, mixed
from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.studio.evaluation.cases import Case, Expected, read_cases
from tests.search.releases import release

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

HELD, OTHER_HELD, TUNED = "e", "g", "a"
"""SHA-256 of "e" begins with 3f, of "g" with cd, of "a" with ca."""

SENTENCES = [
    "You pay once a year for it.",
    "You pay, once a YEAR, for it!",
    "Bring the old card with you.",
    "The office opens early on Monday.",
    "Ask there.",
]


def of(*overviews: str, **fields: Any) -> Release:
    """A release with a service of its own agency for each overview, keyed "0", "1", ..."""
    services = [
        Service(f"agency-{number}", str(number), f"Service {number}", overview=text, **fields)
        for number, text in enumerate(overviews)
    ]
    return release([Agency(service.agency, service.agency) for service in services], [], services)


def case(id_: str, agencies: Sequence[str], *services: str, **fields: Any) -> Case:
    expected = Expected(True, frozenset(agencies), frozenset(services))
    return replace(Case(id_, f"question {id_}", (), expected), **fields)


def plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z]+", text.lower()))


def line(id_: str, source: str = "") -> str:
    expected = {"inquiry": True, "agencies": None, "service": None}
    return json.dumps({"id": id_, "text": "hello", "source": source, "expected": expected})


def test_it_holds_out_whatever_has_a_part_of_a_held_out_dialogue(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    lines = [
        line(TUNED),
        line(HELD),
        line("one", f"testdev {TUNED}"),
        line("two", f"testdev {TUNED}, testdev {HELD}"),
        line(f"{HELD} no more", f"doc2dial testdev {TUNED}"),
    ]
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    read = sets.read_set(path)
    assert read.held == frozenset({HELD, "two"})
    assert [[entry.id for entry in side] for side in read.sides()] == [
        [TUNED, "one", f"{HELD} no more"],
        [HELD, "two"],
    ]


def test_it_takes_the_sentence_that_it_asks_out_of_the_release() -> None:
    written = of(f"{SENTENCES[2]} {SENTENCES[0]} {SENTENCES[4]}")
    made, (only,) = sets.made_of(replace(written, sha256="f" * 64))
    assert only.text == SENTENCES[0]
    assert only.expected == Expected(True, frozenset({"agency-0"}), frozenset({"0"}))
    (left,) = made.services.values()
    assert left.overview.split() == f"{SENTENCES[2]} {SENTENCES[4]}".split()
    # An index that is kept by the digest must not be the one of the whole release.
    assert made.sha256 != "f" * 64


@pytest.mark.parametrize(
    ("overviews", "fields"),
    [
        # The same in another service, but for case, white space and punctuation.
        ((f"First. {SENTENCES[0]}", f"{SENTENCES[1]} And more words about it."), {}),
        # In another field of its own service.
        ((f"First. {SENTENCES[0]}",), {"fees": SENTENCES[1]}),
        # Nothing would be left, or nothing but marks.
        ((SENTENCES[0],), {}),
        ((f"-- ! {SENTENCES[0]}",), {}),
        # Too short.
        (("First. Ask there. Or write.",), {}),
        (("",), {}),
    ],
)
def test_it_asks_no_sentence_that_is_no_fair_question(
    overviews: Sequence[str], fields: dict[str, str]
) -> None:
    cases = sets.made_of(of(*overviews, **fields))[1]
    assert all(result.expected.services != {"0"} for result in cases)


@given(st.lists(st.lists(st.sampled_from(SENTENCES), max_size=3).map(" ".join), max_size=6))
def test_it_asks_only_what_one_service_says_and_leaves_it_words(overviews: list[str]) -> None:
    made, cases = sets.made_of(of(*overviews))
    left = {service.key: service.overview for service in made.services.values()}
    for results in cases:
        (key,) = results.expected.services
        result = plain(results.text)
        assert [str(number) for number, text in enumerate(overviews) if result in plain(text)] == [
            key
        ]
        assert result not in plain(left[key])
        assert plain(left[key])


def test_it_begins_talks_with_clear_first_questions_only() -> None:
    talk = ({"role": "user", "text": "before"},)
    questions = sets.CaseSet(
        [
            case("clear", ["agency-0"], "0"),
            case("vague", ["agency-0"], "0", tags=("vague",)),
            case("injected", ["agency-0"], "0", tags=("injection",)),
            case("later", ["agency-0"], "0", history=talk),
            case("several", ["agency-0", "agency-1"], "0", "1"),
            case("absent", []),
            case("service unknown", ["agency-0"]),
        ],
        frozenset({"clear"}),
    )
    first = sets.first_questions(questions)
    assert [result.id for result in first.cases] == ["clear"]
    assert first.held == frozenset({"clear"})


def test_it_goes_on_about_the_service_that_was_told() -> None:
    index = of("One.", "Two.", "Three.")
    # Two are acceptable; the talk is about one of them.
    questions = sets.CaseSet([case("x", ["agency-1"], "1", "2"), case("y", ["agency-1"], "9")])
    (only,) = sets.going_on(index, questions, ["Can I appeal?"]).cases
    assert (only.id, only.text) == ("x", "Can I appeal?")
    assert only.expected == Expected(True, frozenset({"agency-1"}), frozenset({"1"}))
    assert only.history == (
        {"role": "user", "text": "question x"},
        {"role": "assistant", "text": "Service 1. Two.", "agency": "agency-1", "service": "1"},
    )


def test_it_turns_from_another_agency_within_the_half() -> None:
    names = [str(number) for number in range(12)]
    cases = [case(name, [f"agency-{int(name) % 3}"], str(int(name) % 3)) for name in names]
    value = frozenset(names[:6])
    turned = sets.turning(of("One.", "Two.", "Three."), sets.CaseSet(cases, value))
    assert sorted(results.id for results in turned.cases) == sorted(names)
    for results in turned.cases:
        result, actual = results.history
        before = result["text"].removeprefix("question ")
        assert (before in value) == (results.id in value)
        assert actual["agency"] not in (results.expected.agencies or ())
        assert actual["service"] == str(int(before) % 3)
        assert results.text == f"question {results.id}"


def test_it_writes_what_the_engine_said_into_the_talk_that_it_asks_with() -> None:
    talk = tuple(
        {"role": role, "text": text, "agency": "file", "service": "file"}
        for role, text in [
            ("user", "first"),
            ("assistant", "told"),
            ("user", "second"),
            ("assistant", "told more"),
        ]
    )
    heard: list[tuple[str, sets.History]] = []

    def answering(text: str, before: sets.History) -> tuple[str, str] | None:
        heard.append((text, before))
        return ("tax", "refund") if text == "first" else None

    questions = [case("alone", ["tax"], "refund")]
    questions += [case(name, ["tax"], "refund", history=talk) for name in ("x", "y")]
    made = sets.answered_before(sets.CaseSet(questions, frozenset({"y"})), answering)
    expected = (
        {"role": "user", "text": "first"},
        {"role": "assistant", "text": "told", "agency": "tax", "service": "refund"},
        {"role": "user", "text": "second"},
        {"role": "assistant", "text": "told more"},
    )
    assert [(result.id, result.history) for result in made.cases] == [
        ("x", expected),
        ("y", expected),
    ]
    assert heard == [("first", ()), ("second", expected[:2])]
    assert made.held == frozenset({"y"})


def row(answered: float, wrong: float | None) -> Row:
    empty: Row = dict.fromkeys(COLUMNS)
    return {**empty, "answered": answered, "wrong_answered": wrong}


def test_it_weighs_a_message_in_six_as_one_that_turns() -> None:
    both = mixed("both", row(0.6, 0.1), row(0.3, 0.5))
    # Of 36 messages 30 stay (18 answered, 1.8 wrongly), 6 turn (1.8 answered, 0.9 wrongly).
    assert both["answered"] == pytest.approx(19.8 / 36)
    assert both["wrong_answered"] == pytest.approx(2.7 / 19.8)
    assert mixed("nothing", row(0.0, None), row(0.0, None))["wrong_answered"] is None


@pytest.mark.parametrize("name", BLIND)
def test_it_has_blind_questions_that_are_labelled_alike(name: str) -> None:
    cases = read_cases(QUESTIONS / f"{name}.jsonl").cases
    assert len(cases) >= 50
    for result in cases:
        assert not result.history, result.id
        assert result.expected.inquiry, result.id
        assert ("absent" in result.tags) == result.expected.review, result.id
        assert result.expected.services or result.expected.review, result.id


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the catalogues in ../shared/data")
@pytest.mark.parametrize("name", BLIND)
def test_it_expects_services_that_its_catalogue_has(name: str) -> None:
    services = read_bundle(SHARED / "catalogues" / name).release().services
    agency_of = {key: agency for agency, key in services}
    assert len(agency_of) == len(services)
    for result in read_cases(QUESTIONS / f"{name}.jsonl").cases:
        assert result.expected.services <= agency_of.keys(), result.id
        agencies = {agency_of[key] for key in result.expected.services}
        # Not labelled where the services are of several agencies: one of them is enough.
        assert result.expected.agencies == (None if len(agencies) > 1 else agencies), result.id
