"""Something else: what an answer is still about, and the same words without the talk."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from conversations import selectors
from conversations.models import Replacement, Session, Turn
from conversations.record.replay import replay
from conversations.turns import erasing, running, services
from conversations.turns.choosing import choose
from conversations.turns.refusing import TooMany
from conversations.turns.services import NotAnswered, NothingToReplace, ask_again
from ieim.audit.comparing import second_look
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.pipeline.ports import Query, Ranking
from ieim.search import Search
from review.models import Action
from tests.conversations.api.integrating import set_rates
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk

SECRET = "a"
FEE = "and how much does it cost?"
PASSPORT = "and for a passport?"
NAME = "Extend a tourist visa"
BAD = ["no json"] * 2


@pytest.fixture(autouse=True)
def talk_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message in a talk is about the talk's service, whatever its words."""
    rank = Search.rank

    def of_talk(search: Search, query: Query) -> Ranking:
        names = [search.release.services[key].name for key in query.about[:1]]
        return rank(search, Query(names[0]) if names else query)

    monkeypatch.setattr(Search, "rank", of_talk)


@pytest.fixture
def talk(ask: Ask) -> Turn:
    """The second turn of a talk: its answer goes on with the visa, and a passport was meant."""
    ask(VISA, secret=SECRET)
    turn = ask(PASSPORT, secret=SECRET)
    assert turn.reply.body["still_about"] == NAME
    return turn


def again(turn: Turn, **options: Any) -> Turn:
    new, _ = ask_again(session_id=turn.session_id, turn_id=turn.pk, enqueue=False, **options)
    return new


def run(turn: Turn) -> Turn:
    running.run_turn(turn_id=turn.pk)
    return Turn.objects.select_related("session").get(pk=turn.pk)


def holds(turn: Turn) -> bool:
    """Whether the record holds, and every row that it vouches for."""
    return verify(turn.session_id).ok and second_look(turn.session_id) == []


def received(turn: Turn) -> list[dict[str, Any]]:
    audit_events = AuditEvent.objects.filter(chain=turn.session_id, kind="turn.received").order_by(
        "seq"
    )
    return [json.loads(event.payload) for event in audit_events]


def test_a_follow_up_says_what_it_is_still_about(talk: Turn) -> None:
    first = Turn.objects.get(session=talk.session, number=1)
    assert "still_about" not in first.reply.body
    view = selectors.turn_view(talk.pk)
    assert view.reply is not None
    assert (view.reply.still_about, view.reply.title) == (NAME, NAME)
    assert replay(talk).same


def test_what_the_citizen_has_just_chosen_is_not_still_about(ask: Ask) -> None:
    ask(VISA, secret=SECRET)
    unsure = desk.Scripted({"service_select_v1": [desk.unsure]})
    turn = ask(FEE, secret=SECRET, model=unsure)
    assert turn.state == "asking"
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=[1])
    turn = run(turn)
    assert (turn.reply.origin, turn.reply.body["title"]) == ("citizen_choice", NAME)
    assert "still_about" not in turn.reply.body


def test_the_same_words_are_asked_without_the_talk(talk: Turn) -> None:
    new = run(again(talk))
    assert (new.text, new.number) == (PASSPORT, 3)
    assert selectors.history(new) == []
    assert new.state == "asking"
    options = selectors.turn_view(new.pk).choice
    assert options is not None
    assert all("passport" in option.name.lower() for option in options.options)
    assert selectors.turn_view(new.pk).replaces == talk.pk
    assert selectors.turn_view(talk.pk).replaced_by == new.pk
    assert holds(talk)
    assert replay(new).same


def test_the_audit_says_which_turn_it_replaces(talk: Turn) -> None:
    new = again(talk)
    first, second, third = received(talk)
    assert "replaces" not in first
    assert "replaces" not in second
    assert third["replaces"] == str(talk.pk)
    assert [row[0] for row in third["rows"]][-1] == "replacement"
    other = Turn.objects.get(session=talk.session, number=1)
    Replacement.objects.filter(by=new).update(turn=other)
    differing = [(entry.kind, entry.fault) for entry in second_look(talk.session_id)]
    assert differing == [("replacement", "changed")]


def test_what_comes_after_it_knows_nothing_of_the_talk_before(talk: Turn, ask: Ask) -> None:
    new = run(again(talk))
    choose(session_id=new.session_id, turn_id=new.pk, numbers=[1])
    new = run(new)
    later = ask(FEE, secret=SECRET)
    items = selectors.history(later)
    assert [item["text"] for item in items if item["role"] == "user"] == [PASSPORT]
    assert [item["service"] for item in items if item["role"] == "assistant"] == [
        new.reply.body["sources"][0]["service_key"]
    ]
    assert later.reply.body["still_about"] == new.reply.body["title"]


