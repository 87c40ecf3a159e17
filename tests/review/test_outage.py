"""An outage of the model, as the staff's pages say it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import Outage, Turn
from conversations.outages import services
from conversations.turns import running
from conversations.turns.moves import GIVE_UP_ON_MODEL
from ieim.audit.models import AuditEvent
from ieim.people.roles import Role
from ieim.pipeline.ports import ModelUnavailable
from review import claims
from review.models import CRISIS, ReviewItem
from review.services import retry_after_outage
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk
from tests.review.batches.test_batches import states
from tests.review.people import browser, person

QUEUE, METRICS = reverse("review:queue"), reverse("review:metrics")
SINCE = "The model has given no answers since"


def test_queue_and_metrics_say_why_and_how_many_wait_until_it_is_over(ask: Ask) -> None:
    pages: list[tuple[Client, str]] = [
        (browser(person("eva", Role.CASEWORKER, "immigration")), QUEUE),
        (browser(person("ada", Role.AUDITOR)), METRICS),
    ]
    with scripted_model({}) as (model, server):
        for client, page in pages:
            assert SINCE not in client.get(page).content.decode()
        server.script["judgement_v1"] = [401] * 2
        ask(VISA, model=model)
        ask(VISA, model=model)
        for client, page in pages:
            html = client.get(page).content.decode()
            assert SINCE in html
            assert "does not accept this site’s key. HTTP status 401." in html
            assert "2 questions wait for it." in html
            assert "has not been told by e-mail" in html
        Outage.objects.update(ended_at=timezone.now())
        for client, page in pages:
            assert SINCE not in client.get(page).content.decode()


def test_an_open_queue_shows_it_once_and_takes_it_away(published: None) -> None:
    client = browser(person("eva", Role.CASEWORKER, "immigration"))

    def news(address: str) -> str:
        return client.get(address).content.decode()

    def next_address(html: str) -> str:
        match = re.search(r'hx-get="([^"]*changes[^"]+)"', html)
        assert match is not None
        return match[1].replace("&amp;", "&")

    address = next_address(news(QUEUE))
    assert news(address) == ""
    services.note_failure(ModelUnavailable("down", status=503))
    result = news(address)
    assert 'id="outage" hx-swap-oob="innerHTML"' in result
    assert SINCE in result
    address = next_address(result)
    services.note_failure(ModelUnavailable("down", status=503))
    assert news(address) == ""
    Outage.objects.update(ended_at=timezone.now())
    result = news(address)
    assert re.search(r'id="outage" hx-swap-oob="innerHTML">\s*</div>', result)
    assert 'id="outage"' not in news(next_address(result).replace("known=", "known=x"))


def away(ask: Ask, model: Any, text: str = VISA) -> ReviewItem:
    """An item of a question that waited for the model for too long."""
    turn = ask(text, model=model)
    Turn.objects.filter(pk=turn.pk).update(
        unavailable_since=timezone.now() - GIVE_UP_ON_MODEL, retry_at=timezone.now()
    )
    running.run_turn(turn_id=turn.pk, model=model)
    return ReviewItem.objects.get(turn=turn, stage="reply")


def test_the_items_of_an_outage_are_asked_again_once_it_has_ended(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        server.down = True
        item, claimed, later = away(ask, model), away(ask, model), away(ask, model)
        danger = away(ask, model, "My son is unconscious and does not breathe. Help?")
        eva = desk.person("eva")
        desk.take(later, eva)
        until = timezone.now() + timedelta(minutes=5)
        claims.snooze(item_id=later.pk, actor=eva, until=until, is_confirmed=True)
        desk.take(claimed, eva)
        retry_after_outage()
        assert states([item, claimed, danger]) == ["open", "claimed", "open"], "it lasts"
        Outage.objects.update(ended_at=timezone.now())
        server.down = False
        retry_after_outage()
        assert states([item, claimed, danger]) == ["decided", "claimed", "open"]
        assert states([later]) == ["open"], "it is put away"
        event = AuditEvent.objects.get(kind="review.retried")
        assert (event.actor, str(item.pk) in event.payload) == ("system", True)
        running.run_turn(turn_id=item.turn_id, model=model)
        item.turn.refresh_from_db()
        assert item.turn.state == "answered"
        assert danger.rank == CRISIS


def test_what_fails_once_more_stays_with_a_person(ask: Ask) -> None:
    with scripted_model({}) as (model, server):
        server.down = True
        item = away(ask, model)
        Outage.objects.update(ended_at=timezone.now())
        retry_after_outage()
        Turn.objects.filter(pk=item.turn_id).update(
            unavailable_since=timezone.now() - GIVE_UP_ON_MODEL
        )
        running.run_turn(turn_id=item.turn_id, model=model)
        again = ReviewItem.objects.get(turn=item.turn_id, state="open")
        Outage.objects.update(ended_at=timezone.now())
        retry_after_outage()
        assert states([again]) == ["open"]
