"""The parts of a message that nothing in its reply covers are said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.reply.reply import mark_uncovered
from ieim.pipeline.stages.base import Inputs
from ieim.pipeline.work import Answered
from ieim.search import index_for
from tests.pipeline.build import PAVILION, RELEASE, REPLACE, RETURN, TODAY, context
from tests.pipeline.drive import ScriptedModel, high_script, run


def inputs(text: str) -> Inputs:
    judged = replace(context("service_select_v1", user_prompt=text), redacted=prepare(text))
    return Inputs(judged.seen, (), judged, index_for(RELEASE), {}, today=TODAY)


def covered(text: str, *cited: Any) -> list[str]:
    """Return the parts of ``text`` that an answer which cites these services leaves over."""
    outcome, _ = run(ScriptedModel(high_script()))
    assert isinstance(outcome, Answered)
    sources = tuple(card.source for card in outcome.reply.cards if card.title in cited)
    said = mark_uncovered(replace(outcome.reply, sources=sources), inputs(text))
    return [text[start:end] for start, end in said.uncovered]


BOTH = "How do I replace a lost passport? Where can I book a garden pavilion?"
THIRD = f"{BOTH} When must I file my tax return?"


def test_a_part_that_no_source_is_about_is_said() -> None:
    assert covered(BOTH, REPLACE.name, PAVILION.name) == []
    assert covered(THIRD, REPLACE.name, PAVILION.name) == ["When must I file my tax return"]
    assert covered(BOTH, REPLACE.name) == ["Where can I book a garden pavilion"]


def test_a_part_that_nothing_in_the_release_is_about_is_said_too() -> None:
    text = "How do I replace a lost passport? Who repairs broken saxophones nowadays?"
    assert covered(text, REPLACE.name) == ["Who repairs broken saxophones nowadays"]


def test_the_parts_are_those_of_the_text_as_sent() -> None:
    text = f"I am jo@mail.example. {THIRD}"
    assert covered(text, REPLACE.name, PAVILION.name) == ["When must I file my tax return"]


def test_one_question_and_what_goes_on_with_it_is_never_left_over() -> None:
    assert covered("How do I replace a lost passport?", PAVILION.name) == []
    assert covered("How do I replace a lost passport? And how much is it?", PAVILION.name) == []
    assert covered("My passport was stolen. My cat is ill. Help me please.", REPLACE.name) == []


def test_the_runner_says_it() -> None:
    outcome, _ = run(ScriptedModel(high_script()), text=THIRD)
    assert isinstance(outcome, Answered)
    spans = outcome.reply.uncovered
    assert [THIRD[start:end] for start, end in spans] == ["When must I file my tax return"]
    assert json.loads(json.dumps(outcome.reply.as_dict()))["uncovered"] == [list(*spans)]
    assert RETURN.key not in {source.service_key for source in outcome.reply.sources}
