"""How an event arrives: signed, once, again after a failure, and never anywhere else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from conversations import sweeper
from conversations.models import Delivery, Session, Turn, Webhook
from conversations.tasks import deliver
from conversations.turns import services as turns
from conversations.webhooks import delivering, outbox, sending, services, signing
from ieim.audit.models import AuditEvent
from tests.conversations.webhooks import receiving
from tests.conversations.webhooks.receiving import (
    NAME,
    Receiver,
    closing,
    receiver,
    trickling,
    verified,
    work,
)

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("db")]
office, queued = receiving.office, receiving.queued


def event() -> Delivery:
    """An event of a turn that waits for a person."""
    session = Session.objects.create(
        reference=turns.new_reference(), secret_sha256=turns.secret_digest(turns.new_secret())
    )
    outbox.subscribe(session, NAME)
    turn = Turn.objects.create(
        session=session,
        number=1,
        text="My question",
        state="needs_review",
        release_number=1,
        queued_at=timezone.now(),
    )
    outbox.tell(turn)
    return Delivery.objects.latest("happened_at")


def due(delivery: Delivery) -> None:
    """Let the time of the next try come."""
    Delivery.objects.filter(pk=delivery.pk).update(due_at=timezone.now())


def tried(delivery: Delivery, times: int) -> None:
    for _ in range(times):
        due(delivery)
        work()


def kinds() -> list[str]:
    found = AuditEvent.objects.filter(kind__startswith="webhook.").order_by("pk")
    return list(found.values_list("kind", flat=True))


@pytest.fixture
def secret(office: Receiver) -> str:
    return signing.secret(Webhook.objects.get())


def test_it_is_signed(office: Receiver, secret: str) -> None:
    delivery = event()
    work()
    [(headers, body)] = office.got
    assert headers["webhook-id"] == str(delivery.pk)
    assert headers["content-type"] == "application/json"
    assert verified(secret, headers, body)


@pytest.mark.parametrize("part", ["body", "webhook-id", "webhook-timestamp", "secret"])
def test_a_signature_fails_when_anything_was_changed(
    office: Receiver, secret: str, part: str
) -> None:
    event()
    work()
    headers, body = office.got[0]
    other = signing.secret(Webhook.objects.get(), 7) if part == "secret" else secret
    body += b" " if part == "body" else b""
    if part in headers:
        headers[part] = headers[part][:-1] + ("0" if headers[part][-1] != "0" else "1")
    assert not verified(other, headers, body)


def test_a_new_secret_and_the_old_one_sign_for_a_day(office: Receiver, secret: str) -> None:
    new = services.rotate(name=NAME)
    assert new != secret
    event()
    work()
    assert verified(new, *office.got[0])
    assert verified(secret, *office.got[0])
    Webhook.objects.update(rotated_at=timezone.now() - signing.OVERLAP)
    event()
    work()
    assert verified(new, *office.got[1])
    assert not verified(secret, *office.got[1])


def test_the_database_does_not_know_the_secret(office: Receiver, secret: str) -> None:
    stored = str(list(Webhook.objects.values())) + str(list(AuditEvent.objects.values()))
    assert secret.removeprefix("whsec_") not in stored


@pytest.mark.django_db(transaction=True)
def test_two_workers_deliver_once(
    office: Receiver, queued: list[str], in_threads: Callable[[list[Callable[[], Any]]], list[Any]]
) -> None:
    delivery = event()
    office.held = threading.Event()
    first = threading.Thread(target=closing, args=(str(delivery.pk),))
    first.start()
    assert office.came.wait(30)
    closing(str(delivery.pk))
    office.held.set()
    first.join()
    in_threads([lambda: delivering.deliver(delivery_id=delivery.pk)] * 2)
    assert office.told == ["held"]
    assert not Delivery.objects.exists()


def test_a_failure_is_tried_again_with_the_same_id(office: Receiver) -> None:
    delivery = event()
    office.status = 500
    work()
    delivery.refresh_from_db()
    assert (delivery.tries, delivery.trouble) == (1, "status-500")
    work()  # it is not due
    assert len(office.got) == 1
    office.status = 204
    due(delivery)
    work()
    assert [headers["webhook-id"] for headers, _ in office.got] == [str(delivery.pk)] * 2
    assert not Delivery.objects.exists()


def test_the_pauses_grow_over_a_day(office: Receiver) -> None:
    delivery = event()
    office.status = 500
    waits = []
    for _ in delivering.PAUSES:
        tried(delivery, 1)
        delivery.refresh_from_db()
        waits.append(delivery.due_at - timezone.now())
    assert waits == sorted(waits)
    assert timedelta(days=1) * 0.9 < sum(waits, timedelta()) < timedelta(days=2)
    assert kinds() == ["webhook.made"]
    tried(delivery, 1)
    delivery.refresh_from_db()
    assert delivery.given_up_at is not None
    assert kinds() == ["webhook.made", "webhook.given_up"]
    tried(delivery, 1)
    assert len(office.got) == len(delivering.PAUSES) + 1


def test_what_was_given_up_is_sent_again(office: Receiver, queued: list[str]) -> None:
    delivery = event()
    services.give_up(delivery_id=delivery.pk, trouble="timeout")
    assert services.send_again(deliveries=[delivery.pk]) == 1
    work()
    assert office.told == ["held"]
    assert kinds() == ["webhook.made", "webhook.given_up", "webhook.sent_again"]
    assert services.send_again(deliveries=[delivery.pk]) == 0


def test_gone_ends_all(office: Receiver) -> None:
    first, second = event(), event()
    office.status = 410
    deliver(str(first.pk))
    assert Webhook.objects.get().stopped_at is not None
    assert Delivery.objects.filter(given_up_at=None).count() == 0
    outbox.tell(first.turn)
    assert Delivery.objects.count() == 2
    assert services.send_again(deliveries=[first.pk, second.pk]) == 0
    assert len(office.got) == 1
    assert sorted(kinds()) == [
        *("webhook.given_up", "webhook.given_up", "webhook.made", "webhook.stopped")
    ]
    services.start(name=NAME)
    office.status = 204
    assert services.send_again(deliveries=[first.pk, second.pk]) == 2
    work()
    assert len(office.got) == 3


def test_a_redirect_is_not_followed(office: Receiver) -> None:
    delivery = event()
    with receiver() as elsewhere:
        for status in (302, 303, 307):
            office.status, office.headers = status, {"Location": elsewhere.url}
            tried(delivery, 1)
            delivery.refresh_from_db()
            assert delivery.trouble == f"status-{status}"
        assert elsewhere.got == []


def test_a_receiver_that_hangs_times_out(office: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "DEADLINE", 0.3)
    office.held = threading.Event()
    delivery = event()
    work()
    delivery.refresh_from_db()
    assert delivery.trouble == "timeout"


def test_a_receiver_that_sends_a_byte_now_and_then_times_out(
    office: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "DEADLINE", 1.0)
    with trickling() as url:
        Webhook.objects.update(url=url)
        delivery = event()
        work()
    delivery.refresh_from_db()
    assert delivery.trouble == "timeout"


def test_nobody_there_is_a_failure_like_others(office: Receiver) -> None:
    Webhook.objects.update(url="http://127.0.0.1:9/")
    delivery = event()
    work()
    delivery.refresh_from_db()
    assert (delivery.tries, delivery.trouble) == (1, "connection")


@pytest.mark.django_db(transaction=True)
def test_too_many_that_hang_are_left_to_the_sweeper(
    office: Receiver, queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "_places", threading.BoundedSemaphore(1))
    delivery = event()
    with delivering._places:
        work()
    assert office.got == []
    queued.clear()
    sweeper.sweep()
    assert queued == [str(delivery.pk)]
    work()
    assert office.told == ["held"]


@pytest.mark.django_db(transaction=True)
def test_what_a_broker_forgot_is_swept(office: Receiver, queued: list[str]) -> None:
    delivery = event()
    assert queued == [str(delivery.pk)]
    queued.clear()  # the broker has forgotten it
    sweeper.sweep()
    assert queued == [str(delivery.pk)]
    Delivery.objects.update(due_at=timezone.now() + delivering.CLAIM)
    queued.clear()  # a worker has it
    sweeper.sweep()
    assert queued == []
    sweeper.sweep(now=timezone.now() + 2 * delivering.CLAIM)
    assert queued == [str(delivery.pk)]  # that worker is gone


@pytest.mark.parametrize(
    ("url", "private", "trouble"),
    [
        ("http://127.0.0.1:{port}/", False, "address"),
        ("http://127.0.0.1:{port}/", True, "address"),
        ("https://127.0.0.1:{port}/", False, "address"),
        ("https://localhost:{port}/", False, "address"),
        ("https://[::ffff:127.0.0.1]:{port}/", False, "address"),
        ("https://10.0.0.1/", False, "address"),
        ("https://169.254.169.254/latest/", False, "address"),
        ("https://169.254.169.254/latest/", True, "address"),
        ("https://[fe80::1]/", True, "address"),
        ("https://[64:ff9b::7f00:1]/", False, "address"),
        ("https://[64:ff9b::a9fe:a9fe]/", True, "address"),
        ("https://[64:ff9b:1::a9fe:a9fe]/", False, "address"),
        ("https://[64:ff9b:1::a9fe:a9fe]/", True, "address"),
        ("https://[2002:7f00:1::]/", True, "address"),
        ("https://[2001:0:a9fe:a9fe::]/", True, "address"),
        ("https://[fd00:ec2::254]/", True, "address"),
        ("https://[fec0::1]/", False, "address"),
        ("https://[::127.0.0.1]/", False, "address"),
        ("https://0.0.0.0:{port}/", True, "address"),
        # What is let in there speaks no TLS.
        ("https://127.0.0.1:{port}/", True, "connection"),
    ],
)
def test_production_sends_nothing_into_the_operators_network_unless_let(
    office: Receiver, monkeypatch: pytest.MonkeyPatch, url: str, private: bool, trouble: str
) -> None:
    monkeypatch.setattr(settings, "PRODUCTION", True)
    port = office.url.rpartition(":")[2].partition("/")[0]
    Webhook.objects.update(url=url.format(port=port), private=private)
    delivery = event()
    work()
    delivery.refresh_from_db()
    assert delivery.trouble == trouble
    assert office.got == []
