"""Danger in what a citizen writes while a caseworker has the conversation."""

from __future__ import annotations

import pytest

from conversations import selectors
from conversations.models import PersonRequest, Turn
from conversations.person import selectors as people
from conversations.person import services, takeovers
from conversations.person.models import Ended
from conversations.turns import services as turns
from ieim.people.models import User
from review import talking as desk_talk
from review.crisis import is_crisis
from review.models import Action, ReviewItem
from tests.conversations.chat.page.test_views import browser_with, page
from tests.conversations.person.asking import SECRET, send, taken_over, wants
from tests.fixtures import VISA
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
    takeovers.end(how=Ended.SILENCE, session=turn.session_id)
    # The one who left decides nothing alone.
    assert item.needs_second
    assert selectors.turn_view(send("and now?").pk).contacts


def test_danger_in_what_a_person_takes_over_is_seen(request_: PersonRequest, eva: User) -> None:
    turn = turns.receive(session=SECRET, text="I want to kill myself", enqueue=False)[0]
    taken_over(request_, eva)
    assert is_crisis(ReviewItem.objects.get(turn=turn))


READ = "A person reads what you write from here on, and answers it."
ANSWERS = "The assistant answers what you ask from here on"


@pytest.mark.parametrize("how", [Ended.HANDED_BACK, Ended.SILENCE, Ended.CLAIM_LOST])
def test_who_is_left_in_danger_reads_that_a_person_reads_on(
    published: None, eva: User, how: Ended
) -> None:
    turn, client = send("I want to kill myself"), browser_with(SECRET)
    item = desk.the_item(turn)
    desk_talk.begin(item_id=item.pk, actor=eva)
    takeovers.end(how=how, session=turn.session_id)
    html = page(client.get("/"))
    assert READ in html
    assert ANSWERS not in html
    (last_line,) = [line for line in selectors.turn_view(turn.pk).lines if line.kind == "left"]
    assert READ in last_line.announcement
    assert send("Are you there?").state == "needs_review"
    assert send(VISA).state == "answered"


@pytest.mark.parametrize("heard_then", [True, False])
def test_what_is_said_of_who_was_left_in_danger_stays_as_it_was(
    published: None, eva: User, heard_then: bool
) -> None:
    turn, client = send("I want to kill myself"), browser_with(SECRET)
    item = desk.the_item(turn)
    desk_talk.begin(item_id=item.pk, actor=eva)
    takeovers.end(how=Ended.HANDED_BACK, session=turn.session_id)
    if heard_then:
        assert reads(turn) == [False, True]
    desk.taken_and_decided(item, eva, Action.DISMISS, text="We have called you.")
    desk.taken_and_decided(item, desk.person("bob", *desk.ALL), Action.AGREE)
    assert reads(turn) == [False, True]
    assert [line.read for line in selectors.turn_view(turn.pk).lines] == [False, True]
    assert READ in page(client.get("/"))
    # Who leaves from then on leaves nobody in danger.
    taken_over(wants(SECRET, way="page"), eva)
    takeovers.end(how=Ended.HANDED_BACK, session=turn.session_id)
    assert reads(turn) == [False, True, False, False]


def reads(turn: Turn) -> list[bool]:
    """What is shown of the lines of a turn's session."""
    return [view.read for _, view in people.line_views(turn.session_id)]


def test_who_takes_a_request_back_that_told_of_danger_is_not_read_on(
    published: None, eva: User
) -> None:
    request = wants(SECRET, "I want to kill myself", way="page")
    taken_over(request, eva)
    assert services.withdraw(session_id=request.session_id)
    assert reads(request.turn) == [False, False]


def test_danger_that_is_told_after_a_talk_changes_nothing_of_it(
    request_: PersonRequest, eva: User
) -> None:
    taken_over(request_, eva)
    takeovers.end(how=Ended.HANDED_BACK, session=request_.session_id)
    assert send("I want to kill myself").state == "needs_review"
    first = selectors.turn_view(Turn.objects.get(number=1).pk)
    assert [line.read for line in first.lines] == [False, False]