def test_a_turn_between_them_loses_the_answer_that_was_turned_away(talk: Turn, ask: Ask) -> None:
    between = ask("how long does it take?", secret=SECRET)
    roles = [item["role"] for item in selectors.history(between)]
    assert roles == ["user", "assistant", "user", "assistant"]
    again(talk)
    items = selectors.history(between)
    assert [item["role"] for item in items] == ["user", "assistant", "user"]
    assert items[-1]["text"] == PASSPORT


def test_a_second_tap_gets_the_turn_of_the_first(talk: Turn) -> None:
    new = again(talk)
    assert ask_again(session_id=talk.session_id, turn_id=talk.pk) == (new, False)
    run(new)
    assert ask_again(session_id=talk.session_id, turn_id=talk.pk) == (new, False)
    assert Turn.objects.filter(session=talk.session).count() == 3
    with pytest.raises(IntegrityError), transaction.atomic():
        Replacement.objects.create(turn=talk, by=Turn.objects.get(session=talk.session, number=1))


@pytest.mark.both_databases
def test_taps_at_once_are_one(
    published: None, in_threads: Callable[[list[Callable[[], Any]]], list[Any]]
) -> None:
    for text in (VISA, PASSPORT):
        turn = services.receive(session=SECRET, text=text, enqueue=False)[0]
        running.run_turn(turn_id=turn.pk)

    def tap() -> Any:
        new, is_new = ask_again(session_id=turn.session_id, turn_id=turn.pk, enqueue=False)
        return new.pk, is_new

    results = in_threads([tap, tap, tap])
    assert sorted(is_new for _, is_new in results) == [False, False, True]
    assert len({pk for pk, _ in results}) == 1
    assert holds(turn)


def test_it_counts_as_a_message(talk: Turn, monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, turns="1/minute")
    again(talk, address="192.0.2.1")
    with pytest.raises(TooMany):
        again(talk, address="192.0.2.1")


def test_its_words_are_screened_for_risks(ask: Ask) -> None:
    ask(VISA, secret=SECRET)
    turn = desk.ask("and how much does it cost? I will go to the press", {}, secret=SECRET)
    eva = desk.person("eva")
    desk.taken_and_decided(desk.the_item(turn, "reply"), eva, Action.APPROVE)
    assert run(turn).reply.body["still_about"] == NAME
    new = run(again(turn))
    assert new.risks == turn.risks != []
    assert new.state == "needs_review"


def test_what_has_no_answer_cannot_be_about_something_else(ask: Ask) -> None:
    ask(VISA, secret=SECRET)
    with scripted_model({"judgement_v1": BAD}) as (model, _):
        result = ask(FEE, secret=SECRET, model=model)
    assert result.state == "needs_review"
    asking = ask("passport", secret="b")
    assert asking.state == "asking"
    queued = services.receive(session="c", text=VISA, enqueue=False)[0]
    for turn in (result, asking, queued):
        with pytest.raises(NotAnswered):
            again(turn)
    assert not Replacement.objects.exists()


def test_only_an_answer_that_goes_on_can_be_about_something_else(talk: Turn, ask: Ask) -> None:
    first = Turn.objects.get(session=talk.session, number=1)
    new = ask(VISA, secret="b")
    for turn in (first, new):
        with pytest.raises(NothingToReplace):
            again(turn)
    for session_id, turn_id in ((new.session_id, talk.pk), (talk.session_id, uuid4())):
        with pytest.raises(NothingToReplace):
            ask_again(session_id=session_id, turn_id=turn_id)


@pytest.mark.parametrize("before", [True, False])
def test_an_erased_conversation_has_nothing_of_it(talk: Turn, before: bool) -> None:
    if before:
        run(again(talk))
    erasing.erase_session(session_id=talk.session_id)
    with pytest.raises(Session.DoesNotExist):
        again(talk)
    assert not Replacement.objects.exists()
    assert holds(talk)


def test_bare_words_are_asked_what_they_are_about(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they are most like by themselves: they were a question a moment ago."""
    ask(VISA, secret=SECRET)
    fee = ask(FEE, secret=SECRET)
    monkeypatch.setattr(Search, "kinds", lambda *_: {"off_topic": 0.9})
    new = run(again(fee))
    assert new.state == "asking"
    off_topic = ask("Tell me a joke", secret="b")
    assert "it cannot help with that" in off_topic.reply.body["paragraphs"][0]
