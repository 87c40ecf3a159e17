"""What operators are told of an outage, when, and how often."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.utils import timezone

from conversations import sweeper, tasks
from conversations.models import Outage, Turn
from conversations.outages import alerts, services
from conversations.turns import running
from ieim.pipeline.ports import ModelUnavailable
from tests.conversations.mail.mailing import SITE, PostOffice
from tests.conversations.outages.conftest import OPERATORS
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

Work = Callable[..., None]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Work:
    """Let time pass for the outage, and sweep; what is queued comes to two workers."""

    def send_task(name: str, args: tuple[str, ...], **_options: object) -> None:
        if name == alerts.SEND_ALERT:
            tasks.send_alert(args[0])
            tasks.send_alert(args[0])

    def work(**ago: timedelta) -> None:
        if ago:
            Outage.objects.update(**{name: timezone.now() - result for name, result in ago.items()})
        with django_capture_on_commit_callbacks(execute=True):
            sweeper.sweep()

    monkeypatch.setattr(current_app, "send_task", send_task)
    return work


def body(office: PostOffice) -> str:
    result = office.newest().get_content()
    assert isinstance(result, str)
    return result


def test_operators_are_told_once_that_it_lasts_and_once_that_it_is_over(
    ask: Ask, office: PostOffice, work: Work
) -> None:
    with scripted_model({}) as (model, server):
        server.down = True
        turn = ask(VISA, model=model)
        ask(VISA, model=model)
        work()
        assert office.inbox == []
        for _ in range(3):
            work(began_at=timedelta(minutes=3))
        assert len(office.inbox) == 1
        message = office.newest()
        assert office.envelopes[0][1] == OPERATORS
        assert message["Subject"] == "IEIM: the model gives no answers"
        assert message["Auto-Submitted"] == "auto-generated"
        assert "The model server fails. HTTP status 503." in body(office)
        assert "2 questions wait." in body(office)
        assert f"{SITE}/review/metrics/" in body(office)
        assert VISA not in body(office)

        server.down = False
        Turn.objects.update(retry_at=timezone.now())
        running.run_turn(turn_id=turn.pk, model=model)
        work()
        assert len(office.inbox) == 1
        for _ in range(3):
            work(ended_at=timedelta(minutes=3))
        assert len(office.inbox) == 2
        assert office.newest()["Subject"] == "IEIM: the model answers again"


@pytest.mark.parametrize("status", [401, 404])
def test_of_a_wrong_setting_they_are_told_at_once(
    published: None, office: PostOffice, work: Work, status: int
) -> None:
    services.note_failure(ModelUnavailable("refused", status=status, passing=False))
    work()
    assert len(office.inbox) == 1
    assert "Check IEIM_MODEL_" in body(office)


def test_of_a_short_one_they_are_told_nothing(
    published: None, office: PostOffice, work: Work
) -> None:
    services.note_failure(ModelUnavailable("down", status=503))
    work(began_at=timedelta(minutes=5), ended_at=timedelta(minutes=4))
    assert office.inbox == []


def test_what_the_mail_server_does_not_take_is_sent_later(
    published: None, office: PostOffice, work: Work
) -> None:
    office.refusals = [("DATA", "451 later")]
    services.note_failure(ModelUnavailable("refused", status=401, passing=False))
    work()
    work()
    assert office.inbox == []
    work(leased_until=timedelta(seconds=1))
    assert len(office.inbox) == 1


def test_one_that_begins_again_while_its_end_is_told_is_told_of_again(
    published: None, office: PostOffice, work: Work
) -> None:
    down = ModelUnavailable("refused", status=401, passing=False)
    services.note_failure(down)
    work()
    office.on_data = lambda: Outage.objects.update(ended_at=None)
    work(ended_at=timedelta(minutes=3))
    assert Outage.objects.get().end_notified_at is None


def test_nobody_is_told_where_no_address_is_set(
    published: None, office: PostOffice, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings.IEIM_MAIL, "OPERATORS", [])
    services.note_failure(ModelUnavailable("refused", status=401, passing=False))
    work()
    assert office.inbox == []
