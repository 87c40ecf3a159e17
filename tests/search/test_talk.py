"""When a message leaves what its talk was about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.stages.base import APART
from ieim.search import ReleaseIndex
from ieim.search.clauses import refers_back
from tests.search.releases import passports, release

INDEX = ReleaseIndex(release())
TAX = ("I paid too much tax last winter", "Claim money back. For people who paid too much")
VISA = ("I want to extend my tourist visa", "Extend your tourist visa before its last day.")


def after(talk: tuple[str, str], message: str) -> str:
    """What is searched with: the message, then what was asked and told before it."""
    return APART.join((message, *talk))


@pytest.mark.parametrize(
    "message",
    [
        "Where do I renew a driving licence?",
        # A word of it was said before, but another service has much more of it.
        "I lost my passport in winter",
        # "It" stands for nothing there.
        "How much does it cost to renew a passport for a weekend trip?",
    ],
)
def test_it_sees_a_message_leave_the_talk(message: str) -> None:
    assert INDEX.turns_away(after(TAX, message))


@pytest.mark.parametrize(
    "message",
    [
        "And how much does it cost?",
        "Do I need an appointment, and what documents do I have to bring?",
        "Can my wife send the form by post?",
        "Can I claim the money in another town?",
        "it was stolen",
        "",
        "?!",
    ],
)
def test_it_sees_a_message_go_on_with_the_talk(message: str) -> None:
    assert not INDEX.turns_away(after(TAX, message))


def test_it_searches_with_the_message_alone_once_that_has_left_the_talk() -> None:
    index = ReleaseIndex(passports(["Extend a tourist visa", "Report a lost passport"]))
    for message, best, left in (
        ("I lost my passport. How do I get a new one?", "1", True),
        ("And how much does it cost?", "0", False),
        ("Can I extend the visa in another town?", "0", False),
    ):
        assert index.turns_away(after(VISA, message)) == left
        query = message if left else after(VISA, message)
        assert index.services(query, agencies=None, limit=1)[0].item.key == best


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("Can I send it by post?", True),
        ("Is that free?", True),
        ("How long does this take?", True),
        ("Do they call me?", True),
        ("How do I get there?", True),
        ("Is it possible to pay by card?", False),
        ("I think that my landlord is wrong", False),
        ("I moved here this week", False),
        ("There is mould in the bedroom", False),
    ],
)
def test_it_tells_words_that_stand_for_the_talk_from_others(text: str, back: bool) -> None:
    assert refers_back(text) == back


@given(st.text(max_size=120), st.text(max_size=120))
def test_it_says_whether_for_any_text(message: str, before: str) -> None:
    assert INDEX.turns_away(after((before, before), message)) in (True, False)
    assert not INDEX.turns_away(after((message, message), message))


def test_it_knows_no_other_subject_where_nothing_is_in_the_release() -> None:
    empty = ReleaseIndex(release([], [], []))
    assert not empty.turns_away(after(TAX, "I lost my passport in winter"))
