"""The order of an answer over several services: what presses, after what it needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.pipeline.ports import Query
from ieim.pipeline.reply.cards import Card, Source, card
from ieim.pipeline.reply.marks import mark_deadline, ordered
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.stages.base import Inputs
from tests.fixtures import demo_bundle
from tests.pipeline.build import RELEASE, REPLACE, TODAY, context
from tests.pipeline.searching import FakeSearch


def cards(*days: str) -> list[Card]:
    blank = Card("", "", (), Source("a", "A", "", "", ""))
    return [replace(blank, deadline_days=day) for day in days]


@pytest.mark.parametrize(
    ("days", "needs", "order"),
    [
        (("", "", ""), {}, [0, 1, 2]),
        (("", "30", "5"), {}, [2, 1, 0]),
        (("30", "9", "9"), {}, [1, 2, 0]),  # by number, not by digits; else the answer's order
        (("5", "30", ""), {0: {2}}, [2, 0, 1]),  # what the most urgent one needs is as urgent
        (("5", "30", "", ""), {0: {2}, 2: {3}}, [3, 2, 0, 1]),
        (("", "30"), {1: {0}, 0: {1}}, [0, 1]),  # each needs the other: as if they did not
    ],
)
def test_what_presses_comes_first_and_what_it_needs_before_it(
    days: tuple[str, ...], needs: dict[int, set[int]], order: list[int]
) -> None:
    assert ordered(cards(*days), needs) == order


def test_a_document_that_has_to_be_blocked_leads() -> None:
    release = demo_bundle().release()
    keys = [
        ("vehicles", "vehicles.renew-driving-licence"),
        ("passports", "passports.replace-identity-card"),
    ]
    renew, block = (card(release.services[key], release.agencies[key[0]]) for key in keys)
    assert ordered([renew, block], {}) == [1, 0]


@given(
    st.lists(st.sampled_from(["", "1", "7", "30"]), min_size=1, max_size=6),
    st.dictionaries(st.integers(0, 5), st.sets(st.integers(0, 5), max_size=3), max_size=6),
)
def test_nothing_is_lost_and_no_need_is_passed_over(
    days: list[str], needs: dict[int, set[int]]
) -> None:
    many = range(len(days))
    # Needs that point backwards only: without circles.
    by_key = {at: {to for to in some if to < at} for at, some in needs.items() if at in many}
    order = ordered(cards(*days), by_key)
    assert sorted(order) == list(many)
    assert all(order.index(to) < order.index(at) for at, some in by_key.items() for to in some)


@pytest.mark.parametrize(
    ("text", "counted_from"),
    [
        ("My father died on 2026-04-30. What do I do?", "2026-04-30"),  # ends tomorrow
        ("He died on 20 April 2026.", "2026-04-20"),  # over
        ("He died on 2026-05-03, is that enough time?", ""),  # four days are left
        ("He died on 30 April.", ""),  # of which year is not said
        ("He was born on 2 May 1931.", ""),  # no limit is counted from that
        ("He died on 2026-04-30 and was buried on 2026-05-02.", ""),
        ("The funeral is on 2026-05-06.", ""),
        ("I have to register a death", ""),
    ],
)
def test_a_limit_that_ends_soon_or_is_over_says_so(text: str, counted_from: str) -> None:
    service = replace(REPLACE, deadline_days="5")
    release = replace(RELEASE, services={("passports", REPLACE.key): service})
    judged = replace(context("service_select_v1"), release=release)
    inputs = Inputs(text, (), judged, FakeSearch(), {}, today=TODAY, query=Query(text))
    source = card(service, RELEASE.agencies["passports"]).source
    result = mark_deadline(Reply("service", service.name, sources=(source,)), inputs)
    assert (result.deadline_days, result.counted_from) == ("5", counted_from)
    assert "5" in result.as_text()
    assert Reply.from_dict(result.as_dict()) == result
