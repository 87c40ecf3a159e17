"""What the mail server gets: what it says, when, how often, and what comes of its refusals."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone, translation

from conversations.mail import sending, services
from conversations.mail.models import MailRequest
from conversations.models import Turn
from conversations.turns import erasing
from ieim.audit.comparing import second_look
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from review.deciding import undo
from review.models import Action
from review.talking import services as talking
from tests.administration.setting import put
from tests.conversations.mail.conftest import use
from tests.conversations.mail.mailing import (
    ADDRESS,
    ANSWER,
    QUESTION,
    SENDER,
    SITE,
    Citizen,
    PostOffice,
    fresh,
    links,
    work,
)
from tests.conversations.person.asking import item_of, taken_over, wants
from tests.review import desk
from tests.services import free_port


def later(request: MailRequest, by: timedelta) -> None:
    """Let time pass for a request."""
    MailRequest.objects.filter(pk=request.pk).update(asked_at=timezone.now() - by)


def due_now(request: MailRequest) -> None:
    """Let the pause before the next try be over."""
    MailRequest.objects.filter(pk=request.pk).update(due_at=timezone.now())


def holds(request: MailRequest) -> bool:
    """Whether the record holds, and every row that it vouches for."""
    return verify(request.session_id).ok and second_look(request.session_id) == []


def test_the_first_message_asks_and_says_nothing_else(published: None, office: PostOffice) -> None:
    put("name", name="City of Tarrow")
    request = Citizen().wants()
    message = office.newest()
    assert office.envelopes == [(SENDER, [ADDRESS])]
    assert message["To"] == ADDRESS
    assert message["From"] == f"City of Tarrow <{SENDER}>"
    assert message["Subject"] == "City of Tarrow: confirm your e-mail address"
    assert message["Auto-Submitted"] == "auto-generated"
    link, stop = links(message)
    assert stop == f"{link}stop/"
    assert message["List-Unsubscribe"].strip() == f"<{SITE}{stop}>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert request.state == "asked"
    assert request.due_at is None
    secret = link.split("/")[2]
    assert len(secret) >= 43
    assert secret not in json.dumps(list(MailRequest.objects.values()), default=str)


def test_the_second_one_comes_with_the_answer_once(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    request = citizen.confirmed(office)
    work()
    assert len(office.inbox) == 1
    citizen.answer()
    work()
    work()
    assert len(office.inbox) == 2
    assert office.newest()["Subject"] == "IEIM: there is an answer for you"
    assert len(links(office.newest())) == 2
    assert (fresh(request).state, fresh(request).address) == ("told", "")
    assert holds(request)


def test_no_word_of_the_conversation_is_in_a_message_or_an_event_or_a_log(
    published: None, office: PostOffice, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    citizen = Citizen()
    office.refusals = [("RCPT", f"451 {ADDRESS} try later"), ("MAIL", f"550 not you {ADDRESS}")]
    request = citizen.wants()
    due_now(request)
    work()
    due_now(request)
    work()
    Client().post(links(office.newest())[0])
    citizen.answer()
    work()
    assert len(office.inbox) == 2
    told = "".join(
        "\n".join([*(f"{k}: {v}" for k, v in each.items()), str(each.get_content())])
        for each in office.inbox
    ).lower()
    public = {"my", "keeps", "the", "bring", "on", "monday"}
    for word in {*re.findall(r"\w+", f"{QUESTION} {ANSWER}".lower())} - public:
        assert not re.search(rf"\b{word}\b", told), word
    turn = Turn.objects.get(pk=citizen.turn.pk)
    for own in (str(turn.pk), turn.session.reference, citizen.secret, str(turn.session_id)):
        assert own.lower() not in told
    mailed = AuditEvent.objects.filter(kind__startswith="mail.")
    recorded = json.dumps(list(mailed.values_list("payload", flat=True)))
    assert ADDRESS.partition("@")[0] not in recorded
    # The mail server of the tests is in this process.
    logged = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("mail."))
    assert "451" in logged
    assert ADDRESS not in logged
    for each in office.inbox:
        assert all(link.split("/")[2] not in logged for link in links(each))


def test_both_are_in_the_language_that_they_were_asked_in(
    published: None, office: PostOffice
) -> None:
    citizen = Citizen()
    for code, _name in settings.LANGUAGES:
        with translation.override(code):
            citizen.wants(f"{code}@example.org")
        assert office.newest()["Content-Language"] == code
    subjects = [str(each["Subject"]) for each in office.inbox]
    assert len(set(subjects)) == len(settings.LANGUAGES)


def test_until_it_is_confirmed_nothing_else_is_sent(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    request = citizen.wants()
    citizen.answer()
    work()
    assert len(office.inbox) == 1
    assert fresh(request).state == "asked"
    page = Client().post(links(office.newest())[0], follow=True)
    assert "There is an answer" in page.content.decode()
    work()
    assert len(office.inbox) == 1
    assert (fresh(request).state, fresh(request).address) == ("told", "")


def test_who_does_not_confirm_in_time_is_forgotten(published: None, office: PostOffice) -> None:
    request = Citizen().wants()
    later(request, services.VALID - timedelta(minutes=1))
    work()
    assert fresh(request).address == ADDRESS
    later(request, services.VALID)
    assert Client().post(links(office.newest())[0]).status_code == 303
    assert (fresh(request).state, fresh(request).address) == ("expired", "")
    other = Citizen().wants()
    later(other, services.VALID)
    work()
    assert (fresh(other).state, fresh(other).address) == ("expired", "")


@pytest.mark.parametrize("stage", ["MAIL", "RCPT", "DATA"])
def test_what_is_refused_for_now_is_tried_again(
    published: None, office: PostOffice, stage: str
) -> None:
    office.refusals = [(stage, "451 come again")]
    request = Citizen().wants()
    assert (office.inbox, request.state, request.tries) == ([], "asked", 1)
    work()
    assert office.inbox == []  # it is not due yet
    due_now(request)
    work()
    assert len(office.inbox) == 1
    assert holds(request)


@pytest.mark.parametrize("stage", ["RCPT", "DATA"])
def test_what_is_refused_for_good_ends_it(published: None, office: PostOffice, stage: str) -> None:
    office.refusals = [(stage, "550 nobody here")]
    citizen = Citizen()
    request = citizen.wants()
    assert (request.state, request.address, request.due_at) == ("refused", "", None)
    assert holds(request)
    assert "does not take our message" in citizen.browser.get("/").content.decode()


def test_a_refused_operator_costs_no_citizen_their_message(
    published: None, office: PostOffice
) -> None:
    office.refusals = [("MAIL", "550 not from here")]
    request = Citizen().wants()
    assert (request.state, request.address) == ("asked", ADDRESS)


def test_pauses_grow_and_end(
    published: None, monkeypatch: pytest.MonkeyPatch, office: PostOffice
) -> None:
    citizen = Citizen()
    request = citizen.confirmed(office)
    citizen.answer()
    use(monkeypatch, free_port())  # nobody listens there
    work()
    pauses = []
    while fresh(request).due_at is not None:
        pauses.append(fresh(request).due_at)
        due_now(request)
        work()
    waits = [due - timezone.now() for due in pauses if due is not None]
    assert len(waits) == len(sending.PAUSES)
    assert waits == sorted(waits)
    assert (fresh(request).state, fresh(request).address) == ("unreachable", "")
    assert Turn.objects.get(pk=citizen.turn.pk).state == "answered"
    assert holds(request)


def test_the_answer_does_not_wait_for_the_mail_server(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    citizen = Citizen()
    citizen.confirmed(office)
    monkeypatch.setattr(services, "queue", lambda _pk: pytest.fail("the answer queued an e-mail"))
    citizen.answer()
    assert Turn.objects.get(pk=citizen.turn.pk).state == "answered"


def test_a_send_that_was_cut_off_is_done_again_with_the_same_name(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sending, "_sent", lambda _request: None)  # the process ends here
        request = Citizen().wants()
    work()
    assert len(office.inbox) == 1  # somebody is at it, as far as one can tell
    MailRequest.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    work()
    assert len({each["Message-ID"] for each in office.inbox}) == 1
    assert len(office.inbox) == 2
    assert Client().post(links(office.newest())[0]).status_code == 303
    assert fresh(request).state == "confirmed"


def test_at_the_start_of_the_only_worker_every_lease_is_dead(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sending, "_sent", lambda _request: None)
        request = Citizen().wants()
    assert sending.sweep() == 0
    assert sending.sweep(at_start=True) == 1
    assert fresh(request).lease is None


@pytest.mark.django_db(transaction=True)
def test_of_two_workers_one_sends(
    published: None, office: PostOffice, in_threads: Callable[..., Any]
) -> None:
    citizen = Citizen()
    request = services.ask(
        session=citizen.turn.session, turn_id=citizen.turn.pk, address=ADDRESS, origin=""
    )
    in_threads([lambda: sending.send_due(request_id=request.pk)] * 4)
    assert len(office.inbox) == 1


@pytest.mark.django_db(transaction=True)
def test_the_server_is_talked_to_outside_a_transaction(
    published: None, office: PostOffice, in_threads: Callable[..., Any]
) -> None:
    citizen = Citizen()
    request = services.ask(
        session=citizen.turn.session, turn_id=citizen.turn.pk, address=ADDRESS, origin=""
    )

    # While the server takes the message the citizen deletes the conversation: nothing waits.
    def erased() -> None:
        erasing.erase_session(session_id=request.session_id)

    office.on_data = lambda: in_threads([erased])
    sending.send_due(request_id=request.pk)
    assert not MailRequest.objects.exists()
    assert verify(request.session_id).ok


def test_erasing_the_conversation_erases_the_address(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    request = citizen.confirmed(office)
    erasing.erase_session(session_id=request.session_id)
    assert not MailRequest.objects.exists()
    assert holds(request)
    assert Client().get(links(office.newest())[0]).status_code == 404
    work()
    assert len(office.inbox) == 1


def test_a_dismissal_that_tells_nothing_ends_it_a_day_later(
    published: None, office: PostOffice
) -> None:
    citizen = Citizen()
    request, eva = citizen.confirmed(office), desk.person("eva")
    item = desk.take(desk.the_item(citizen.turn), eva)
    decision = desk.decide(item, eva, Action.DISMISS)
    work()
    undo(decision_id=decision.pk, actor=eva, reason=desk.REASON)
    work()
    assert fresh(request).state == "confirmed"
    desk.decide(desk.take(desk.the_item(citizen.turn), eva), eva, Action.DISMISS)
    Turn.objects.filter(pk=citizen.turn.pk).update(updated_at=timezone.now() - services.VALID)
    work()
    assert (fresh(request).state, fresh(request).address) == ("closed", "")
    assert len(office.inbox) == 1


def test_who_asked_for_a_person_is_told_with_their_first_line(
    published: None, office: PostOffice
) -> None:
    citizen = Citizen()
    asked = wants(citizen.secret)
    citizen.turn, question = asked.turn, citizen.turn
    request = citizen.confirmed(office)
    eva = desk.person("eva")
    taken_over(asked, eva)
    work()
    assert len(office.inbox) == 1
    talking.say(item_id=item_of(asked).pk, actor=eva, text=ANSWER)
    work()
    assert len(office.inbox) == 2
    assert (fresh(request).state, question.state) == ("told", "needs_review")


def test_a_line_is_no_reply_to_another_question(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    request = citizen.confirmed(office)
    asked, eva = wants(citizen.secret), desk.person("eva")
    taken_over(asked, eva)
    talking.say(item_id=item_of(asked).pk, actor=eva, text=ANSWER)
    work()
    assert fresh(request).state == "confirmed"


def test_what_was_asked_of_a_person_and_taken_back_is_forgotten_at_once(
    published: None, office: PostOffice
) -> None:
    citizen = Citizen()
    citizen.turn = wants(citizen.secret).turn
    request = citizen.confirmed(office)
    citizen.browser.post("/person/withdraw/")
    assert (fresh(request).state, fresh(request).address) == ("closed", "")
    assert holds(request)


def test_a_name_cannot_add_a_header(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ieim.administration.own import Administration

    name = "Tarrow\r\nBcc: all@example.org {x}"
    monkeypatch.setattr(Administration, "name", name)
    Citizen().wants()
    assert office.newest()["Bcc"] is None
    assert office.envelopes == [(SENDER, [ADDRESS])]
    assert len(links(office.newest())) == 2
