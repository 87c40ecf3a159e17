from __future__ import annotations

from review.states import TRANSITIONS, UNDECIDED, ReviewState

ALLOWED = {
    ("open", "claimed"),
    ("open", "decided"),
    ("claimed", "open"),
    ("claimed", "decided"),
    ("claimed", "second_opinion"),
    ("second_opinion", "claimed"),
    ("second_opinion", "open"),
    ("second_opinion", "decided"),
}


def test_it_allows_what_the_design_says_and_nothing_else() -> None:
    assert {(old.value, new.value) for old, to in TRANSITIONS.items() for new in to} == ALLOWED


def test_it_ends_only_with_a_decision() -> None:
    assert set(TRANSITIONS) == set(ReviewState)
    assert [state for state in ReviewState if not TRANSITIONS[state]] == [ReviewState.DECIDED]
    assert {state.value for state in UNDECIDED} == {"open", "claimed", "second_opinion"}
