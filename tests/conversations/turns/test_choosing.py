"""Asking back: the question, the choice, and giving up waiting."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import transaction

from conversations import selectors, sweeper
from conversations.models import Attempt, Reply, Session, Turn
from conversations.record.audited import CHOICE
from conversations.record.replay import replay
from conversations.turns import choosing, erasing, resuming, running, services
from conversations.turns.choosing import (
    ChoiceRefused,
    NothingToChoose,
    choose,
    numbers_of,
)
from conversations.turns.models import Choice
from ieim.audit.audited import _plain
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.canonical import digest
from ieim.pipeline.ports import Linked
from ieim.pipeline.topology import ANSWERING
from ieim.search import Search
from review.models import ReviewItem
from tests.fixtures import VISA, Ask
from tests.review import desk

WIDE = "passport"
TWO = "How do I renew my passport? And how do I extend a tourist visa?"
SECRET = "a"
NEXT = ("passports", "passports.renew-passport")


@pytest.fixture
def asking(ask: Ask) -> Turn:
    """A turn whose citizen has to choose."""
    turn = ask(WIDE, secret=SECRET)
    assert turn.state == "asking"
    return turn


def unsure_of_service() -> desk.Scripted:
    """A model whose first selection of a service has too low a score."""
    return desk.Scripted({"service_select_v1": [desk.unsure]})


@pytest.fixture
def asking_two(ask: Ask) -> Turn:
    """A turn of two requests: its citizen may choose several."""
    turn = ask(TWO, secret=SECRET, model=unsure_of_service())
    assert turn.state == "asking"
    assert turn.choice.several
    return turn


def pick(turn: Turn, *numbers: int) -> None:
    """Choose options by number; none of them without any."""
    choose(session_id=turn.session_id, turn_id=turn.pk, numbers=numbers)


def no_inquiry(answer: dict[str, Any]) -> None:
    answer.update(judgements={"inquiry": False}, assistantReply="Bye.", nextStep="session_end")


def again(turn: Turn) -> Turn:
    return Turn.objects.select_related("session", "choice").get(pk=turn.pk)


def flow_items(turn: Turn) -> Any:
    return turn.review_items.filter(stage__in=[*ANSWERING, "reply"])


def kinds(turn: Turn) -> list[str]:
    audit_events = AuditEvent.objects.filter(chain=turn.session_id).order_by("seq")
    return [event.kind for event in audit_events]


def test_a_wide_word_gets_its_services_and_no_person(asking: Turn) -> None:
    view = selectors.turn_view(asking.pk)
    assert view.choice is not None
    options = view.choice.options
    assert 2 <= len(options) <= 4
    assert all("passport" in option.name.lower() for option in options)
    assert all(option.agency_name and option.line for option in options)
    assert not flow_items(asking).exists()
    assert not Reply.objects.exists()
    assert kinds(asking)[-1] == "turn.asking"
    attempts = asking.stages.get(contract=asking.choice.stage).attempts.count()
    assert attempts == 1


def test_a_choice_goes_on_in_the_same_turn(
    asking: Turn, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.append(args[0]))
    agency, key = asking.choice.offered[1]
    with django_capture_on_commit_callbacks(execute=True):
        pick(asking, 2)
    assert sent == [str(asking.pk)]
    running.run_turn(turn_id=asking.pk)
    turn = again(asking)
    assert turn.state == "answered"
    source = turn.reply.body["sources"][0]
    assert (source["agency_id"], source["service_key"]) == (agency, key)
    assert turn.reply.origin == "citizen_choice"
    assert turn.reply.body["kind"] == "service"
    assert turn.stages.get(contract="service_select_v1").status == "chosen"
    assert turn.choice.outcome == "chosen"
    assert "turn.chosen" in kinds(turn)
    assert verify(turn.session_id).ok
    assert replay(turn).same
    assert not flow_items(turn).exists()


def test_a_choice_in_words_is_answered_before_a_model_is_asked(asking: Turn, ask: Ask) -> None:
    agency, key = asking.choice.offered[1]
    turn = ask("2", secret=SECRET)
    assert turn.state == "answered"
    source = turn.reply.body["sources"][0]
    assert (source["agency_id"], source["service_key"]) == (agency, key)
    assert turn.reply.origin == "citizen_choice"
    assert not Attempt.objects.filter(stage__turn=turn).exists()
    assert (again(asking).state, again(asking).choice.outcome) == ("closed", "chosen")
    assert verify(turn.session_id).ok
    assert replay(again(turn)).same
    sweeper.sweep(now=asking.choice.until)
    assert not flow_items(asking).exists()


def test_who_asks_what_comes_next_has_chosen_nothing(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(VISA, secret=SECRET)
    following = Linked(knowledge.release(1).services[NEXT], "Then see to it.")
    monkeypatch.setattr(Search, "kinds", lambda *_: {"next": 0.9})
    monkeypatch.setattr(Search, "next_services", lambda *_: [following])
    turn = ask("Done. What comes next?", secret=SECRET)
    assert turn.reply.body["sources"][0]["service_key"] == NEXT[1]
    assert turn.stages.get(contract="service_select_v1").status == "chosen"
    assert turn.reply.origin == "index"
    view = selectors.turn_view(turn.pk)
    assert view.reply is not None
    assert "You chose" not in view.reply.origin_sentence
    assert not ReviewItem.objects.filter(turn=turn).exists()


def test_none_of_these_is_a_persons_with_what_was_offered(asking: Turn) -> None:
    pick(asking)
    turn = again(asking)
    assert turn.state == "needs_review"
    item = flow_items(turn).get()
    assert (item.stage, item.reasons) == (turn.choice.stage, turn.choice.codes)
    assert turn.choice.outcome == "none"
    assert verify(turn.session_id).ok


def test_none_of_these_is_one_item_with_all_of_its_triage(
    asking: Turn, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[tuple[str, str]] = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, args, **_: queued.append((name, args[0]))
    )
    with django_capture_on_commit_callbacks(execute=True):
        pick(asking)
    assert queued == [("conversations.tasks.run_triage", str(asking.pk))]
    running.run_triage(turn_id=asking.pk)
    running.run_turn(turn_id=asking.pk)
    sweeper.sweep(now=asking.choice.until + timedelta(days=1))
    assert again(asking).stages.filter(contract="extract", status="passed").exists()
    assert asking.review_items.count() == 1


def test_a_choice_that_nobody_makes_goes_to_a_person(asking: Turn) -> None:
    sweeper.sweep(now=asking.choice.until - timedelta(seconds=1))
    assert again(asking).state == "asking"
    sweeper.sweep(now=asking.choice.until)
    sweeper.sweep(now=asking.choice.until)
    turn = again(asking)
    assert (turn.state, turn.choice.outcome) == ("needs_review", "expired")
    assert flow_items(turn).count() == 1


def test_the_same_choice_again_changes_nothing(asking: Turn) -> None:
    pick(asking, 1)
    before = kinds(asking)
    pick(asking, 1)
    assert kinds(asking) == before
    with pytest.raises(ChoiceRefused) as late:
        pick(asking, 2)
    assert late.value.late
    with pytest.raises(ChoiceRefused):
        pick(asking)
    running.run_turn(turn_id=asking.pk)
    pick(asking, 1)
    assert Reply.objects.count() == 1


@pytest.mark.parametrize("number", [0, 5, -1, 10**30])
def test_what_was_not_offered_cannot_be_chosen(asking: Turn, number: int) -> None:
    with pytest.raises(ChoiceRefused) as refused:
        pick(asking, number)
    assert not refused.value.late
    assert again(asking).state == "asking"


# ---- what is asked stays, and several can be chosen


def fees_first(answer: dict[str, Any]) -> None:
    """Do not know which service, and know what of it is asked."""
    desk.unsure(answer)
    answer["template"]["rules"] = "Open with {service_fees}."


def test_the_reply_of_a_choice_opens_with_what_was_asked(ask: Ask) -> None:
    turn = ask(VISA, model=desk.Scripted({"service_select_v1": [fees_first]}))
    assert (turn.state, turn.choice.stage) == ("asking", "service_select_v1")
    pick(turn, 2)
    running.run_turn(turn_id=turn.pk)
    body = again(turn).reply.body
    assert [entry["field"] for entry in body["sections"] if not entry.get("folded")] == ["fees"]
    assert len(body["sections"]) > 3


def test_a_choice_is_not_held_for_labels_that_the_model_is_unsure_of(ask: Ask) -> None:
    def unsure(answer: dict[str, Any]) -> None:
        for entry in (*answer["intents"], answer["product_line"], answer["urgency"]):
            entry["confidence"] = 0.2

    model = desk.Scripted({"service_select_v1": [desk.unsure], "classify": [unsure]})
    turn = ask(VISA, model=model)
    pick(turn, 1)
    running.run_turn(turn_id=turn.pk)
    assert again(turn).state == "answered"


SEVERAL = {
    "of several agencies": ([1, 2], 2, "multi_agency_service_answer_v1"),
    "of one agency": ([3, 2], 1, "service_select_v1"),
    "of one agency twice, of another": ([1, 2, 3], 2, "multi_agency_service_answer_v1"),
}


@pytest.mark.parametrize(("numbers", "agencies", "last"), SEVERAL.values(), ids=SEVERAL)
def test_several_are_answered_each_with_its_card(
    asking_two: Turn, numbers: list[int], agencies: int, last: str
) -> None:
    offered = asking_two.choice.offered
    chosen = [tuple(offered[number - 1]) for number in sorted(numbers)]
    assert len({agency for agency, _ in chosen}) == agencies
    pick(asking_two, *numbers)
    running.run_turn(turn_id=asking_two.pk)
    turn = again(asking_two)
    assert (turn.state, turn.reply.origin) == ("answered", "citizen_choice")
    sources = [card["source"] for card in turn.reply.body["cards"]]
    assert [(source["agency_id"], source["service_key"]) for source in sources] == chosen
    assert turn.reply.citations.count() == len(chosen)
    assert turn.choice.services == tuple(chosen)
    stages = turn.stages.filter(status="chosen").order_by("order")
    assert [entry.contract for entry in stages][-1] == last
    event = AuditEvent.objects.get(chain=turn.session_id, kind="turn.chosen")
    data = json.loads(event.payload)
    assert [data["chosen"], *data["also"]] == ["/".join(entry) for entry in chosen]
    assert verify(turn.session_id).ok
    assert replay(turn).same
    with pytest.raises(ChoiceRefused):
        pick(turn, numbers[0])
    pick(turn, *reversed(numbers))  # the same again


def test_a_run_that_is_resumed_makes_the_same_of_several(
    asking_two: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick(asking_two, 2, 3)  # of one agency: no stage has this reply

    def crash(**_: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(running, "deliver", crash)
        running.run_turn(turn_id=asking_two.pk)
    assert again_state(asking_two) == "queued"
    running.run_turn(turn_id=asking_two.pk)
    assert len(again(asking_two).reply.body["cards"]) == 2


def test_one_of_several_is_chosen_as_ever(asking_two: Turn) -> None:
    pick(asking_two, 4)
    running.run_turn(turn_id=asking_two.pk)
    body = again(asking_two).reply.body
    assert (body["kind"], body.get("cards")) == ("service", None)


def test_only_one_can_be_chosen_where_one_was_wished(asking: Turn) -> None:
    with pytest.raises(ChoiceRefused) as refused:
        pick(asking, 1, 2)
    assert not refused.value.late
    assert again(asking).state == "asking"


def test_the_record_of_a_choice_of_one_is_as_it_was(asking: Turn) -> None:
    pick(asking, 1)
    columns = {name: _plain(getattr(again(asking).choice, name)) for name in CHOICE.columns}
    assert CHOICE.row(again(asking).choice)[2] == digest(columns)


@pytest.mark.parametrize(
    "value", ["", "0", "10", "²", "-1", "1 ", "None", "none of these", "9" * 99]
)
def test_a_form_names_an_option_by_its_number(value: str) -> None:
    with pytest.raises(ChoiceRefused):
        numbers_of([value])
    with pytest.raises(ChoiceRefused):
        numbers_of(["1", value])
    assert numbers_of(["none"]) == []
    assert numbers_of(["3", "1"]) == [3, 1]


def test_nobody_else_can_choose(asking: Turn, ask: Ask) -> None:
    other = ask(VISA, secret="b")
    with pytest.raises(NothingToChoose):
        choose(session_id=other.session_id, turn_id=asking.pk, numbers=[1])
    with pytest.raises(NothingToChoose):
        choose(session_id=other.session_id, turn_id=other.pk, numbers=[1])
    erasing.erase_session(session_id=asking.session_id)
    with pytest.raises(Session.DoesNotExist):
        pick(asking, 1)
    assert not Choice.objects.exists()


def test_a_question_replaces_an_open_choice(asking: Turn, ask: Ask) -> None:
    ask("Thank you", secret=SECRET, model=desk.Scripted({"judgement_v1": [no_inquiry]}))
    assert again(asking).state == "asking"  # which asked for nothing
    assert ask(VISA, secret=SECRET).state == "answered"
    assert (again(asking).state, again(asking).choice.outcome) == ("closed", "replaced")
    with pytest.raises(ChoiceRefused):
        pick(asking, 1)
    sweeper.sweep(now=asking.choice.until)
    assert not flow_items(asking).exists()
    assert verify(asking.session_id).ok
    view = selectors.turn_view(asking.pk)
    assert view.intermediate == "asked"


def test_a_citizen_is_asked_once_a_turn(asking: Turn) -> None:
    pick(asking)
    item = flow_items(asking).get()
    resuming.ask_again(stage=asking.stages.get(contract=item.stage))
    resuming.resume(turn=again(asking))
    running.run_turn(turn_id=asking.pk)
    assert again(asking).state == "needs_review"


def test_an_erasure_meanwhile_stops_no_sweep(
    asking: Turn, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ask(WIDE, secret="b")
    late = max(asking.choice.until, other.choice.until)
    opened = transaction.atomic
    erased: list[bool] = []

    def erasing_first(*args: Any, **options: Any) -> Any:
        if not erased:
            erased.append(True)
            erasing.erase_session(session_id=asking.session_id)
        return opened(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "atomic", erasing_first)
        choosing.expire(now=late)
    assert again(other).state == "needs_review"


@pytest.mark.both_databases
def test_two_choices_at_once_are_one(
    published: None, in_threads: Callable[[list[Callable[[], Any]]], list[Any]]
) -> None:
    turn = services.receive(session=SECRET, text=WIDE, enqueue=False)[0]
    running.run_turn(turn_id=turn.pk)

    def attempt(*numbers: int) -> str:
        try:
            pick(turn, *numbers)
        except ChoiceRefused:
            return "late"
        return "taken"

    results = in_threads([lambda n=n: attempt(*n) for n in ([1], [2], [])])  # type: ignore[misc]  # mypy cannot type a default
    assert sorted(results) == ["late", "late", "taken"]
    assert [event.kind for event in AuditEvent.objects.filter(kind="turn.chosen")] == [
        "turn.chosen"
    ]


def test_a_crash_before_the_question_is_put_loses_nothing(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = services.receive(session=SECRET, text=WIDE, enqueue=False)[0]

    def crash(**_: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(choosing, "ask", crash)
        running.run_turn(turn_id=turn.pk)
    assert again_state(turn) == "queued"
    running.run_turn(turn_id=turn.pk)
    assert again_state(turn) == "asking"
    assert turn.stages.get(contract=turn_choice(turn).stage).attempts.count() == 1


def again_state(turn: Turn) -> str:
    return Turn.objects.get(pk=turn.pk).state


def turn_choice(turn: Turn) -> Choice:
    return Choice.objects.get(turn=turn)
