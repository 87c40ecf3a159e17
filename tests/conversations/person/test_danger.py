"""Danger in what a citizen writes while a caseworker has the conversation."""

from __future__ import annotations

import pytest

from conversations import selectors
from conversations.events import events
from conversations.models import PersonRequest, Turn
from conversations.person import talking
from conversations.person.models import Ended
from conversations.turns import services as turns
from ieim.people.models import User
from review.crisis import is_crisis
from review.models import Action, ReviewItem
from review.talking import services as desk_talk
from tests.conversations.chat.page.test_views import browser_with, page
from tests.conversations.person.asking import SECRET, send, taken_over
from tests.review import desk


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


READ = "What you write here is still read by a person"
ANSWERS = "The assistant answers what you ask from here on"


@pytest.mark.parametrize("how", [Ended.HANDED_BACK, Ended.SILENCE, Ended.CLAIM_LOST])
def test_who_is_left_in_danger_reads_that_a_person_reads_on(
    published: None, eva: User, how: Ended
) -> None:
    turn, client = send("I want to kill myself"), browser_with(SECRET)
    item = desk.the_item(turn)
    desk_talk.begin(item_id=item.pk, actor=eva)
    talking.end(how=how, session=turn.session_id)
    html = page(client.get("/"))
    assert READ in html
    assert ANSWERS not in html
    (left,) = [line for line in selectors.turn_view(turn.pk).lines if line.kind == "left"]
    assert "still read by a person" in left.told
    frames = events.news(session_id=turn.session_id, after=0).frames
    assert [f["line"]["read"] for f in frames if f["type"] == "line"] == [False, True]
    # As soon as nobody waits for a person any more, it is the assistant that answers.
    desk.taken_and_decided(item, eva, Action.DISMISS, text="We have called you.")
    desk.taken_and_decided(item, desk.person("bob", *desk.ALL), Action.AGREE)
    html = page(client.get("/"))
    assert READ not in html


def test_danger_that_is_told_after_a_talk_changes_nothing_of_it(
    request_: PersonRequest, eva: User
) -> None:
    taken_over(request_, eva)
    talking.end(how=Ended.HANDED_BACK, session=request_.session_id)
    assert send("I want to kill myself").state == "needs_review"
    first = selectors.turn_view(Turn.objects.get(number=1).pk)
    assert [line.read for line in first.lines] == [False, False]
