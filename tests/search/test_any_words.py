"""The demo with any words: nothing raises, every score is a number that can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import read_bundle
from ieim.pipeline.ports import Ranked
from ieim.pipeline.stages.base import APART
from ieim.search import ReleaseIndex
from ieim.search.clauses import forms
from tests.fixtures import DEMO

LIMIT = 30


@cache
def demo() -> tuple[ReleaseIndex, tuple[str, ...]]:
    """The index of the demo, built once a session, and its agencies."""
    release = read_bundle(DEMO).release()
    return ReleaseIndex(release), tuple(release.agencies)


def thesaurus() -> list[str]:
    lines = resources.files("ieim.search").joinpath("thesaurus.txt").read_text("utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


WORDS = st.one_of(
    st.sampled_from(thesaurus()),
    st.sampled_from(sorted(forms().topicless | forms().facets)),
    st.sampled_from(["what", "can", "i", "about", "12", "2024", "passport", "[EMAIL_1]", "\ud800"]),
    st.text(max_size=12),
)
TEXTS = st.lists(WORDS, max_size=50).map(" ".join)
QUERIES = st.lists(TEXTS, min_size=1, max_size=3).map(APART.join)


def assert_comparable(found: Iterable[Ranked[Any]]) -> None:
    scores = [each.score for each in found]
    assert all(math.isfinite(score) and score >= 0 for score in scores), scores
    assert scores == sorted(scores, reverse=True)


def ask(query: str) -> None:
    index, agencies = demo()
    assert_comparable(index.agencies(query, limit=LIMIT))
    assert_comparable(index.categories(query, agencies=agencies[:3], limit=LIMIT))
    assert_comparable(index.services(query, agencies=None, limit=LIMIT))
    assert_comparable(index.services(query, agencies=agencies[:3], limit=LIMIT))
    assert isinstance(index.turns_away(query), bool)


@given(query=QUERIES)
@example("What can I do about my boss?")
@example("i would like to know who your boss is")
def test_it_ranks_by_finite_scores_whatever_the_words(query: str) -> None:
    ask(query)


def test_it_ranks_for_each_word_that_has_synonyms_or_no_topic() -> None:
    for word in (*thesaurus(), *sorted(forms().topicless)):
        ask(word)
