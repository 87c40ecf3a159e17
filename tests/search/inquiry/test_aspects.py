"""What a question asks about a service is told by its meaning, in any language that it has."""

from __future__ import annotations

import numpy as np
import pytest

from ieim.pipeline.ports import Matrix
from ieim.search import FusedIndex, fuse, index_for
from ieim.search.inquiry import Aspects, Kind, Reading, aspects
from ieim.search.inquiry.aspects import NONE
from tests.embedders import Ideas
from tests.llm.offline.turns import release as demo
from tests.search.inquiry.test_reading import embedder, model_reading, near, real
from tests.search.releases import release

FIELDS = ("fees", "requirements", NONE)


def rows(seed: int, count: int = 30) -> Matrix:
    return np.concatenate([near(direction, count, seed + direction) for direction in range(3)])


def taught() -> Aspects:
    names = [name for name in FIELDS for _ in range(30)]
    return Aspects(rows(1), names, near(3, 200, 9))


def test_it_tells_what_is_asked_and_keeps_silent_about_all_else() -> None:
    about = taught()
    told = [about.of(vector) for vector in rows(50, 10)]
    assert told[:10] == [["fees"]] * 10
    assert told[10:20] == [["requirements"]] * 10
    assert sum(map(bool, told[20:])) <= 1


def test_few_messages_of_all_sorts_are_taken_to_ask() -> None:
    about = taught()
    for name in ("fees", "requirements"):
        assert np.mean([name in about.of(vector) for vector in near(3, 200, 77)]) <= 0.1


def test_the_examples_ask_the_same_of_several_subjects() -> None:
    found = aspects()
    assert len(found) == len({text for text, _ in found})
    assert not any("{" in text for text, _ in found)
    assert {"How much does a passport cost?".casefold()} <= {t.casefold() for t, _ in found}


def test_without_meaning_nothing_is_said_of_it() -> None:
    assert index_for(release()).asked_about("How much does it cost?") == ()
    fused = fuse(release(), Ideas(), Reading(near(0, 9, 1), _kinds()))
    assert fused.asked_about("How much does it cost?") == ()


def _kinds() -> list[Kind]:
    return [*Kind, *Kind][:9]


@real
@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("And how much is that?", ("fees",)),
        ("how many days will I have to be patient", ("processing_time", "overview")),
        ("What should be in my folder when I come to see you, which papers?", ("requirements",)),
        ("On which days are you open?", ("contact",)),
        ("Wer darf das beantragen?", ("applicability_summary",)),
        ("E quanto costa?", ("fees",)),
        ("Hoe lang duurt dat?", ("processing_time", "overview")),
        ("How many days do I have to appeal?", ("overview", "processing_time")),
        ("Am I allowed to stay while you decide?", ("overview",)),
        ("ist es schon zu spät", ("overview",)),
        ("What do I need to register a new address?", ("requirements",)),
        ("My bicycle was stolen at the station", ()),
        ("I want to marry in the spring", ()),
        ("", ()),
    ],
)
def test_it_tells_questions_that_it_was_not_taught(text: str, fields: tuple[str, ...]) -> None:
    fused: FusedIndex = fuse(demo(), embedder(), model_reading())
    assert fused.asked_about(text) == fields
