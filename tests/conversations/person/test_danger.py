"""Danger in what a citizen writes while a caseworker has the conversation."""

from __future__ import annotations

from conversations import selectors
from conversations.models import PersonRequest
from conversations.person import talking
from conversations.person.models import Ended
from conversations.turns import services as turns
from ieim.people.models import User
from review.crisis import is_crisis
from review.models import ReviewItem
from tests.conversations.person.asking import SECRET, send, taken_over


def test_danger_shows_help_lines_at_once(request_: PersonRequest, eva: User) -> None:
    taken_over(request_, eva)
    turn = send("I want to kill myself")
    assert turn.state == "with_person"
    assert selectors.turn_view(turn.pk).contacts


def test_danger_told_to_a_person_opens_an_item_in_crisis(
    request_: PersonRequest, eva: User
) -> None:
    taken_over(request_, eva)
    turn = send("I want to kill myself")
    item = ReviewItem.objects.get(turn=turn)
    assert is_crisis(item)
    assert item.reasons == ["citizen.danger"]
    send("Are you there?")
    talking.end(how=Ended.SILENCE, session=turn.session_id)
    # The one who left decides nothing alone.
    assert item.needs_second
    assert selectors.turn_view(send("and now?").pk).contacts


def test_danger_in_what_a_person_takes_over_is_seen(request_: PersonRequest, eva: User) -> None:
    turn = turns.receive_turn(secret=SECRET, text="I want to kill myself", enqueue=False)
    taken_over(request_, eva)
    assert is_crisis(ReviewItem.objects.get(turn=turn))
