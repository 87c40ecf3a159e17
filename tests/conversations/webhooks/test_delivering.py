"""Delivery of events: signed, once, again after a failure, and to allowed addresses only."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from conversations import sweeper
from conversations.models import Delivery, Webhook
from conversations.tasks import deliver
from conversations.webhooks import delivering, outbox, sending, services, signing
from ieim.audit.models import AuditEvent
from tests.conversations.webhooks import receiving
from tests.conversations.webhooks.receiving import (
    NAME,
    Receiver,
    create_delivery,
    deliver_all,
    deliver_in_thread,
    is_verified,
    running_receiver,
)

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("db")]
office, queued = receiving.office, receiving.queued


def attempt(delivery: Delivery) -> Delivery:
    """Make a delivery due and run all tasks; return it as it is then."""
    Delivery.objects.filter(pk=delivery.pk).update(due_at=timezone.now())
    deliver_all()
    delivery.refresh_from_db()
    return delivery


def audit_kinds() -> list[str]:
    events = AuditEvent.objects.filter(kind__startswith="webhook.").order_by("pk")
    return list(events.values_list("kind", flat=True))


@pytest.fixture
def secret(office: Receiver) -> str:
    return signing.secret(Webhook.objects.get())


def test_an_event_is_signed(office: Receiver, secret: str) -> None:
    delivery = create_delivery()
    deliver_all()
    [(headers, body)] = office.requests
    assert headers["webhook-id"] == str(delivery.pk)
    assert headers["content-type"] == "application/json"
    assert is_verified(secret, headers, body)
    assert not is_verified(secret, headers, body + b" ")
    assert not is_verified(signing.secret(Webhook.objects.get(), 7), headers, body)
    for name in ("webhook-id", "webhook-timestamp"):
        changed = headers[name][:-1] + ("0" if headers[name][-1] != "0" else "1")
        assert not is_verified(secret, {**headers, name: changed}, body)


def test_the_old_secret_signs_too_for_a_day(office: Receiver, secret: str) -> None:
    new_secret = services.rotate(name=NAME)
    create_delivery()
    deliver_all()
    Webhook.objects.update(rotated_at=timezone.now() - signing.OVERLAP)
    create_delivery()
    deliver_all()
    assert [is_verified(new_secret, *request) for request in office.requests] == [True, True]
    assert [is_verified(secret, *request) for request in office.requests] == [True, False]


def test_the_database_does_not_have_the_secret(secret: str) -> None:
    stored = str(list(Webhook.objects.values())) + str(list(AuditEvent.objects.values()))
    assert secret.removeprefix("whsec_") not in stored


@pytest.mark.django_db(transaction=True)
def test_two_workers_deliver_once(
    office: Receiver, queued: list[str], in_threads: Callable[[list[Callable[[], Any]]], list[Any]]
) -> None:
    delivery = create_delivery()
    office.gate = threading.Event()
    first = threading.Thread(target=deliver_in_thread, args=(str(delivery.pk),))
    first.start()
    assert office.arrived.wait(30)
    deliver_in_thread(str(delivery.pk))
    office.gate.set()
    first.join()
    in_threads([lambda: delivering.deliver(delivery_id=delivery.pk)] * 2)
    assert office.events == ["held"]
    assert not Delivery.objects.exists()


def test_a_failed_delivery_is_tried_again_with_the_same_id(office: Receiver) -> None:
    delivery = create_delivery()
    office.status = 500
    attempt(delivery)
    assert (delivery.tries, delivery.trouble) == (1, "status-500")
    deliver_all()  # it is not due
    assert len(office.requests) == 1
    office.status = 204
    with pytest.raises(Delivery.DoesNotExist):
        attempt(delivery)
    assert [headers["webhook-id"] for headers, _ in office.requests] == [str(delivery.pk)] * 2


def test_a_delivery_is_given_up_after_a_day(office: Receiver) -> None:
    delivery = create_delivery()
    office.status = 500
    delays = [attempt(delivery).due_at - timezone.now() for _ in delivering.RETRY_DELAYS]
    assert delays == sorted(delays)
    assert timedelta(days=1) * 0.9 < sum(delays, timedelta()) < timedelta(days=2)
    assert audit_kinds() == ["webhook.made"]
    assert attempt(delivery).given_up_at is not None
    assert audit_kinds() == ["webhook.made", "webhook.given_up"]
    attempt(delivery)
    assert len(office.requests) == len(delivering.RETRY_DELAYS) + 1


def test_410_stops_the_webhook(office: Receiver) -> None:
    deliveries = [create_delivery(), create_delivery()]
    office.status = 410
    deliver(str(deliveries[0].pk))
    assert Webhook.objects.get().stopped_at is not None
    assert Delivery.objects.filter(given_up_at=None).count() == 0
    outbox.notify(deliveries[0].turn)
    assert Delivery.objects.count() == 2
    assert [services.send_again(delivery_id=delivery.pk) for delivery in deliveries] == [
        False,
        False,
    ]
    assert len(office.requests) == 1
    assert sorted(audit_kinds()) == [
        *("webhook.given_up", "webhook.given_up", "webhook.made", "webhook.stopped")
    ]
    services.start(name=NAME)
    office.status = 204
    assert [services.send_again(delivery_id=delivery.pk) for delivery in deliveries] == [True, True]
    assert [services.send_again(delivery_id=delivery.pk) for delivery in deliveries] == [
        False,
        False,
    ]
    deliver_all()
    assert office.events == ["held"] * 3
    assert audit_kinds()[-2:] == ["webhook.sent_again"] * 2


def test_a_redirect_is_not_followed(office: Receiver) -> None:
    delivery = create_delivery()
    with running_receiver() as other:
        for status in (302, 303, 307):
            office.status, office.headers = status, {"Location": other.url}
            assert attempt(delivery).trouble == f"status-{status}"
    assert other.requests == []


def test_a_receiver_that_hangs_times_out(office: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "DEADLINE", 0.3)
    office.gate = threading.Event()
    assert attempt(create_delivery()).trouble == "timeout"


def test_a_receiver_that_sends_a_byte_now_and_then_times_out(
    office: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                self.request.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not is_over.wait(0.05):
                    self.request.sendall(b"x")

    monkeypatch.setattr(sending, "DEADLINE", 1.0)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Webhook.objects.update(url=f"http://127.0.0.1:{server.server_address[1]}/")
        assert attempt(create_delivery()).trouble == "timeout"
        is_over.set()
        server.shutdown()


def test_a_receiver_that_is_away_is_a_failure(office: Receiver) -> None:
    Webhook.objects.update(url="http://127.0.0.1:9/")
    delivery = attempt(create_delivery())
    assert (delivery.tries, delivery.trouble) == (1, "connection")


@pytest.mark.django_db(transaction=True)
def test_deliveries_without_a_free_slot_are_left_to_the_sweeper(
    office: Receiver, queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "_slots", threading.BoundedSemaphore(1))
    delivery = create_delivery()
    with delivering._slots:
        deliver_all()
    assert office.events == []
    queued.clear()
    sweeper.sweep()
    assert queued == [str(delivery.pk)]
    deliver_all()
    assert office.events == ["held"]


@pytest.mark.django_db(transaction=True)
def test_the_sweeper_queues_what_a_broker_or_a_worker_lost(
    office: Receiver, queued: list[str]
) -> None:
    delivery = create_delivery()
    assert queued == [str(delivery.pk)]
    sweeper.sweep()
    assert queued == [str(delivery.pk)] * 2
    Delivery.objects.update(due_at=timezone.now() + delivering.CLAIM)
    sweeper.sweep()
    assert len(queued) == 2
    sweeper.sweep(now=timezone.now() + 2 * delivering.CLAIM)
    assert len(queued) == 3


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
        # Allowed, but that receiver speaks no TLS.
        ("https://127.0.0.1:{port}/", True, "connection"),
    ],
)
def test_production_sends_nothing_into_private_networks_unless_allowed(
    monkeypatch: pytest.MonkeyPatch, url: str, private: bool, trouble: str
) -> None:
    monkeypatch.setattr(settings, "PRODUCTION", True)
    with running_receiver() as receiver:
        address = url.format(port=receiver.server.server_port)
        with pytest.raises(sending.DeliveryError, match=trouble):
            sending.send(address, private=private, headers={}, body=b"{}")
    assert receiver.requests == []
