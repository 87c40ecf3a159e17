"""Asking for a person: what is stored, who waits, what is refused, what is gone afterwards."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from conversations import selectors
from conversations.models import Attempt, PersonRequest, Session, Turn
from conversations.person import hours, services
from conversations.person.services import AskedAlready, Unusable
from conversations.turns import erasing, running
from conversations.turns.refusing import Refused
from conversations.turns.services import receive
from ieim.audit.comparing import second_look
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from review import due
from review.deciding import Refused as NotDecided
from review.deciding import undo
from review.models import Action, ReviewItem
from tests.administration.setting import put
from tests.conversations.person.asking import ADDRESS, HELP, NUMBER, item_of, wants
from tests.fixtures import VISA, Ask
from tests.review import desk

SECRET = "a"
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def germany(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "IEIM_HOLIDAYS", "DE")
    monkeypatch.setattr(settings, "TIME_ZONE", "Europe/Berlin")


def holds(session_id: Any) -> bool:
    """Whether the record holds, and every row that it vouches for."""
    return verify(session_id).ok and second_look(session_id) == []


def refused(**fields: Any) -> str:
    """The field that a request is refused for; nothing is stored of it."""
    with pytest.raises(Unusable) as caught:
        wants(SECRET, **fields)
    assert PersonRequest.objects.count() == 0
    return caught.value.field


def test_a_request_is_a_turn_with_an_item_of_its_own_kind(published: None) -> None:
    request = wants(SECRET)
    item = item_of(request)
    assert (request.turn.text, request.turn.state) == (HELP, "needs_review")
    assert (item.stage, item.reasons, item.state) == ("person", ["policy.person"], "open")
    assert item.due_at > timezone.now()
    assert holds(request.session_id)


def test_no_run_takes_it(published: None) -> None:
    request = wants(SECRET)
    running.run_turn(turn_id=request.turn_id)
    assert Turn.objects.get(pk=request.turn_id).state == "needs_review"
    assert not Attempt.objects.exists()


def test_it_may_be_about_a_question_and_belongs_where_that_does(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    request = wants(SECRET, text="", about=turn.pk)
    assert request.turn.text == VISA
    assert item_of(request).agency == "immigration"
    view = selectors.turn_view(request.turn_id).person
    assert view is not None
    assert view.about == 1


def test_a_question_of_another_conversation_is_refused(ask: Ask) -> None:
    assert refused(text="", about=ask(VISA, secret="b").pk) == "about"


def test_it_takes_words_or_a_question(published: None) -> None:
    assert refused(text="  ") == "text"
    assert refused(text="x" * 2001) == "text"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"way": "email", "contact": "not an address"}, "contact"),
        ({"way": "email", "contact": ""}, "contact"),
        ({"way": "call", "contact": "12"}, "contact"),
        ({"way": "call", "contact": "call me"}, "contact"),
        ({"way": "pigeon"}, "way"),
        ({"way": ""}, "way"),
        ({"way": "call", "contact": NUMBER, "time": "2001-01-01T09:00Z"}, "time"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_field(
    published: None, fields: dict[str, str], field: str
) -> None:
    assert refused(**fields) == field


def test_one_waits_at_a_time(published: None) -> None:
    wants(SECRET)
    with pytest.raises(AskedAlready):
        wants(SECRET)
    assert PersonRequest.objects.count() == ReviewItem.objects.count() == 1


def test_words_of_danger_show_help_at_once(published: None) -> None:
    request = wants(SECRET, text="I want to kill myself")
    assert selectors.turn_view(request.turn_id).contacts
    assert item_of(request).reasons == ["policy.risk", "policy.person"]
    with pytest.raises(Refused) as caught:
        wants("b", text="I want to kill myself", way="call", contact="nothing")
    assert caught.value.contacts


def test_the_contact_is_in_no_event_and_in_no_request_to_a_model(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = wants(SECRET, way="call", contact=NUMBER)
    assert request.contact == NUMBER
    turn = ask(VISA, secret=SECRET)
    assert [entry["text"] for entry in selectors.history(turn)] == []
    text = "".join(attempt.asked_text for attempt in Attempt.objects.all())
    recorded = json.dumps(list(AuditEvent.objects.values_list("payload", flat=True)))
    for contact in (NUMBER, NUMBER[2:], HELP):
        assert contact not in text
    assert NUMBER[2:] not in recorded


def test_a_contact_may_go_without_an_event_and_nothing_else(published: None) -> None:
    request = wants(SECRET, way="email", contact=ADDRESS)
    PersonRequest.objects.update(contact="")
    assert holds(request.session_id)
    PersonRequest.objects.update(way="page")
    assert not holds(request.session_id)


@pytest.mark.parametrize(
    ("action", "payload", "state", "turn_state"),
    [
        (Action.WRITE, {"text": "Please come on Monday.", "sources": []}, "answered", "answered"),
        (Action.ASK, {"text": "Which papers do you have?"}, "answered", "answered"),
        (Action.DONE, {}, "answered", "closed"),
        (Action.DISMISS, {}, "closed", "closed"),
    ],
)
def test_a_decision_ends_it_and_erases_the_contact(
    published: None, action: Action, payload: Any, state: str, turn_state: str
) -> None:
    request = wants(SECRET, way="call", contact=NUMBER)
    eva = desk.person("eva")
    desk.decide(desk.take(item_of(request), eva), eva, action, **payload)
    request.refresh_from_db()
    assert (request.state, request.contact, request.turn.state) == (state, "", turn_state)
    assert item_of(request).state == "decided"
    assert holds(request.session_id)
    assert wants(SECRET).turn.number == 2


@pytest.mark.parametrize("action", [Action.APPROVE, Action.OVERRIDE, Action.RETRY])
def test_nothing_of_a_model_can_be_decided_there(published: None, action: Action) -> None:
    item, eva = item_of(wants(SECRET)), desk.person("eva")
    with pytest.raises(NotDecided, match="asks for a person"):
        desk.decide(desk.take(item, eva), eva, action)


def test_done_is_for_those_who_asked_for_a_person(published: None) -> None:
    item, eva = desk.the_item(desk.ask(VISA, {"judgement_v1": desk.BAD})), desk.person("eva")
    with pytest.raises(NotDecided, match="has not asked"):
        desk.decide(desk.take(item, eva), eva, Action.DONE)


def test_it_is_handed_to_another_agency_with_its_contact(ask: Ask) -> None:
    request = wants(SECRET, text="", about=ask(VISA, secret=SECRET).pk, way="call", contact=NUMBER)
    eva = desk.person("eva")
    desk.decide(desk.take(item_of(request), eva), eva, Action.HAND_OVER, agency="revenue")
    request.refresh_from_db()
    assert (request.state, request.contact) == ("open", NUMBER)
    assert item_of(request).agency == "revenue"


def test_a_dismissal_cannot_be_undone(published: None) -> None:
    request, eva = wants(SECRET, way="call", contact=NUMBER), desk.person("eva")
    decision = desk.decide(desk.take(item_of(request), eva), eva, Action.DISMISS)
    with pytest.raises(NotDecided, match="went with the decision"):
        undo(decision_id=decision.pk, actor=eva, reason="I was wrong.")


def test_the_citizen_takes_it_back(published: None) -> None:
    request = wants(SECRET, way="email", contact=ADDRESS)
    assert services.withdraw(session_id=request.session_id)
    request.refresh_from_db()
    assert (request.state, request.contact, request.turn.state) == ("withdrawn", "", "closed")
    assert item_of(request).state == "decided"
    assert not services.withdraw(session_id=request.session_id)
    assert holds(request.session_id)


def test_what_was_decided_is_not_taken_back(published: None) -> None:
    request, eva = wants(SECRET), desk.person("eva")
    desk.decide(desk.take(item_of(request), eva), eva, Action.DONE)
    assert not services.withdraw(session_id=request.session_id)
    request.refresh_from_db()
    assert request.state == "answered"


def test_it_goes_with_the_conversation(published: None) -> None:
    request = wants(SECRET, way="email", contact=ADDRESS)
    erasing.erase_session(session_id=request.session_id)
    assert not PersonRequest.objects.exists()
    assert holds(request.session_id)
    with pytest.raises(Session.DoesNotExist):
        services.withdraw(session_id=request.session_id)


def test_the_next_question_is_answered_while_one_waits(published: None) -> None:
    wants(SECRET)
    turn = receive(session=SECRET, text=VISA, enqueue=False)[0]
    running.run_turn(turn_id=turn.pk)
    assert Turn.objects.get(pk=turn.pk).state == "answered"


# ---- hours


def test_a_call_is_offered_for_working_days_only(germany: None, db: None) -> None:
    # The Wednesday before the German Christmas holidays, in the afternoon.
    now = datetime(2026, 12, 23, 15, 0, tzinfo=BERLIN)
    days = [f"{slot.begins:%d.%m. %H:%M}-{slot.ends:%H:%M}" for slot in hours.slots(now)]
    assert days[:3] == ["23.12. 13:00-17:00", "24.12. 09:00-13:00", "24.12. 13:00-17:00"]
    assert days[3] == "28.12. 09:00-13:00"  # the 25th and 26th are holidays, then a Sunday
    assert all(slot.ends > now + timedelta(minutes=30) for slot in hours.slots(now))


def test_it_says_when_people_are_back(germany: None, db: None) -> None:
    evening = hours.opening(datetime(2026, 12, 24, 20, 0, tzinfo=BERLIN))
    assert evening is not None
    assert (evening.open, evening.next) == (False, datetime(2026, 12, 28, 9, tzinfo=BERLIN))
    assert [days for days, _, _ in evening.hours] == ["Monday to Friday"]
    assert evening.closed[0] == (date(2026, 12, 25), "Christmas Day")
    assert [day.day for day, _ in evening.closed][:1] == [25]
    noon = hours.opening(datetime(2026, 12, 28, 12, 0, tzinfo=BERLIN))
    assert noon is not None
    assert (noon.open, noon.next) == (True, None)


def test_it_goes_by_the_hours_that_the_administration_has_set(germany: None, db: None) -> None:
    two = "08:00-12:00, 14:00-16:00"
    put("hours", tuesday=two, friday="10:00-11:00", country="DE", closed="2026-12-29: move")
    monday = hours.opening(datetime(2026, 12, 28, 9, 0, tzinfo=BERLIN))
    assert monday is not None
    # The Tuesday is a day of closing, and the Friday is New Year's Day.
    assert (monday.open, monday.next) == (False, datetime(2027, 1, 5, 8, tzinfo=BERLIN))
    assert [f"{days} {opens:%H:%M}" for days, opens, _ in monday.hours] == [
        *("Tuesday 08:00", "Tuesday 14:00", "Friday 10:00")
    ]
    assert [day.day for day, _ in monday.closed] == [29, 1]
    assert monday.closed[0][1] == "move"
    assert due.due(monday.opens, due.Target(300), hours.calendar()).hour == 15


def test_it_says_nothing_of_hours_that_nobody_has(
    germany: None, published: None, client: Client
) -> None:
    put("hours", monday="09:00-12:00", closed="2026-01-01 to 2099-12-31: for good")
    assert hours.opening(timezone.now()) is None
    assert hours.slots(timezone.now()) == ()
    page = client.get("/person/")
    assert (page.status_code, b"Nobody is here" in page.content) == (200, False)


def test_a_wished_time_is_kept(published: None) -> None:
    slot = hours.slots(timezone.now())[1]
    request = wants(SECRET, way="call", contact=NUMBER, time=slot.value)
    assert (request.wanted_from, request.wanted_until) == (slot.begins, slot.ends)
