"""The page of an item in crisis, and that no service card goes out over it unasked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from review import claims, crisis, deciding
from review.deciding import Refused, Unconfirmed
from review.models import Action, Decision, ReviewItem
from review.states import ReviewState
from tests.conversations.api.test_errors import is_problem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, REASON, the_item, unsure
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer

pytestmark = pytest.mark.usefixtures("published")

DANGER = f"{VISA}, if not I will kill myself"
NUMBER = "+999 20 555 0100"


@pytest.fixture
def eva(published: None) -> User:
    return person("eva")


@pytest.fixture
def item(eva: User) -> ReviewItem:
    return claims.claim(item_id=the_item(desk.ask(DANGER, {}), "reply").pk, actor=eva)


@pytest.fixture
def client(eva: User) -> Client:
    return browser(eva)


def page(client: Client, item: ReviewItem) -> str:
    return str(client.get(reverse("review:item", args=[item.pk])).content.decode())


def send(client: Client, view: str, item: ReviewItem, **form: str) -> tuple[int, str]:
    data = {"version": str(item.version), "reason": REASON, "stage": "service_select_v1", **form}
    response = client.post(reverse(f"review:{view}", args=[item.pk]), data)
    return response.status_code, response.content.decode()


def test_the_headline_names_the_danger_and_its_words(client: Client, item: ReviewItem) -> None:
    html = page(client, item)
    headline = html.partition("<h1")[2].partition("</h1>")[0]
    assert "In crisis: Self-harm or suicide" in headline
    assert "kill myself" in headline
    message = html.partition('id="message"')[2].partition("</p>")[0]
    assert re.search(r"mark--risk[^>]*>[^<]*(<[^>]*>)*kill myself", message)


def test_writing_comes_first_and_approving_last(client: Client, item: ReviewItem) -> None:
    html = page(client, item)
    radios = re.findall(r'name="action" id="action-(\w+)"[^>]*?( checked)?( data-first)?>', html)
    assert radios[0] == ("write", " checked", " data-first")
    assert radios[-1] == ("approve", "", "")


def test_what_the_citizen_was_shown_stands_beside_what_staff_can_read(eva: User) -> None:
    turn = desk.ask("Comment prolonger mon visa de tourisme ? Sinon je veux mourir.", {})
    result, written = crisis.help_lines(turn)
    assert "Ligne d’écoute" in result
    assert "Listening Line" in written


def test_the_help_lines_stand_at_the_answer(client: Client, item: ReviewItem) -> None:
    html = page(client, item)
    label = knowledge.release(1).labels["risk_flags"]["self_harm"]
    box = html.partition('class="help-lines"')[2].partition('id="write-text"')[0]
    assert escape(label.description) in box
    assert NUMBER in box


def test_an_ordinary_item_has_none_of_it(client: Client, eva: User) -> None:
    item = the_item(desk.ask(VISA, {"service_select_v1": [unsure, unsure]}))
    html = page(client, claims.claim(item_id=item.pk, actor=eva))
    assert "In crisis" not in html
    assert "help-lines" not in html
    radios = re.findall(r'name="action" id="action-(\w+)"', html)
    assert radios[0] == "approve"


def warned(item: ReviewItem, user: User, text: str) -> set[str]:
    payload = {"text": text, "sources": []}
    seen = deciding.preview(item_id=item.pk, actor=user, action=Action.WRITE, payload=payload)
    return {finding.code.value for finding in seen.warnings}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f"Please call the Listening Line on {NUMBER} now.", set()),
        ("We are here for you. In danger call 112.", set()),
        ("Please call +999 20 555 0199 now.", {"reply.ungrounded"}),
        ("It costs £40.", {"reply.ungrounded"}),
    ],
)
def test_the_help_lines_are_a_source(
    item: ReviewItem, eva: User, text: str, codes: set[str]
) -> None:
    assert warned(item, eva, text) == codes


def test_elsewhere_they_are_none(eva: User) -> None:
    item = the_item(desk.ask(VISA, {"category_select_v1": BAD}))
    assert "reply.ungrounded" in warned(item, eva, f"Call {NUMBER}.")


def test_the_page_of_a_help_line_may_be_linked(
    item: ReviewItem, eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Look at https://help.example/talk at any hour."
    with pytest.raises(Refused, match="not in the service list"):
        warned(item, eva, text)
    labels = knowledge.release(1).labels["risk_flags"]
    with_page = replace(labels["self_harm"], description="Write to https://help.example/talk now.")
    monkeypatch.setattr("review.crisis._escalating", lambda turn, codes: (with_page,))
    assert warned(item, eva, text) == set()


@pytest.mark.parametrize("payload", [{}, {"confirmed": False}, {"confirmed": "yes"}])
def test_no_approval_goes_unconfirmed(item: ReviewItem, eva: User, payload: dict[str, Any]) -> None:
    with pytest.raises(Unconfirmed, match="Write the reply yourself, or confirm"):
        desk.decide(item, eva, Action.APPROVE, REASON, **payload)
    assert not Decision.objects.exists()
    item.refresh_from_db()
    assert item.state == ReviewState.CLAIMED.value


def test_the_page_asks_once_more_on_a_step_of_its_own(client: Client, item: ReviewItem) -> None:
    status, html = send(client, "preview", item, action="approve")
    assert status == 200
    assert "Confirm and" not in html
    status, html = send(client, "preview", item, action="approve", **{"once-more": "yes"})
    assert status == 200
    assert "Is this the right answer for somebody in danger?" in html
    assert "The message shows a danger (Self-harm or suicide)" in html
    assert 'name="approve-confirmed" value="yes"' in html

    # Whoever leaves that step out is refused with the sentence, and nothing is changed.
    status, html = send(client, "decide", item, action="approve")
    assert status == 422
    assert "The message shows a danger (Self-harm or suicide)" in html
    assert not Decision.objects.exists()

    status, _ = send(client, "decide", item, action="approve", **{"approve-confirmed": "yes"})
    assert status == 303
    assert Decision.objects.get().action == "approve"


def test_rest_asks_once_more_too(item: ReviewItem, eva: User) -> None:
    program = Reviewer(eva)
    approval = {"action": "approve", "reason": REASON}
    problem = is_problem(program.decide(item, approval), 422)
    assert problem["type"] == "urn:ieim:problem:crisis-unconfirmed"
    assert "confirm that this one is right" in problem["detail"]
    wrong = program.decide(item, {**approval, "payload": {"confirmed": "true"}})
    assert wrong.status_code == 400
    decided = program.decide(item, {**approval, "payload": {"confirmed": True}})
    assert decided.status_code == 200, decided.content


def test_who_is_asked_for_an_opinion_is_not_sent_to_write(eva: User, item: ReviewItem) -> None:
    jump = re.compile(r'item__jump" href="#decide">([^<]*)<')
    desk.taken_and_decided(item, eva, Action.WRITE, text="Call 112 now, and stay with them.")
    ben = browser(desk.person("ben", *desk.ALL))
    assert jump.findall(page(ben, item)) == ["Decide"]
