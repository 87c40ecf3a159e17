"""Alerts: each cause is sent once by each way, without a citizen's words, and ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from conversations.models import Webhook
from conversations.webhooks import sending as calls
from ieim.people.models import User
from review import tasks
from review.board import alerts
from review.models import CRISIS, Alert, ReviewItem
from tests.conversations.mail.conftest import use
from tests.conversations.mail.mailing import PostOffice, post_office
from tests.review.board.conftest import THEIRS, Make
from tests.review.people import browser

Sweep = Callable[[], None]


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[PostOffice]:
    """A mail server, and leads who want to know."""
    with post_office() as running:
        use(monkeypatch, running.port)
        settings.IEIM_ALERT_MAIL = ["leads@example.org"]
        yield running


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Sweep:
    """Let a minute pass and sweep; what is queued comes to two workers."""

    def send_task(name: str, *_args: object, **_options: object) -> None:
        if name == alerts.SEND:
            tasks.send_alerts()
            tasks.send_alerts()

    def sweep() -> None:
        cache.delete("board.alerts")
        with django_capture_on_commit_callbacks(execute=True):
            alerts.sweep(now=timezone.now())

    cache.delete("board.alerts.due")
    monkeypatch.setattr(current_app, "send_task", send_task)
    return sweep


def open_for(item: ReviewItem, minutes: int) -> None:
    ReviewItem.objects.filter(pk=item.pk).update(
        opened_at=timezone.now() - timedelta(minutes=minutes)
    )


def test_unseen_danger_is_sent_once_and_anew_for_another(
    make: Make, office: PostOffice, sweep: Sweep
) -> None:
    danger = make(rank=CRISIS)
    sweep()
    assert office.inbox == []
    open_for(danger, 6)
    sweep()
    sweep()
    assert len(office.inbox) == 1
    text = office.newest().get_content()
    assert "1 message that shows danger waits, and nobody works on it." in text
    assert "/review/board/" in text
    assert danger.turn.text not in text
    open_for(make(rank=CRISIS), 6)
    sweep()
    assert len(office.inbox) == 2


def test_a_cause_that_is_over_ends(make: Make, office: PostOffice, sweep: Sweep) -> None:
    item = make(minutes=-1)
    sweep()
    assert Alert.objects.get().cause == f"due {item.pk.hex}"
    ReviewItem.objects.update(state="decided", decided_at=timezone.now())
    sweep()
    assert not Alert.objects.exists()
    assert len(office.inbox) == 1


def test_what_is_due_is_sent_once_in_half_an_hour(
    make: Make, office: PostOffice, sweep: Sweep
) -> None:
    for _ in range(2):
        make(minutes=-1)
        sweep()
    assert Alert.objects.count() == 1
    assert len(office.inbox) == 1


def test_many_that_are_due_are_one_cause(
    make: Make, office: PostOffice, sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts, "MOST_DUE", 2)
    for _ in range(3):
        make(minutes=-1)
    sweep()
    make(minutes=-1)
    cache.delete("board.alerts.due")
    sweep()
    assert Alert.objects.get().cause == alerts.MANY_DUE
    assert len(office.inbox) == 1
    assert "More than 2 items are overdue or soon due." in office.newest().get_content()


def test_five_that_stop_alike_are_one_cause(make: Make, office: PostOffice, sweep: Sweep) -> None:
    for _ in range(4):
        make()
    sweep()
    assert office.inbox == []
    items = [make(), make()]
    sweep()
    open_for(items[0], 11)
    open_for(items[1], 11)
    sweep()  # only four are left: it goes on, and is not sent again when there are five
    make()
    sweep()
    assert len(office.inbox) == 1


def test_the_webhook_gets_a_signed_call_and_a_failure_is_tried_again(
    make: Make, sweep: Sweep, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.IEIM_ALERT_WEBHOOK = "desk"
    Webhook.objects.create(name="desk", url="https://desk.example.org/", created_at=timezone.now())
    sent: list[tuple[str, Any]] = []

    def send(url: str, *, headers: Any, body: bytes, **_rest: object) -> None:
        sent.append((headers["webhook-signature"], json.loads(body)))
        if len(sent) == 1:
            raise calls.DeliveryError("status-500")

    monkeypatch.setattr(calls, "send", send)
    make(minutes=-1)
    sweep()
    sweep()
    assert len(sent) == 1
    Alert.objects.update(leased_until=timezone.now())
    sweep()
    sweep()
    assert len(sent) == 2
    assert sent[1][0].startswith("v1,")
    assert sent[1][1]["data"]["alerts"] == {"due": "1 item is overdue or soon due."}


def test_a_page_is_given_only_what_its_reader_sees(make: Make, eva: User, max_: User) -> None:
    item = make(THEIRS, minutes=-1)
    address = reverse("review:board_alerts")
    assert browser(eva).get(address).json() == {"causes": [], "sentences": {}}
    assert browser(max_).get(address).json()["causes"] == [f"due {item.pk.hex}"]
