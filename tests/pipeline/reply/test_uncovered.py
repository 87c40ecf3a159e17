"""The parts of a message that nothing in its reply covers are said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ieim.pipeline.kinds import FOLLOW_UP
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Query
from ieim.pipeline.reply.marks import mark_uncovered
from ieim.pipeline.stages.base import Inputs
from ieim.pipeline.work import Answered
from tests.pipeline.build import PAVILION, REPLACE, TODAY, context
from tests.pipeline.drive import ScriptedModel, high_script, run
from tests.pipeline.searching import FakeSearch


def inputs(text: str, *parts: str, **options: Any) -> Inputs:
    judged = replace(context("service_select_v1", user_prompt=text), redacted=prepare(text))
    search = FakeSearch(parts=parts, **options)
    return Inputs(judged.seen, (), judged, search, {}, today=TODAY, query=Query(judged.seen))


PARTS = (
    "How do I replace a lost passport",
    "Where can I book a pavilion",
    "How do I file my tax return",
)
THIRD = f"{PARTS[0]}? {PARTS[1]}? {PARTS[2]}?"


def uncovered(text: str, *cited: Any, parts: tuple[str, ...] = PARTS, **options: Any) -> list[str]:
    """Return the parts of ``text`` that an answer which cites these services leaves over."""
    outcome, _ = run(ScriptedModel(high_script()))
    assert isinstance(outcome, Answered)
    sources = tuple(card.source for card in outcome.reply.cards if card.title in cited)
    given = inputs(text, *parts, **options)
    result = mark_uncovered(replace(outcome.reply, sources=sources), given)
    return [text[start:end] for start, end in result.uncovered]


def test_a_part_that_no_source_is_about_is_said() -> None:
    assert uncovered(THIRD, REPLACE.name, PAVILION.name) == [PARTS[2]]
    assert uncovered(THIRD, REPLACE.name) == [*PARTS[1:]]
    # Of questions that are no requests the ranking tells by meaning alone.
    assert uncovered(THIRD, REPLACE.name, parts=()) == [f"{part}?" for part in PARTS[1:]]
    assert uncovered(THIRD, REPLACE.name, parts=(), by_meaning=False) == []


def test_a_question_that_no_service_is_about_is_said_too() -> None:
    mooring = "Where do I moor my canoe?"
    text = f"{PARTS[0]}? {mooring}"
    assert uncovered(text, REPLACE.name, parts=()) == [mooring]
    assert uncovered(text, REPLACE.name, parts=(), by_meaning=False) == []
    assert uncovered(mooring, REPLACE.name, parts=()) == []  # it is the whole message
    # By its form it goes on with the other one.
    assert uncovered(text, REPLACE.name, parts=(), kinds={mooring: FOLLOW_UP}) == []


def test_the_parts_are_those_of_the_text_as_sent() -> None:
    text = f"I am jo@mail.example. {THIRD}"
    assert uncovered(text, REPLACE.name, PAVILION.name) == [PARTS[2]]


def test_the_runner_says_it() -> None:
    outcome, _ = run(ScriptedModel(high_script()), text=THIRD, shortlist=FakeSearch(parts=PARTS))
    assert isinstance(outcome, Answered)
    spans = outcome.reply.uncovered
    assert [THIRD[start:end] for start, end in spans] == [PARTS[2]]
    assert json.loads(json.dumps(outcome.reply.as_dict()))["uncovered"] == [list(*spans)]
