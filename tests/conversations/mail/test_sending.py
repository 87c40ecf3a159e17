"""What the mail server gets: what it says, when, how often, and what comes of its refusals."""

from __future__ import annotations

import json
import logging
import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone, translation

from conversations.mail import services
from conversations.mail.models import MailRequest
from conversations.models import Turn
from conversations.turns import erasing
from ieim.audit.models import AuditEvent
from ieim.people import post
from review import talking
from review.deciding import undo
from review.models import Action
from tests.administration.setting import put
from tests.conversations.mail.mailing import (
    ADDRESS,
    ANSWER,
    QUESTION,
    SENDER,
    SITE,
    Citizen,
    PostOffice,
    due_now,
    fresh,
    holds,
    later,
    links,
    work,
)
from tests.conversations.person.asking import item_of, taken_over, wants
from tests.review import desk


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
    result = "".join(
        "\n".join([*(f"{k}: {v}" for k, v in entry.items()), str(entry.get_content())])
        for entry in office.inbox
    ).lower()
    public = {"my", "keeps", "the", "bring", "on", "monday"}
    for word in {*re.findall(r"\w+", f"{QUESTION} {ANSWER}".lower())} - public:
        assert not re.search(rf"\b{word}\b", result), word
    turn = Turn.objects.get(pk=citizen.turn.pk)
    for secret_text in (str(turn.pk), turn.session.reference, citizen.secret, str(turn.session_id)):
        assert secret_text.lower() not in result
    mailed = AuditEvent.objects.filter(kind__startswith="mail.")
    recorded = json.dumps(list(mailed.values_list("payload", flat=True)))
    assert ADDRESS.partition("@")[0] not in recorded
    # The mail server of the tests is in this process.
    logged = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("mail."))
    assert "451" in logged
    assert ADDRESS not in logged
    for entry in office.inbox:
        assert all(link.split("/")[2] not in logged for link in links(entry))


def test_both_are_in_the_language_that_they_were_asked_in(
    published: None, office: PostOffice
) -> None:
    citizen = Citizen()
    for code, _name in settings.LANGUAGES:
        with translation.override(code):
            citizen.wants(f"{code}@example.org")
        assert office.newest()["Content-Language"] == code
    subjects = [str(entry["Subject"]) for entry in office.inbox]
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
    result = wants(citizen.secret)
    citizen.turn, question = result.turn, citizen.turn
    request = citizen.confirmed(office)
    eva = desk.person("eva")
    taken_over(result, eva)
    work()
    assert len(office.inbox) == 1
    talking.say(item_id=item_of(result).pk, actor=eva, text=ANSWER)
    work()
    assert len(office.inbox) == 2
    assert (fresh(request).state, question.state) == ("told", "needs_review")


def test_a_line_is_no_reply_to_another_question(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    request = citizen.confirmed(office)
    result, eva = wants(citizen.secret), desk.person("eva")
    taken_over(result, eva)
    talking.say(item_id=item_of(result).pk, actor=eva, text=ANSWER)
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
    from ieim.administration.organisation import Administration

    name = "Tarrow\r\nBcc: all@example.org {x}"
    monkeypatch.setattr(Administration, "name", name)
    Citizen().wants()
    assert office.newest()["Bcc"] is None
    assert office.envelopes == [(SENDER, [ADDRESS])]
    assert len(links(office.newest())) == 2


def test_staff_get_messages_from_the_same_server(office: PostOffice, db: None) -> None:
    post.send(subject="choose a password", paragraphs=["Open this:", "/x/"], to=["ada@example.org"])
    message = office.newest()
    assert (message["To"], message["Subject"]) == (
        "ada@example.org",
        "ask.example.org: choose a password",
    )
    assert message.get_content().split() == ["Open", "this:", "/x/"]
