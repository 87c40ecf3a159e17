"""The state machines: tables, and a reference page that is not stale."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from conversations import states
from conversations.states import IllegalTransition, StageStatus, TurnState

ROOT = Path(settings.BASE_DIR)


@given(st.sampled_from(TurnState), st.sampled_from(TurnState))
def test_it_allows_exactly_what_the_turn_table_says(old: TurnState, new: TurnState) -> None:
    if new in states.TURN_TRANSITIONS[old]:
        states.require_turn(old, new)
    else:
        with pytest.raises(IllegalTransition, match=new.value):
            states.require_turn(old, new)


@given(st.lists(st.sampled_from(StageStatus), max_size=12))
def test_it_leaves_a_done_stage_for_a_correction_or_a_choice_only(path: list[StageStatus]) -> None:
    status = StageStatus.PENDING
    for following in path:
        if following in states.STAGE_TRANSITIONS[status]:
            if status in states.DONE_STAGE_STATUSES:
                of_model = status in (StageStatus.PASSED, StageStatus.FALLBACK)
                chosen = {StageStatus.CHOSEN} if of_model else set()
                assert following in {StageStatus.OVERRIDDEN, StageStatus.PENDING, *chosen}
            status = following


def test_it_covers_every_state() -> None:
    assert set(states.TURN_TRANSITIONS) == set(TurnState)
    assert set(states.STAGE_TRANSITIONS) == set(StageStatus)
    assert states.TURN_TRANSITIONS[TurnState.CLOSED] == {TurnState.NEEDS_REVIEW}
    assert all(TurnState.CLOSED in states.TURN_TRANSITIONS[s] for s in {*TurnState} - {"closed"})


def test_it_has_a_reference_page_that_is_not_stale() -> None:
    page = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "build_states.py")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert (ROOT / "docs" / "states.md").read_text(encoding="utf-8") == page
