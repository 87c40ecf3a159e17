"""What a message is by its meaning, and what it asks about: taught by examples."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ieim.pipeline.ports import Embedder, Matrix
from ieim.pipeline.stages.base import APART
from ieim.search import examples, fuse, inquiry, train
from ieim.search.embedders import build_embedder, fault
from ieim.search.examples import WHOLE_SERVICE, Kind
from ieim.search.inquiry import Reading
from ieim.search.train import reading_of
from tests.embedders import Ideas
from tests.search.releases import release

TALK = f"{APART}How do I renew a passport?{APART}Renew a passport. A new passport costs 75.00."
KINDS = (
    [Kind.INQUIRY] * 40
    + [Kind.FOLLOW_UP] * 20
    + [Kind.CORRECTION] * 20
    + [Kind.THANKS_AND_MORE] * 20
    + [Kind.CLOSING] * 20
    + [Kind.OTHER] * 40
)
UNASKED = (Kind.CLOSING, Kind.OTHER)
real = pytest.mark.skipif(bool(fault()), reason=f"the embedded model: {fault()}")


def unit(rows: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Matrix:
    vectors: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def near(direction: int, count: int, seed: int) -> Matrix:
    """Vectors around a direction of their own, with a last one that all of them have."""
    rows = np.random.default_rng(seed).normal(0, 0.05, (count, len(Kind) + 1))
    rows[:, direction] += 1.0
    rows[:, len(Kind)] += 0.5
    return unit(rows)


@cache
def taught() -> Reading:
    rows = [near(direction, KINDS.count(kind), direction) for direction, kind in enumerate(Kind)]
    kinds = [kind for kind in Kind for _ in range(KINDS.count(kind))]
    return reading_of(np.concatenate(rows), kinds)


def at(kind: Kind) -> Matrix:
    """Vectors of a kind that were not among the examples."""
    return near(list(Kind).index(kind), 20, 99)


def test_it_tells_what_is_asked_of_an_administration() -> None:
    reading = taught()
    # Thanks with a wish beside them say so in a talk only.
    for kind in set(Kind) - {Kind.THANKS_AND_MORE}:
        told = [reading.inquiry_likeness(vector) >= reading.least for vector in at(kind)]
        assert np.mean(told) < 0.2 if kind in UNASKED else np.mean(told) > 0.8


def test_it_tells_thanks_from_what_wants_something() -> None:
    reading = taught()
    for kind in set(Kind) - {Kind.OTHER}:
        told = [reading.wants(vector) >= reading.least_in_a_talk for vector in at(kind)]
        assert np.mean(told) < 0.1 if kind is Kind.CLOSING else np.mean(told) > 0.9


def test_it_tells_what_goes_on_from_what_stands_alone() -> None:
    reading = taught()
    assert np.mean([reading.goes_on(vector) == 1 for vector in at(Kind.FOLLOW_UP)]) > 0.9
    assert np.mean([reading.goes_on(vector) == 0 for vector in at(Kind.INQUIRY)]) > 0.5
    assert np.mean([reading.goes_on(vector) < 1 for vector in at(Kind.INQUIRY)]) > 0.8


def test_a_correction_never_surely_goes_on() -> None:
    reading = taught()
    assert all(reading.goes_on(vector) <= 0.5 for vector in at(Kind.CORRECTION))


def test_the_same_vectors_teach_the_same() -> None:
    vectors = np.concatenate([at(kind) for kind in Kind])
    kinds = [kind for kind in Kind for _ in range(20)]
    one, two = reading_of(vectors, kinds), reading_of(vectors, kinds)
    probe = at(Kind.INQUIRY)[0]
    assert one.inquiry_likeness(probe) == two.inquiry_likeness(probe)
    assert one.goes_on(probe) == two.goes_on(probe)


def test_what_is_stored_reads_as_what_was_trained() -> None:
    stored = Reading.from_bytes(taught().to_bytes())
    for vector in at(Kind.FOLLOW_UP):
        assert stored.inquiry_likeness(vector) == taught().inquiry_likeness(vector)
        assert stored.goes_on(vector) == taught().goes_on(vector)


def test_what_is_shipped_was_trained_with_the_examples_and_the_model_of_today() -> None:
    stale = "The examples have changed. Run: python -m ieim.search.train"
    assert inquiry.shipped().examples == train.inquiry_digest(), stale
    assert inquiry.shipped().embedder == embedder().id, stale


def test_there_are_enough_examples_of_each_kind_and_none_twice() -> None:
    texts = [text.casefold() for text, _ in examples.messages()]
    assert len(texts) == len(set(texts))
    kinds = [kind for _, kind in examples.messages()]
    assert {kind: kinds.count(kind) >= 100 for kind in Kind} == dict.fromkeys(Kind, True)


@cache
def embedder() -> Embedder:
    built = build_embedder({"KIND": "embedded"})
    assert built is not None
    return built


@real
@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("my purse with all my cards was taken on the tram", True),
        ("Ich brauche einen Kindergartenplatz", True),
        ("我想给孩子办护照", True),
        ("tell me a joke about cats", False),
        ("merci beaucoup, bonne soirée", False),
        ("what is the best pizza dough", False),
        ("Ok!", False),
        ("okay", False),
    ],
)
def test_the_model_tells_questions_from_small_talk(text: str, ours: bool) -> None:
    found = fuse(release(), embedder(), inquiry.shipped()).likeness(text, in_a_talk=False)
    assert found is not None
    assert found.like >= found.least if ours else found.like < 0


@real
@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("how much is it", True),
        ("How long does it take?", True),
        ("und für meine Tochter", True),
        ("cuánto es", True),
        ("多少钱", True),
        ("thanks so much, last thing, who signs for the child", True),
        ("merci, et c'est ouvert le samedi", True),
        ("شكرا جزيلا، وهل أحتاج موعدا", True),
        ("Thanks, that was all I needed to know.", False),
        ("Vielen Dank, schönen Tag noch", False),
        ("谢谢你的帮助", False),
        ("great, I'll come by tomorrow", False),
    ],
)
def test_the_model_tells_thanks_from_follow_ups(text: str, wants: bool) -> None:
    found = fuse(release(), embedder(), inquiry.shipped()).likeness(text, in_a_talk=True)
    assert found is not None
    assert (found.like >= found.least) == wants


@real
@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("and what do I pay for that?", 1.0, 1.0),
        ("muss ich da selbst hingehen?", 1.0, 1.0),
        ("no, I meant the pension, not the passport", 0.0, 0.5),
        ("My neighbour built a wall on my land, who decides that?", 0.0, 0.5),
    ],
)
def test_the_model_tells_whether_a_message_goes_on(text: str, least: float, most: float) -> None:
    index = fuse(release(), embedder(), inquiry.shipped())
    assert least <= index.goes_on(text + TALK) <= most


def random_reading() -> Reading:
    rows = np.random.default_rng(1).normal(size=(len(KINDS), 8)).astype(np.float32)
    return reading_of(rows, KINDS)


def test_what_reads_like_a_follow_up_but_is_clearly_about_another_service_may_not_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Reading, "goes_on", lambda *_: 1.0)
    index = fuse(release(), Ideas(), random_reading())
    assert index.goes_on(f"and what do I pay for that?{TALK}") == 1.0
    assert index.goes_on(f"and when it was lost or stolen?{TALK}") == 1.0
    assert index.goes_on(f"how do I file a tax return{TALK}") == 0.5


def requests(text: str, leans: float = 0.0) -> list[str]:
    """The parts of a message, where every clause reads as an inquiry that is clear by itself, or
    surely enough ``leans`` on others."""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reading, "inquiry_likeness", lambda *_: 1.0)
        patch.setattr(Reading, "goes_on", lambda *_: leans)
        index = fuse(release(), Ideas(), random_reading())
        return [text[part.start : part.end] for part in index.parts(text)]


def test_statements_that_find_a_service_each_are_told_apart() -> None:
    text = "I lost my passport and I want to file a tax return"
    assert requests(text) == ["I lost my passport", "I want to file a tax return"]
    text = "My licence expired. I lost my passport. Thanks to all"
    assert requests(text) == ["My licence expired", "I lost my passport"]
    assert requests("I lost my passport, and how do I file a tax return?") == [
        "I lost my passport",
        "how do I file a tax return",
    ]


def test_what_is_wanted_beside_is_told_apart_without_saying_who_wants_it() -> None:
    both = ["I lost my passport", "need to file a tax return"]
    assert requests(" and ".join(both)) == both
    assert requests(", ".join(both)) == both
    assert requests("I lost my passport, need a new one and want it soon") == []
    # A question is one, whatever is told in it.
    text = "How do I renew a passport, I need to travel? How do I file a tax return?"
    assert len(requests(text)) == 2


def test_what_may_lean_on_the_rest_is_told_apart_where_it_finds_a_service_of_its_own() -> None:
    text = "I lost my passport and I want to file a tax return"
    assert len(requests(text, leans=1.0)) == 2
    assert requests("I lost my passport and tell the office", leans=1.0) == []
    # A question that leans on nothing needs no service of its own, one that may lean does.
    two = "How do I renew a passport? What does a passport cost?"
    assert (len(requests(two)), requests(two, leans=0.5)) == (2, [])


def test_a_story_about_one_matter_has_no_parts() -> None:
    assert requests("I lost my passport. It was stolen. I want my papers back") == []
    assert requests("I lost my passport") == []


def test_a_story_is_not_read_part_by_part_where_it_is_long() -> None:
    story = "I lost my passport. I want to file a tax return. " * 7
    assert requests(story) == []
    assert requests(f"{story}How do I renew a passport?") == ["How do I renew a passport"]


def test_without_a_talk_nothing_goes_on() -> None:
    assert fuse(release(), Ideas()).goes_on("and the fee?") == 0.0


def test_without_examples_words_tell() -> None:
    index = fuse(release(), Ideas())
    assert index.likeness("I lost my passport", in_a_talk=False) is None
    for text in ("and the fee?", "My wages tax statement for last winter is missing"):
        assert index.goes_on(text + TALK) == index.words.goes_on(text + TALK)


def test_it_reads_nothing_while_the_embedder_is_gone() -> None:
    ideas = Ideas()
    index = fuse(release(), ideas, random_reading())
    assert index.likeness("I lost my passport", in_a_talk=False) is not None
    ideas.down = True
    assert index.likeness("I lost my licence", in_a_talk=False) is None
    text = f"and the licence?{TALK}"
    assert index.goes_on(text) == index.words.goes_on(text)


def test_evidence_is_of_the_message_alone() -> None:
    index = fuse(release(), Ideas())
    services = [each.item for each in index.services("passport", agencies=None, limit=5)]
    own, best = index.evidence("I lost my passport", services)
    assert len(own) == len(services)
    assert max(own) == best
    assert services[own.index(best)].key == "lost"


FIELDS = ("fees", "requirements", WHOLE_SERVICE)


def rows(seed: int, count: int = 30) -> Matrix:
    return np.concatenate([near(direction, count, seed + direction) for direction in range(3)])


@cache
def about_fields() -> Reading:
    names = [name for name in FIELDS for _ in range(30)]
    kinds = [kind for kind in Kind for _ in range(40)]
    return reading_of(near(3, len(kinds), 9), kinds, questions=rows(1), fields=names)


def test_it_tells_what_is_asked_and_keeps_silent_about_all_else() -> None:
    about = about_fields()
    told = [about.fields(vector) for vector in rows(50, 10)]
    assert told[:10] == [["fees"]] * 10
    assert told[10:20] == [["requirements"]] * 10
    assert sum(map(bool, told[20:])) <= 1


def test_few_messages_of_all_sorts_are_taken_to_ask() -> None:
    about = about_fields()
    for name in ("fees", "requirements"):
        assert np.mean([name in about.fields(vector) for vector in near(3, 200, 77)]) <= 0.1


def test_the_examples_ask_the_same_of_several_subjects() -> None:
    found = examples.questions()
    assert len(found) == len({text for text, _ in found})
    assert not any("{" in text for text, _ in found)
    assert {"How much does a passport cost?".casefold()} <= {t.casefold() for t, _ in found}


@pytest.mark.whole
@real
@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("And how much is that?", ["amount"]),
        ("how many days will I have to be patient", ["processing_time", "overview"]),
        ("What should be in my folder when I come to see you, which papers?", ["requirements"]),
        ("On which days are you open?", ["contact"]),
        ("Wer darf das beantragen?", ["applicability_summary"]),
        ("E quanto costa?", ["fees"]),
        ("Am I allowed to stay while you decide?", ["overview", "applicability_summary"]),
        ("My bicycle was stolen at the station", []),
        ("I want to marry in the spring", []),
    ],
)
def test_it_tells_questions_that_it_was_not_taught(text: str, fields: list[str]) -> None:
    assert inquiry.shipped().fields(embedder().queries([text])[0]) == fields
