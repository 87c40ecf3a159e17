"""The form, the links, their limits: what citizens and their mailboxes may do."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from conversations.mail import services
from conversations.mail.models import MailRequest
from conversations.models import Turn
from conversations.turns.refusing import Refused
from tests.conversations.api.integrating import Integrator, set_rates
from tests.conversations.mail.mailing import ADDRESS, Citizen, PostOffice, fresh, links, work
from tests.conversations.person.asking import wants
from tests.fixtures import Ask
from tests.review import desk
from tests.selection import sample

OFFER = "Tell me by e-mail when the answer is there"


def test_the_page_offers_it_where_a_person_answers(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    assert OFFER in citizen.browser.get("/").content.decode()
    form = citizen.browser.get(citizen.form)
    assert form.status_code == 200
    sent = citizen.browser.post(citizen.form, {"address": f" {ADDRESS} "})
    assert (sent.status_code, sent["Location"]) == (303, f"/#turn-{citizen.turn.pk}")
    assert MailRequest.objects.get().address == ADDRESS
    page = citizen.browser.get("/").content.decode()
    assert OFFER not in page
    assert "Open the link in it to confirm" in page
    assert ADDRESS not in page


def test_it_is_not_offered_where_nobody_waits(ask: Ask, office: PostOffice) -> None:
    turn = ask(secret="a")
    assert turn.state == "answered"
    session = turn.session
    with pytest.raises(services.NotOffered):
        services.ask(session=session, turn_id=turn.pk, address=ADDRESS, origin="")


@pytest.mark.parametrize(("way", "offered"), [("page", True), ("email", False), ("call", False)])
def test_it_is_offered_to_who_asked_for_a_person_by_the_page(
    published: None, office: PostOffice, way: str, *, offered: bool
) -> None:
    citizen = Citizen()
    contact = {"page": "", "email": ADDRESS, "call": "+12025550143"}[way]
    turn = wants(citizen.secret, way=way, contact=contact).turn
    answer = citizen.browser.get(f"/turns/{turn.pk}/mail/")
    assert (answer.status_code == 200) is offered


def test_without_a_mail_server_there_is_nothing_of_it(published: None) -> None:
    citizen = Citizen()
    assert settings.IEIM_MAIL["HOST"] == ""
    assert OFFER not in citizen.browser.get("/").content.decode()
    assert citizen.browser.get(citizen.form).status_code == 404
    assert citizen.browser.post(citizen.form, {"address": ADDRESS}).status_code == 404
    assert Client().get("/mail/anything/").status_code == 404
    assert Client().post("/mail/anything/stop/").status_code == 404


def test_another_conversation_is_not_there(published: None, office: PostOffice) -> None:
    citizen, other = Citizen(), Citizen()
    for path in (other.form, f"{other.form}stop/"):
        assert citizen.browser.post(path, {"address": ADDRESS}).status_code == 404
        assert Client().post(path, {"address": ADDRESS}).status_code == 404
    assert not MailRequest.objects.exists()


@pytest.mark.parametrize(
    "address",
    sample(
        [
            *("", "ana", "ana@", "@example.org", "ana@example", "a b@example.org"),
            *(
                "ana@example.org\r\nBcc: all@example.org",
                "ana@example.org\nX: y",
                "ana@exa\r\nmple.org",
            ),
            *("ana@example.org, eva@example.org", "Ana <ana@example.org>", "ana\0@example.org"),
            *('"ana\x01"@example.org', "ana@" + "x" * 300 + ".org", "a" * 250 + "@example.org"),
            *("ana@ex\ud800mple.org", "ana@" + "ä" * 63 + ".org", "ana@example.org\u202e"),
        ],
        keep=3,
    ),
)
def test_what_is_no_address_is_refused_and_changes_nothing(
    published: None, office: PostOffice, address: str
) -> None:
    citizen = Citizen()
    with pytest.raises(services.Unusable) as caught:
        citizen.wants(address)
    assert "e-mail address" in caught.value.message
    answer = citizen.browser.post(citizen.form, {"address": address.encode("utf-8", "replace")})
    assert answer.status_code == 422
    assert "Nothing was sent" in answer.content.decode()
    assert not MailRequest.objects.exists()
    work()
    assert office.inbox == []


def test_a_link_that_is_opened_confirms_nothing(published: None, office: PostOffice) -> None:
    request = Citizen().wants()
    link, stop = links(office.newest())
    for path in (link, stop):
        for method in ("get", "head"):
            assert getattr(Client(), method)(path).status_code == 200
    assert fresh(request).state == "asked"
    assert Client().post(link).status_code == 303
    assert fresh(request).state == "confirmed"
    assert Client().post(link).status_code == 303  # again is no change
    assert fresh(request).state == "confirmed"


def test_the_page_of_a_link_tells_a_stranger_nothing(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    citizen.confirmed(office)
    citizen.answer()
    work()
    for message in office.inbox:
        for path in links(message):
            page = Client().get(path).content.decode()
            for secret_text in (
                "Quimbleton",
                "marmalade",
                citizen.turn.session.reference,
                citizen.secret,
            ):
                assert secret_text not in page
    path = links(office.newest())[0]
    assert "Read the answer" not in Client().get(path).content.decode()
    assert f"/#turn-{citizen.turn.pk}" in citizen.browser.get(path).content.decode()


def test_who_did_not_ask_is_erased_at_once(published: None, office: PostOffice) -> None:
    request = Citizen().wants()
    stop = links(office.newest())[1]
    strict = Client(enforce_csrf_checks=True)
    one_click = strict.post(stop, {"List-Unsubscribe": "One-Click"})
    assert one_click.status_code == 200
    assert (fresh(request).state, fresh(request).address) == ("stopped", "")
    Client().post(links(office.newest())[0])
    assert fresh(request).state == "stopped"
    assert "This link is over" in Client().get(links(office.newest())[0]).content.decode()


def test_a_button_needs_the_page_that_it_stands_on(published: None, office: PostOffice) -> None:
    request = Citizen().wants()
    assert Client(enforce_csrf_checks=True).post(links(office.newest())[0]).status_code == 403
    assert fresh(request).state == "asked"


def test_the_link_of_the_answer_stops_the_rest(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    citizen.confirmed(office)
    citizen.answer()
    work()
    stop = links(office.newest())[1]
    second = desk.ask("And another one?", {"judgement_v1": desk.BAD}, secret=citizen.secret)
    citizen.turn = second
    other = citizen.wants("other@example.org")
    assert Client().post(stop).status_code == 200
    assert (fresh(other).state, fresh(other).address) == ("stopped", "")


def test_who_did_not_ask_stops_no_other_address(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    mine = citizen.confirmed(office)
    citizen.turn = desk.ask("Another one?", {"judgement_v1": desk.BAD}, secret=citizen.secret)
    typo = citizen.wants("anna@example.org")
    assert Client().post(links(office.newest())[1]).status_code == 200
    assert (fresh(typo).state, fresh(mine).state) == ("stopped", "confirmed")
    assert Client().post(links(office.newest())[1]).status_code == 200
    assert fresh(mine).state == "confirmed"


def test_a_new_address_takes_the_place_of_the_old_one(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    first = citizen.confirmed(office)
    assert citizen.wants().pk == first.pk  # the same again is no change
    second = citizen.wants("new@example.org")
    assert (fresh(first).state, fresh(first).address) == ("stopped", "")
    assert second.state == "asked"
    assert len(office.inbox) == 2


def test_the_page_takes_it_back(published: None, office: PostOffice) -> None:
    citizen = Citizen()
    request = citizen.confirmed(office)
    assert "I want no e-mail" in citizen.browser.get(citizen.form).content.decode()
    assert citizen.browser.post(f"{citizen.form}stop/").status_code == 303
    assert (fresh(request).state, fresh(request).address) == ("stopped", "")
    citizen.answer()
    work()
    assert len(office.inbox) == 1


# ---- limits


def test_a_conversation_gets_few_a_day(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_rates(monkeypatch, mail="2/day")
    citizen = Citizen()
    for number in range(2):
        citizen.wants(f"a{number}@example.org")
    answer = citizen.browser.post(citizen.form, {"address": "a3@example.org"})
    assert (answer.status_code, int(answer["Retry-After"]) > 3600) == (429, True)
    assert "too many e-mails" in answer.content.decode()
    assert len(office.inbox) == 2


def test_so_does_an_address_and_nobody_is_told(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_rates(monkeypatch, mail="2/day")
    same = [ADDRESS, "ANA@example.org", "ana+tag@example.org"]
    citizens = [Citizen() for _ in same]
    answers = [
        result.browser.post(result.form, {"address": address})
        for result, address in zip(citizens, same, strict=True)
    ]
    work()
    assert [answer.status_code for answer in answers] == [303] * 3
    assert len(office.inbox) == 2
    results = {
        citizen.browser.get("/").content.decode().split('class="mail"')[1].split("</p>")[0][-160:]
        for citizen in citizens
    }
    assert len(results) == 1


def test_nobody_sends_to_many_from_one_place(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_rates(monkeypatch, mail_origin="1/hour")
    Citizen().wants("a@example.org", origin="192.0.2.1")
    with pytest.raises(services.TooMany):
        Citizen().wants("b@example.org", origin="192.0.2.1")
    Citizen().wants("c@example.org", origin="192.0.2.2")


# ---- by REST


class Program(Integrator):
    """A program whose citizen waits for a person."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = desk.ask("Who helps?", {"judgement_v1": desk.BAD}, secret=self.token)
        self.mail = f"/api/v1/turns/{self.turn.pk}/mail/"


