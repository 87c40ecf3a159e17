"""What a decision leads to before it is taken, and the texts that a person may send."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from conversations.models import Reply, Turn
from ieim.knowledge import selectors as knowledge
from review import deciding
from review.deciding import Action, Refused, Unsourced
from review.models import ReviewItem
from tests.conversations.person.asking import item_of, wants
from tests.fixtures import VISA
from tests.review import desk
from tests.review.deciding.test_deciding import AGENCY, SERVICE, reply_of
from tests.review.deciding.test_second import CRISIS
from tests.review.desk import BABY, BAD, REASON, taken_and_decided, the_item, words
from tests.review.people import browser

pytestmark = pytest.mark.usefixtures("published")


def looked_at(item: ReviewItem, action: Action, **values: str) -> str:
    """Return the words of the page that "See what happens" leads to."""
    user = desk.person("eva", *desk.ALL)
    item = desk.take(item, user)
    address = reverse("review:preview", args=[item.pk])
    draft = {"version": str(item.version), "action": action.value, "reason": REASON, **values}
    return words(browser(user).post(address, draft).content.decode())


def test_it_names_the_agency_that_gets_the_item() -> None:
    item = the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    name = knowledge.release(1).agencies["revenue"].name
    result = looked_at(item, Action.HAND_OVER, **{"hand-agency": "revenue"})
    assert f"The item goes to the queue of {name}. The citizen is told nothing yet." in result
    assert "The citizen sees nothing new yet" in result


CLOSED = "The citizen sees that this is closed"
NOTHING_NEW = "The citizen sees nothing new yet"


def test_a_dismissal_says_the_same_in_heading_and_text() -> None:
    item = the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    result = looked_at(item, Action.DISMISS)
    assert f"{CLOSED} Your question" in result
    assert "This is closed, and the citizen sees that. No answer follows." in result
    assert NOTHING_NEW not in result


def test_a_dismissal_that_waits_for_a_second_person_shows_nothing_yet() -> None:
    result = looked_at(the_item(desk.ask(CRISIS, {}), "reply"), Action.DISMISS)
    assert "Nothing happens until a second person has agreed. After that, this is closed" in result
    assert NOTHING_NEW in result
    assert CLOSED not in result


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        ("category_select_v1", f"{CLOSED}."),
        ("classify", "The citizen is told nothing: nobody waits for this."),
    ],
)
def test_the_action_says_of_a_dismissal_what_the_preview_says(stage: str, sentence: str) -> None:
    user = desk.person("eva", *desk.ALL)
    item = desk.take(the_item(desk.ask(VISA, {stage: BAD}), stage), user)
    text = words(browser(user).get(reverse("review:item", args=[item.pk])).content.decode())
    assert f"The item is done without an answer. {sentence}" in text


def test_the_heading_says_that_a_person_has_been_in_touch() -> None:
    result = looked_at(item_of(wants("a")), Action.DONE)
    assert "The citizen sees that a person has been in touch Your question" in result
    assert NOTHING_NEW not in result


def test_it_names_all_agencies_that_have_to_sign() -> None:
    turn = desk.ask(BABY, {"service_select_v1": BAD})
    eva = desk.person("eva", agencies=["civil-registry", "social-support"])
    taken_and_decided(the_item(turn), eva, Action.HAND_OVER, agency="revenue")
    payload = {"text": "Please come.", "sources": []}
    lea = desk.person("lea", agencies=["civil-registry"])
    preview = deciding.preview(
        item_id=the_item(turn).pk, actor=lea, action=Action.WRITE, payload=payload
    )
    names = "Tarrow Revenue Office and Social Support Fund"
    assert f"before {names} has signed, too." in preview.happens


def test_it_sends_what_a_person_writes_with_its_sources() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva")
    text = "Bring flowers to our office.\n\nIt costs EUR 999."
    payload = {"text": text, "sources": [{"agency": AGENCY, "service": SERVICE}]}
    seen = deciding.preview(
        item_id=the_item(turn).pk, actor=eva, action=Action.WRITE, payload=payload
    )
    (warning,) = seen.warnings
    assert warning.code.value == "reply.ungrounded"
    assert "'EUR 999'" in warning.message
    with pytest.raises(Unsourced, match="Look, then confirm it"):
        taken_and_decided(the_item(turn), eva, Action.WRITE, **payload)
    taken_and_decided(the_item(turn), eva, Action.WRITE, **payload, confirmed=True)
    reply = reply_of(turn)
    assert (reply.origin, reply.body["kind"]) == ("staff", "answer")
    assert reply.body["paragraphs"] == ["Bring flowers to our office.", "It costs EUR 999."]
    assert reply.body["sources"][0]["service_key"] == SERVICE
    assert Turn.objects.get(pk=turn.pk).state == "answered"


def test_it_sends_no_text_that_a_citizen_should_not_get() -> None:
    eva = desk.person("eva")
    item = desk.take(the_item(desk.ask(VISA, {"category_select_v1": BAD})), eva)
    for text, problem in {
        "": "no text",
        " \n": "no text",
        "...": "nothing to read",
        "x" * 4001: "4,001 characters",
        "Dear {service_name}": "not filled in",
        "See https://evil.example/now": "evil.example",
        "See [here](https://evil.example)": "evil.example",
        "nul \0": "character",
        "half \ud800": "character",
    }.items():
        with pytest.raises(Refused, match=problem):
            desk.decide(item, eva, Action.WRITE, text=text, sources=[])
    wrong: list[Any] = [None, "x", [1], [{"agency": 1}], [{"agency": "a", "service": "b"}]]
    for sources in wrong:
        with pytest.raises(Refused, match="source"):
            desk.decide(item, eva, Action.WRITE, text="Please write to us.", sources=sources)
    assert not Reply.objects.exists()
