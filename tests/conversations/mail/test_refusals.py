"""What comes of a mail server that refuses, or is gone, and of workers that end or meet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.mail import sending, services
from conversations.mail.models import MailRequest
from conversations.models import Turn
from conversations.turns import erasing
from ieim.audit.verify import verify
from tests.conversations.mail.conftest import use
from tests.conversations.mail.mailing import (
    ADDRESS,
    Citizen,
    PostOffice,
    due_now,
    fresh,
    holds,
    links,
    work,
)
from tests.services import free_port

pytestmark = pytest.mark.both_databases


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
    assert len({entry["Message-ID"] for entry in office.inbox}) == 1
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
