"""Items that one person alone does not settle: signatures, and a second opinion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conversations.models import Reply
from ieim.people.models import User
from review.models import Action, ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BABY, BAD, the_item, words
from tests.review.item.test_decide import ANSWER, Desk
from tests.review.people import browser
from tests.review.reviewing import Reviewer

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def eva() -> User:
    return desk.person("eva", *desk.ALL)


def test_it_collects_the_signatures_of_all_agencies() -> None:
    turn = desk.ask(BABY, {ANSWER: BAD})
    item = the_item(turn, ANSWER)
    first = Desk(item, desk.person("eva", agencies=["civil-registry"]))
    text = {"write-text": "Please come to both offices."}
    result = words(first.page("preview", "write", text))
    assert "before Social Support Fund has signed, too. After that, the citizen gets" in result
    first.send("decide", "write", text)
    ben = desk.person("ben", agencies=["social-support"])
    client = Client()
    client.force_login(ben)
    page = client.get(reverse("review:item", args=[item.pk])).content.decode()
    assert "Please come to both offices." in page
    assert "Sign for Social Support Fund" in page
    assert "Sign for National Civil Registry" not in page
    assert "A reply is ready. It leaves when each agency has signed." in page
    assert "Nobody works on this item" not in page
    version = ReviewItem.objects.get(pk=item.pk).version
    values = {"agency": "social-support", "version": version, "sign-reason": "It is right."}
    address = reverse("review:sign", args=[item.pk])
    assert client.post(address, {**values, "sign-reason": ""}).status_code == 422
    assert client.post(address, {**values, "version": 1}).status_code == 409
    assert client.post(address, values).status_code == 303
    assert Reply.objects.get(turn=turn).body["paragraphs"] == ["Please come to both offices."]


def test_it_asks_a_second_person_where_one_is_needed(eva: User) -> None:
    risky = "I want to kill myself because my tourist visa runs out. How do I extend my visa?"
    turn = desk.ask(risky, {})
    first = Desk(the_item(turn, "reply"), eva)
    text = words(first.page("preview", "approve"))
    assert "until a second person has agreed. After that, the citizen gets this reply" in text
    confirmed = {"approve-confirmed": "yes"}
    assert first.send("decide", "approve", confirmed).status_code == 303
    assert not Reply.objects.exists()
    address = reverse("review:item", args=[first.item.pk])
    waiting = words(first.client.get(address).content.decode())
    assert "eva has decided. It takes effect when a second person agrees." in waiting
    assert "You decided this item yourself." in waiting
    assert "Claim this item" not in waiting
    # A decision is undone where it is shown; the form does not offer it.
    first.item.refresh_from_db()
    assert first.send("preview", "undo").status_code == 422
    second = Desk(the_item(turn, "reply"), desk.person("ben", *desk.ALL))
    page = second.client.get(address).content.decode()
    choices = re.findall(r'name="action" id="[^"]+" value="([^"]+)"[^>]*?( checked)?>', page)
    assert [value for value, _ in choices[:3]] == ["agree", "write", "disagree"]
    checked = "A caseworker checked this answer."
    assert checked in words(second.page("preview", "agree"))
    assert second.send("decide", "agree").status_code == 303
    assert desk.run(turn).state == "answered"
    assert Reply.objects.get().origin == "model_approved"


RISKY = "I want to kill myself because my tourist visa runs out. How do I extend my visa?"


def seen_by_the_second(item: ReviewItem) -> tuple[str, str]:
    """Return what the first person decided and what the assistant had, as the second person reads
    it before they take the item; the latter empty where the two are the same."""
    ben = desk.person("ben", *desk.ALL)
    html = browser(ben).get(reverse("review:item", args=[item.pk])).content.decode()
    assert "Claim this item" in html
    section = html.split('id="second"')[1].split("</section>")[0]
    assert "eva decided: " in words(section)
    assert f"“{desk.REASON}”" in words(section)
    decided, *model = re.split(r'<div class="second__side">', section)[1:]
    return words(decided), words("".join(model))


def test_the_second_person_reads_the_text_beside_what_the_model_has(eva: User) -> None:
    turn = desk.ask(RISKY, {})
    first = Desk(the_item(turn, "reply"), eva)
    first.send("decide", "write", {"write-text": "Please call 112 now. I can help with the visa."})
    decided, model = seen_by_the_second(first.item)
    assert "Please call 112 now. I can help with the visa." in decided
    assert "Extend a tourist visa" in model


def test_the_second_person_reads_what_was_chosen_beside_what_the_model_chose(eva: User) -> None:
    turn = desk.ask(RISKY, {"category_select_v1": [unsure_topic, unsure_topic]})
    first = Desk(the_item(turn, "category_select_v1"), eva)
    topic = {"stage": "category_select_v1", "topic": "/immigration/work-visas"}
    assert first.send("decide", "override", topic).status_code == 303
    decided, model = seen_by_the_second(first.item)
    assert "Work visas" in decided
    assert "Work visas" not in model
    assert "Tourist and visitor visas (0.3" in model
    second = Desk(first.item, desk.person("ada", *desk.ALL))
    assert "Work visas" in words(second.page("preview", "agree"))


def unsure_topic(answer: dict[str, Any]) -> None:
    """Let a model choose a topic of which it is not sure."""
    for candidate in answer["categorySelection"]["candidates"].values():
        candidate["score"] = 0.3
    answer["telemetry"]["notes"] = "scored again"


def test_the_second_person_reads_that_the_citizen_gets_no_words(eva: User) -> None:
    turn = desk.ask(RISKY, {})
    first = Desk(the_item(turn, "reply"), eva)
    assert first.send("decide", "dismiss").status_code == 303
    after = words(first.client.get(reverse("review:item", args=[first.item.pk])).content.decode())
    assert "nothing has happened yet. What you decided (dismissed) waits until" in after
    assert "No words for the citizen" in seen_by_the_second(first.item)[0]


def test_what_was_approved_as_it_is_stands_there_once(eva: User) -> None:
    turn = desk.ask(RISKY, {})
    desk.taken_and_decided(the_item(turn), eva, Action.APPROVE, confirmed=True)
    decided, model = seen_by_the_second(the_item(turn))
    assert "Extend a tourist visa" in decided
    assert "It is what the assistant had, unchanged." in decided
    assert not model


def leads_on(answer: dict[str, Any]) -> None:
    """Let a model say that it is no question, and go on all the same."""
    answer.update(judgements={"inquiry": False}, assistantReply="Have a nice day, and good luck.")
    answer["nextStep"] = "agency_detect_v1"


def test_words_that_were_changed_are_marked_on_both_sides_and_in_rest(eva: User) -> None:
    turn = desk.ask(VISA, {"judgement_v1": [leads_on, leads_on]})
    item = the_item(turn)
    ReviewItem.objects.update(needs_second=True)
    says = {"judgements": {"inquiry": False}, "assistantReply": "Have a nice day, and goodbye."}
    desk.taken_and_decided(item, eva, Action.OVERRIDE, output=says)
    decided, model = seen_by_the_second(item)
    assert "Have a nice day, and [added: goodbye ] ." in decided
    assert "Have a nice day, and [left out: good luck ] ." in model
    second = Reviewer(eva).read(item).json()["second"]
    assert "Have a nice day, and goodbye." in second["decided"]
    assert "Have a nice day, and good luck." in second["model"]
    assert (second["decision"], second["sent_back"]) == (str(item.decisions.get().pk), None)


def test_a_chosen_service_stands_beside_the_one_that_the_model_chose(
    eva: User, settings: Any
) -> None:
    settings.IEIM_SECOND_OPINION = {"agencies": ["immigration"], "label_sets": []}
    turn = desk.ask(VISA, {"service_select_v1": [desk.unsure, desk.unsure]})
    other = {"agency": "civil-registry", "service": "civil-registry.register-birth"}
    desk.taken_and_decided(the_item(turn), eva, Action.SERVICE, **other)
    decided, model = seen_by_the_second(the_item(turn))
    assert "Register a birth" in decided
    assert "Extend a tourist visa" in model


def test_what_was_sent_back_shows_the_note_and_the_first_words_to_change(eva: User) -> None:
    turn = desk.ask(RISKY, {})
    text = {"write-text": "Please call 112 now. We can help."}
    Desk(the_item(turn), eva).send("decide", "write", text)
    second = Desk(the_item(turn), desk.person("ben", *desk.ALL))
    page = second.client.get(reverse("review:item", args=[second.item.pk])).content.decode()
    assert "Please call 112 now. We can help.</textarea>" in page
    assert second.send("decide", "disagree", reason="").status_code == 422
    note = "Say who can help, and when."
    assert second.send("decide", "disagree", reason=note).status_code == 303
    back = browser(eva).get(reverse("review:item", args=[second.item.pk])).content.decode()
    assert "ben sent it back, " in words(back)
    assert f"“{note}”" in words(back.split('id="second"')[1].split("</section>")[0])
    assert "Please call 112 now. We can help.</textarea>" in back
