"""A takeover: who writes, who is silent, and every way in which it ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations import selectors, sweeper
from conversations.models import Attempt, Line, PersonRequest, Takeover, Turn
from conversations.person import services, takeovers
from conversations.turns import choosing, erasing, running
from conversations.turns import services as turns
from conversations.turns.leases import LeaseLost, renew_lease, take_lease
from ieim.audit.comparing import second_look
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.people.models import User
from review import claims
from review import talking as desk_talk
from review.models import Action, ReviewItem
from review.talking import CannotTalk
from tests.conversations.person.asking import SECRET, item_of, send, taken_over, wants
from tests.fixtures import VISA
from tests.review import desk

UNSURE = {"service_select_v1": [desk.unsure, desk.unsure]}


def kinds(session_id: Any) -> list[str]:
    return [line.kind for line in Line.objects.filter(session_id=session_id).order_by("at")]


def how(takeover: Takeover) -> str:
    takeover.refresh_from_db()
    return takeover.ended


def holds(session_id: Any) -> bool:
    return verify(session_id).ok and second_look(session_id) == []


def test_both_write_and_the_assistant_is_silent(request_: PersonRequest, eva: User) -> None:
    taken_over(request_, eva)
    item = item_of(request_)
    desk_talk.say(item_id=item.pk, actor=eva, text="Hello, how can I help?")
    turn = send(VISA)
    desk_talk.say(item_id=item.pk, actor=eva, text="I look it up.")
    assert turn.state == "with_person"
    assert not Attempt.objects.exists()
    chat = selectors.chat_view(secret=SECRET)
    assert chat.with_person
    results = [[line.kind for line in result.lines] for result in chat.turns]
    assert results == [["joined", "said"], ["said"]]
    assert [line.text for line in chat.turns[1].lines] == ["I look it up."]
    assert holds(request_.session_id)


def test_every_message_is_audited(request_: PersonRequest, eva: User) -> None:
    taken_over(request_, eva)
    desk_talk.say(item_id=item_of(request_).pk, actor=eva, text="Hello.")
    send()
    desk_talk.hand_back(item_id=item_of(request_).pk, actor=eva)
    events_ = AuditEvent.objects.filter(chain=request_.session_id).order_by("seq")
    results = [(e.kind, e.actor) for e in events_ if e.kind.startswith(("takeover", "turn."))]
    assert results == [
        ("turn.received", "citizen"),
        ("takeover.begun", "staff:eva"),
        ("takeover.said", "staff:eva"),
        ("turn.received", "citizen"),
        ("takeover.ended", "staff:eva"),
    ]
    Line.objects.filter(kind="said").update(text="Something else.")
    assert not holds(request_.session_id)


def test_handed_back_the_assistant_answers_again_and_says_so(
    request_: PersonRequest, eva: User
) -> None:
    takeover = taken_over(request_, eva)
    to_person = send()
    desk_talk.hand_back(item_id=item_of(request_).pk, actor=eva)
    desk_talk.hand_back(item_id=item_of(request_).pk, actor=eva)
    assert how(takeover) == "handed_back"
    assert kinds(request_.session_id) == ["joined", "left"]
    assert send(VISA).state == "answered"
    # What was meant for the person is nobody else's afterwards, and no model reads it.
    assert Turn.objects.get(pk=to_person.pk).state == "with_person"
    last = Turn.objects.get(number=3)
    assert selectors.history(last) == []


@pytest.mark.parametrize("by_sweeper", [True, False])
def test_after_silence_the_assistant_answers_again(
    request_: PersonRequest, eva: User, by_sweeper: bool
) -> None:
    takeover = taken_over(request_, eva)
    Takeover.objects.update(silent_at=timezone.now() - timedelta(seconds=1))
    assert not selectors.chat_view(secret=SECRET).with_person
    if by_sweeper:
        sweeper.sweep()
    assert send(VISA).state == "answered"
    assert how(takeover) == "silence"
    assert kinds(request_.session_id) == ["joined", "left"]
    assert item_of(request_).state != "decided"
    with pytest.raises(CannotTalk, match="any more"):
        desk_talk.say(item_id=item_of(request_).pk, actor=eva, text="Wait!")


def test_each_word_of_the_caseworker_puts_the_silence_off(
    request_: PersonRequest, eva: User
) -> None:
    takeover = taken_over(request_, eva)
    Takeover.objects.update(silent_at=timezone.now() + timedelta(seconds=30))
    desk_talk.say(item_id=item_of(request_).pk, actor=eva, text="One moment.")
    takeover.refresh_from_db()
    assert takeover.silent_at > timezone.now() + takeovers.SILENCE - timedelta(minutes=1)


def release(item: ReviewItem, eva: User) -> None:
    claims.release(item_id=item.pk, actor=eva)


def assign(item: ReviewItem, eva: User) -> None:
    boss = desk.person("boss", *desk.ALL)
    claims.assign(item_id=item.pk, to=desk.person("ivo"), actor=boss)


def take(item: ReviewItem, eva: User) -> None:
    claims.take_over(item_id=item.pk, actor=desk.person("boss", *desk.ALL))


def hand_over(item: ReviewItem, eva: User) -> None:
    desk.decide(item, eva, Action.HAND_OVER, agency="revenue")


def expire(item: ReviewItem, eva: User) -> None:
    """The claim runs out, and somebody else takes the item."""
    ReviewItem.objects.filter(pk=item.pk).update(claimed_until=timezone.now())
    claims.claim(item_id=item.pk, actor=desk.person("ivo"))


def done(item: ReviewItem, eva: User) -> None:
    desk.decide(item, eva, Action.DONE)


def withdraw(item: ReviewItem, eva: User) -> None:
    services.withdraw(session_id=item.turn.session_id)


@pytest.mark.parametrize(
    ("leave", "ended"),
    [
        (release, "claim_lost"),
        (assign, "claim_lost"),
        (take, "claim_lost"),
        (hand_over, "claim_lost"),
        (expire, "claim_lost"),
        (done, "decided"),
        (withdraw, "withdrawn"),
    ],
)
def test_who_has_the_item_no_more_is_no_more_in_the_conversation(
    request_: PersonRequest, eva: User, leave: Any, ended: str
) -> None:
    takeover = taken_over(request_, eva)
    leave(item_of(request_), eva)
    assert how(takeover) == ended
    assert kinds(request_.session_id) == ["joined", "left"]
    assert send(VISA).state == "answered"
    assert holds(request_.session_id)


def test_renewing_a_claim_leaves_the_conversation_alone(request_: PersonRequest, eva: User) -> None:
    takeover = taken_over(request_, eva)
    claims.renew(item_id=item_of(request_).pk, actor=eva)
    claims.claim(item_id=item_of(request_).pk, actor=eva)
    assert how(takeover) == ""


def test_what_the_assistant_was_at_is_the_persons(request_: PersonRequest, eva: User) -> None:
    pending = turns.receive(session=SECRET, text=VISA, enqueue=False)[0]
    claimed = take_lease(turn_id=pending.pk)
    assert claimed is not None
    taken_over(request_, eva)
    with pytest.raises(LeaseLost):
        renew_lease(turn_id=pending.pk, lease=claimed.lease)
    running.run_turn(turn_id=pending.pk)
    assert Turn.objects.get(pk=pending.pk).state == "with_person"


def test_nobody_has_to_choose_while_a_person_is_there(request_: PersonRequest, eva: User) -> None:
    asking = turns.receive(session=SECRET, text=VISA, enqueue=False)[0]
    running.run_turn(turn_id=asking.pk, model=desk.Scripted(UNSURE))
    assert Turn.objects.get(pk=asking.pk).state == "asking"
    taken_over(request_, eva)
    with pytest.raises(choosing.ChoiceRefused):
        choosing.choose(session_id=asking.session_id, turn_id=asking.pk, numbers=[1])
    sweeper.sweep(now=timezone.now() + timedelta(days=1))
    assert Turn.objects.get(pk=asking.pk).state == "with_person"
    assert holds(request_.session_id)


def test_one_caseworker_at_a_time(ask: Any, eva: User) -> None:
    turn = desk.ask(VISA, {"judgement_v1": desk.BAD}, secret=SECRET)
    request = wants(SECRET)
    taken_over(request, eva)
    ivo = desk.person("ivo")
    with pytest.raises(CannotTalk, match="colleague"):
        desk_talk.begin(item_id=desk.the_item(turn).pk, actor=ivo)
    with pytest.raises(claims.ClaimTaken):
        desk_talk.say(item_id=item_of(request).pk, actor=ivo, text="Hello.")
    assert Takeover.objects.count() == 1


def test_it_takes_the_right_to_decide_and_an_item_in_reach(request_: PersonRequest) -> None:
    item = item_of(request_)
    with pytest.raises(PermissionDenied):
        desk_talk.begin(item_id=item.pk, actor=desk.person("aud", "view"))
    with pytest.raises(ReviewItem.DoesNotExist):
        desk_talk.begin(item_id=item.pk, actor=desk.person("tax", agencies=["revenue"]))
    assert not Takeover.objects.exists()


def test_a_link_that_is_not_of_the_release_is_not_said(request_: PersonRequest, eva: User) -> None:
    taken_over(request_, eva)
    for text in ("See https://evil.example.com/", "", " \n", "x" * 4001, "\ud800"):
        with pytest.raises(CannotTalk):
            desk_talk.say(item_id=item_of(request_).pk, actor=eva, text=text)
    assert kinds(request_.session_id) == ["joined"]


def test_it_all_goes_with_the_conversation(request_: PersonRequest, eva: User) -> None:
    taken_over(request_, eva)
    desk_talk.say(item_id=item_of(request_).pk, actor=eva, text="Hello.")
    item = item_of(request_).pk
    erasing.erase_session(session_id=request_.session_id)
    assert not Line.objects.exists()
    assert not Takeover.objects.exists()
    with pytest.raises(ReviewItem.DoesNotExist):
        desk_talk.say(item_id=item, actor=eva, text="Hello?")
    assert holds(request_.session_id)


def test_a_decision_on_another_question_still_reaches_the_citizen(
    published: None, eva: User
) -> None:
    turn = desk.ask(VISA, {"judgement_v1": desk.BAD}, secret=SECRET)
    taken_over(wants(SECRET), eva)
    ivo = desk.person("ivo")
    desk.decide(desk.take(desk.the_item(turn), ivo), ivo, Action.RETRY)
    running.run_turn(turn_id=turn.pk)
    assert Turn.objects.get(pk=turn.pk).state == "answered"


def test_who_ends_a_talk_locks_as_who_decides_does(request_: PersonRequest, eva: User) -> None:
    """The record first, then the takeover: in two orders the two would wait for each other."""
    taken_over(request_, eva)
    with CaptureQueriesContext(connection) as made:
        takeovers.expire(now=timezone.now() + timedelta(hours=1))
    statements = [query["sql"] for query in made]
    locked = next(n for n, sql in enumerate(statements) if "audit_audithead" in sql)
    ended = next(n for n, sql in enumerate(statements) if 'UPDATE "conversations_takeover"' in sql)
    assert locked < ended