def test_programs_do_the_same(published: None, office: PostOffice) -> None:
    program = Program()
    path = f"/api/v1/turns/{program.turn.pk}/"
    assert program.get(path).json()["mail"] == "offered"
    put = program.call("PUT", program.mail, {"address": ADDRESS}, **{"Accept-Language": "de"})
    assert (put.status_code, put.json()["mail"]) == (200, "asked")
    assert ADDRESS not in put.content.decode()
    work()
    assert office.newest()["Content-Language"] == "de"
    Client().post(links(office.newest())[0])
    assert program.get(path).json()["mail"] == "confirmed"
    assert program.call("DELETE", program.mail).status_code == 204
    assert program.call("DELETE", program.mail).status_code == 404
    assert MailRequest.objects.get().address == ""


def test_programs_are_told_what_is_wrong(
    published: None, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program()
    bad = program.call("PUT", program.mail, {"address": "ana"})
    assert (bad.status_code, "name@example.org" in bad.json()["detail"]) == (422, True)
    bodies: tuple[Any, ...] = ({}, {"address": 1}, {"address": ADDRESS, "more": 1}, [])
    for body in bodies:
        assert program.call("PUT", program.mail, body).status_code == 400
    lone = program.call("PUT", program.mail, b'{"address": "a@ex\\ud800.org"}')
    assert lone.status_code in (400, 422)
    other = Program()
    assert program.call("PUT", other.mail, {"address": ADDRESS}).status_code == 404
    set_rates(monkeypatch, mail="1/day")
    program.call("PUT", program.mail, {"address": ADDRESS})
    many = program.call("PUT", program.mail, {"address": ADDRESS})
    assert (many.status_code, "Retry-After" in many.headers) == (429, True)
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": ""})
    assert other.call("PUT", other.mail, {"address": ADDRESS}).status_code == 404
    assert other.get(f"/api/v1/turns/{other.turn.pk}/").json()["mail"] == "none"


def test_a_citizen_without_their_turn_is_refused_like_any(
    published: None, office: PostOffice
) -> None:
    citizen = Citizen()
    Turn.objects.filter(pk=citizen.turn.pk).update(state="closed")
    with pytest.raises((Refused, services.NotOffered)):
        citizen.wants()
