from __future__ import annotations

from itertools import product

import pytest

from conversations.states import IllegalTransition
from review.states import TRANSITIONS, UNDECIDED, ReviewState, may, require

ALLOWED = {
    ("open", "claimed"),
    ("claimed", "open"),
    ("claimed", "decided"),
    ("claimed", "second_opinion"),
    ("second_opinion", "claimed"),
    ("second_opinion", "open"),
    ("second_opinion", "decided"),
}


@pytest.mark.parametrize(("current", "new"), list(product(ReviewState, repeat=2)))
def test_it_allows_what_the_design_says_and_nothing_else(
    current: ReviewState, new: ReviewState
) -> None:
    allowed = (current.value, new.value) in ALLOWED
    assert may(current, new) is allowed
    if allowed:
        require(current, new)
    else:
        with pytest.raises(IllegalTransition, match=f"that is {current} cannot become {new}"):
            require(current, new)


def test_it_ends_only_with_a_decision() -> None:
    assert set(TRANSITIONS) == set(ReviewState)
    assert [state for state in ReviewState if not TRANSITIONS[state]] == [ReviewState.DECIDED]
    assert {state.value for state in UNDECIDED} == {"open", "claimed", "second_opinion"}
