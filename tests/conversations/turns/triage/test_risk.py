"""A message in a crisis: contacts at once, a person before any reply, whatever the model says."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from conversations import selectors
from conversations.models import Reply
from conversations.turns import services
from ieim.audit.models import AuditEvent
from review.models import ReviewItem
from tests.conversations.chat.page.test_views import page, send, visitor
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

CRISIS = f"{VISA}, if not I will kill myself"


def test_it_shows_them_on_the_page_without_javascript(published: None) -> None:
    client = visitor()
    send(client, CRISIS)
    html = page(client.get("/"))
    assert html.index("Please get help now") < html.index("Reading your question")


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Je veux mourir, je ne veux plus continuer comme ça.", "fr", "Ligne d’écoute"),
        ("Ich will sterben, ich halte das alles nicht mehr aus.", "de", "Zuhörtelefon"),
        ("أريد أن أموت ولا أستطيع أن أعيش هكذا بعد اليوم", "ar", "خط الإصغاء"),
        ("Non voglio più vivere, non ce la faccio più davvero.", "en", "Listening Line"),
    ],
)
def test_it_shows_them_in_the_citizens_language_where_there_are_any(
    published: None, text: str, language: str, expected: str
) -> None:
    client = visitor()
    turn = send(client, text)
    assert expected in selectors.turn_view(turn.pk).contact_texts[0]
    match = re.search(
        r'<p class="govuk-body" lang="(..)" dir="auto">([^<]*)', page(client.get("/"))
    )
    assert match is not None
    assert (match[1], "112" in page(client.get("/"))) == (language, True)


def test_it_holds_the_reply_although_every_stage_passed(ask: Ask) -> None:
    turn = ask(CRISIS)
    assert turn.state == "needs_review"
    assert not Reply.objects.exists()
    item = ReviewItem.objects.get()
    assert (item.stage, item.reasons, item.priority) == ("reply", ["policy.risk"], 1)
    assert [stage.status for stage in turn.stages.all()][-1] == "passed"


def test_it_shows_staff_the_words_that_raised_it(ask: Ask, admin_client: Client) -> None:
    ask(CRISIS)
    html = page(admin_client.get(reverse("review:item", args=[ReviewItem.objects.get().pk])))
    assert re.search(r'<mark class="mark mark--risk[^>]*>(<(mark|bdi)[^>]*>)*kill myself<', html)
    assert re.search(r'mark--risk">Risk</span> (<bdi>)?Self-harm or suicide', html)


def test_it_keeps_the_risk_beside_another_reason(ask: Ask) -> None:
    with scripted_model({"judgement_v1": ["no", "no"]}) as (model, _):
        ask(CRISIS, model=model)
    item = ReviewItem.objects.get()
    assert (item.stage, item.priority) == ("judgement_v1", 1)
    assert item.reasons == ["policy.risk", "json.syntax"]


def test_it_gives_a_person_to_who_asks_for_one(ask: Ask) -> None:
    turn = ask(f"{VISA}. No, I want to talk to a person")
    assert (turn.state, turn.risks[0]["code"]) == ("needs_review", "person_wanted")
    assert ReviewItem.objects.get().reasons == ["policy.risk"]


def test_it_audits_the_flag_and_not_the_words(published: None) -> None:
    turn = services.receive(session="a", text=CRISIS, enqueue=False)[0]
    event = AuditEvent.objects.get(chain=turn.session_id)
    assert json.loads(event.payload)["risk_flags"] == ["self_harm"]
    assert "kill" not in event.payload
