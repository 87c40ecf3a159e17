"""How near services are to a message: whole, word by word and by topic; and near enough."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.knowledge import Service
from ieim.search import FusedIndex, fuse, inquiry
from ieim.search.embedders import EmbeddedEmbedder, fault
from ieim.search.nearness import says, vocabulary, weighed, words_of
from tests.embedders import Ideas
from tests.fixtures import DEMO
from tests.search.releases import release

OUTSIDE = Path(__file__).parents[2] / "benchmarks" / "questions" / "outside.jsonl"


@cache
def demo() -> FusedIndex:
    return fuse(read_bundle(DEMO).release(), EmbeddedEmbedder(), inquiry.shipped())


@pytest.fixture
def by_meaning() -> FusedIndex:
    """The search over the demo, by the embedded model."""
    if wrong := fault():
        pytest.skip(f"THE EMBEDDED MODEL IS NOT TESTED: {wrong}")
    return demo()


def test_words_of_scripts_without_spaces_are_pairs() -> None:
    assert list(words_of("Die Müll-Abfuhr, 3x!")) == ["die", "müll", "abfuhr"]
    assert list(words_of("护照丢了")) == ["护照", "照丢", "丢了"]


def test_what_everybody_says_weighs_little() -> None:
    assert says("how") < 0.05 < says("passport") < says("oboe") <= 1.0
    assert "[EMAIL_1]".strip("[]").casefold() not in weighed([("write to [EMAIL_1]", 1.0)])


def test_a_word_that_the_entry_has_a_like_one_for_brings_it_nearer() -> None:
    both = release(
        services=[
            Service("RTA", "one", "Travel wages"),
            Service("RTA", "two", "Travel licence"),
        ]
    )
    index = fuse(both, Ideas())
    found = index.services("reisepass and salary", agencies=None, limit=2)
    assert [each.item.key for each in found] == ["one", "two"]
    assert (found[0].meaning or 0) > (found[1].meaning or 0)


def test_a_service_without_a_word_is_compared_as_a_whole() -> None:
    empty = release(services=[Service("RTA", "one", "1"), Service("RTA", "two", "Travel papers")])
    assert "papers" in vocabulary(empty)
    found = fuse(empty, Ideas()).services("passport", agencies=None, limit=2)
    assert found[0].item.key == "two"


@pytest.mark.parametrize(
    "text",
    [
        "how do i hire the village hall's oboe",
        "where can I vote in the election from abroad",
        "¿Dónde saco la licencia de pesca para el río?",
    ],
)
def test_what_no_service_is_about_is_far_from_all(by_meaning: FusedIndex, text: str) -> None:
    assert not by_meaning.near_enough(text)


def test_what_one_is_about_is_near_enough(by_meaning: FusedIndex) -> None:
    lost = "someone stole my passport on the train"
    right, other = (
        next(s for s in read_bundle(DEMO).release().services.values() if s.key == key)
        for key in ("passports.lost-passport", "municipal.register-dog")
    )
    assert by_meaning.near_enough(lost)
    assert by_meaning.near_enough(lost, [right])
    assert not by_meaning.near_enough(lost, [other])


def test_without_a_floor_nothing_is_refused() -> None:
    shipped = inquiry.shipped()
    bare = replace(shipped, limits={k: v for k, v in shipped.limits.items() if k != "floor"})
    assert bare.floor == -np.inf
    assert fuse(release(), Ideas()).near_enough("an oboe")


def test_most_of_what_belongs_elsewhere_is_told_so(by_meaning: FusedIndex) -> None:
    """Totals of docs/decisions/0043-near-enough.md; the other half of the questions is unread."""
    rows = [json.loads(line) for line in OUTSIDE.read_text(encoding="utf-8").splitlines()]
    far = [row for row in rows if not by_meaning.near_enough(row["text"])]
    assert len(far) / len(rows) >= 0.5
    own = [json.loads(line) for line in (DEMO / "golden.jsonl").read_text().splitlines()]
    answered = [row for row in own if row["expected"]["service"] and not row["history"]]
    refused = [row for row in answered if not by_meaning.near_enough(row["text"])]
    assert len(refused) / len(answered) <= 0.05


def test_one_word_of_another_entry_does_not_outweigh_the_rest(by_meaning: FusedIndex) -> None:
    """Examples of what citizens met; docs/decisions/0043-near-enough.md has the shares."""
    lost = {
        "we have no money for food until the end of the month": "business.food-licence",
        "my daughter lost her school bus card": "health-cover.replace-card",
        "my child is bullied, can she go to another school": "passports.child-passport",
    }
    for text, pulled in lost.items():
        first = by_meaning.services(text, agencies=None, limit=1)[0].item
        assert first.key != pulled, text


@pytest.mark.parametrize(
    ("text", "is_inquiry"),
    [
        ("Good morning, how are you?", False),
        ("thanks, my visa arrived", False),
        ("Hello, I lost my passport", True),
        ("Wo kann ich meinen Ausweis verlängern?", True),
    ],
)
def test_only_what_asks_is_taken_for_an_inquiry(
    by_meaning: FusedIndex, text: str, is_inquiry: bool
) -> None:
    assert by_meaning.takes_for_inquiry(text, in_a_talk=False) is is_inquiry
