"""Deciding on the item page: fill in, look, confirm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from django.utils.module_loading import import_string

from conversations.models import Reply, Turn
from conversations.turns import erasing
from ieim.people.models import User
from review.models import Action, Decision, ReviewItem
from tests.review import desk
from tests.review.desk import BABY, BAD, REASON, the_item, words

pytestmark = pytest.mark.usefixtures("published", "at_once")

TEXT = "I want to extend my tourist visa before 3 March."
ANSWER = "multi_agency_service_answer_v1"
TOPIC = {"stage": "category_select_v1", "topic": "/immigration/visa-extensions"}


Posted = Mapping[str, Any]
NONE: Posted = {}


class Desk:
    """A caseworker's browser at one item."""

    def __init__(self, item: ReviewItem, user: User) -> None:
        self.item, self.user = desk.take(item, user), user
        self.client = Client()
        self.client.force_login(user)

    def send(self, name: str, action: str = "", draft: Posted = NONE, **values: Any) -> Any:
        data = {"version": self.item.version, "action": action, "reason": REASON, **draft, **values}
        return self.client.post(reverse(f"review:{name}", args=[self.item.pk]), data)

    def page(
        self,
        name: str,
        action: str = "",
        draft: Posted = NONE,
        *,
        status: int = 200,
        **values: Any,
    ) -> str:
        response = self.send(name, action, draft, **values)
        assert response.status_code == status
        return str(response.content.decode())


@pytest.fixture
def eva() -> User:
    return desk.person("eva", *desk.ALL)


@pytest.fixture
def turn() -> Turn:
    return desk.ask(TEXT, {"category_select_v1": BAD})


@pytest.fixture
def at_desk(turn: Turn, eva: User) -> Desk:
    return Desk(the_item(turn), eva)


def saved_fields(html: str) -> dict[str, str]:
    """Return what the page would confirm."""
    form = html.split('id="confirm-form"')[1]
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form))


def test_it_corrects_a_step_and_the_citizen_is_answered(at_desk: Desk, turn: Turn) -> None:
    html = at_desk.page("preview", "override", TOPIC)
    assert "Visa extensions (1.00)" in words(html)
    assert "goes on to the next step: Which service?" in words(html)
    assert not Decision.objects.exists()

    values = saved_fields(html)
    values.pop("csrfmiddlewaretoken", None)
    response = at_desk.client.post(reverse("review:decide", args=[at_desk.item.pk]), values)
    assert (response.status_code, response["Location"]) == (
        303,
        reverse("review:item", args=[at_desk.item.pk]),
    )
    assert desk.run(turn).state == "answered"
    assert Reply.objects.get().origin == "staff_override"
    page = words(at_desk.client.get(response["Location"]).content.decode())
    assert "Corrected by eva" in page
    assert "What the citizen got" in page
    assert REASON in page


def test_it_shows_the_reply_as_the_citizen_gets_it(at_desk: Desk, turn: Turn) -> None:
    text = {"write-text": "Please *come* to the office.\r\nBring your visa."}
    text["write-source"] = "/immigration/immigration.extend-tourist-visa"
    result = words(at_desk.page("preview", "write", text))
    at_desk.send("decide", "write", text)
    body = Reply.objects.get(turn=turn).body
    for part in (*body["paragraphs"], body["sources"][0]["service_name"]):
        assert part in result
    assert "A caseworker wrote this answer." in result


@pytest.mark.parametrize(
    ("action", "values", "state"),
    [
        ("ask", {"ask-text": "Which visa do you have?"}, "answered"),
        ("dismiss", {}, "closed"),
        ("dismiss", {"dismiss-text": "This is not a public service."}, "closed"),
        ("hand_over", {"hand-agency": "housing"}, "needs_review"),
        ("retry", {}, "running"),
    ],
)
def test_it_does_what_was_looked_at(
    at_desk: Desk, turn: Turn, action: str, values: dict[str, str], state: str
) -> None:
    html = at_desk.page("preview", action, values)
    assert saved_fields(html)["action"] == action
    assert at_desk.send("decide", action, values).status_code == 303
    turn.refresh_from_db()
    assert turn.state == state
    assert Decision.objects.get().action == action


def test_it_says_at_each_field_what_is_missing(at_desk: Desk) -> None:
    html = at_desk.page("preview", "override", status=422, reason=" ")
    assert '<a href="#reason">Say in a few words why' in html
    assert "Choose at least one topic." in html
    assert 'id="reason-error"' in html
    assert "<title>Error:" in html
    assert '<a href="#action-service">' in at_desk.page("preview", status=422)
    assert "#ask-text" in at_desk.page("preview", "ask", status=422)
    short = '<a href="#reason">The reason is too short: write at least 3 letters.'
    assert short in at_desk.page("preview", "retry", status=422, reason="ok")
    assert short in at_desk.page("preview", "retry", status=422, reason="??")
    elsewhere = {"write-text": "See https://elsewhere.example/form"}
    assert '<a href="#write-text">' in at_desk.page("preview", "write", elsewhere, status=422)
    assert not Decision.objects.exists()


def test_it_brings_the_gates_findings_back_to_the_field(eva: User) -> None:
    item = the_item(desk.ask(BABY, {ANSWER: BAD}), ANSWER)
    at_desk = Desk(item, eva)
    draft = {
        "answer": "It costs £999 at the registry.",
        "source": "/civil-registry/civil-registry.register-birth",
    }
    for name in ("preview", "decide"):
        html = at_desk.page(name, "override", draft, status=422, stage=ANSWER)
        assert '<a href="#answer">' in html
        assert "<code>reply.ungrounded</code>" in html
        assert draft["answer"] in html
    assert not Decision.objects.exists()


def test_it_takes_no_service_that_is_not_in_the_list(at_desk: Desk) -> None:
    values = {"write-text": "Come in.", "write-source": ["/immigration/nothing", "x"]}
    assert "one is not in it" in at_desk.page("preview", "write", values, status=422)


def test_it_checks_a_draft_while_it_is_written(eva: User) -> None:
    item = the_item(desk.ask(BABY, {ANSWER: BAD}), ANSWER)
    at_desk = Desk(item, eva)
    draft = {
        "stage": ANSWER,
        "source": [
            "/civil-registry/civil-registry.register-birth",
            "/social-support/social-support.child-benefit",
        ],
        "reason": "",
    }
    wrong = at_desk.page("check", "override", draft, answer="It costs £999.")
    assert "reply.ungrounded" in wrong
    assert "<html" not in wrong
    fine = at_desk.page("check", "override", draft, answer="Agree on the name of the child.")
    assert "found nothing wrong" in fine


def test_it_warns_of_what_no_source_says_and_lets_the_author_decide(at_desk: Desk) -> None:
    text = {"write-text": "It costs £999."}
    html = at_desk.page("preview", "write", text)
    assert "Look at this first" in html
    # Confirmed at once, without a look, it is shown first.
    assert "Look at this first" in at_desk.page("decide", "write", text)
    assert not Decision.objects.exists()
    confirmed = {**text, "approve-confirmed": "yes"}
    assert 'name="approve-confirmed" value="yes"' in html
    assert at_desk.send("decide", "write", confirmed).status_code == 303


def test_it_finds_services_while_typing(at_desk: Desk) -> None:
    result = at_desk.page("services", "write", {"write-words": "passport"})
    assert 'name="write-source"' in result
    assert "passport" in result
    assert at_desk.send("services", "ask").status_code == 404


def test_it_keeps_the_draft_on_the_way_back(at_desk: Desk) -> None:
    draft = {"write-text": "Half a <reply>", "again": "change"}
    html = at_desk.page("preview", "write", draft)
    assert escape(draft["write-text"]) in html
    assert REASON in html
    assert 'value="write" aria-describedby="action-write-hint" checked' in html


def test_it_tells_who_was_faster_and_keeps_the_draft(at_desk: Desk, turn: Turn, eva: User) -> None:
    sue = desk.person("sue", *desk.ALL)
    desk.taken_and_decided(at_desk.item, sue, Action.WRITE, text="Come in.", sources=[])
    for name in ("preview", "decide"):
        html = at_desk.page(name, "write", {"write-text": "My own words."}, status=409)
        assert "sue was faster (wrote the reply)." in words(html)
        assert "My own words." in html
        assert REASON in html
    assert Decision.objects.count() == 1


def test_it_tells_oneself_of_ones_other_window(at_desk: Desk, eva: User) -> None:
    desk.taken_and_decided(at_desk.item, eva, Action.WRITE, text="Come in.", sources=[])
    html = at_desk.page("decide", "write", {"write-text": "My own words."}, status=409)
    assert "You have decided this already (wrote the reply)." in words(html)
    assert "was faster" not in words(html)
    assert "My own words." in html


def test_it_keeps_the_draft_in_the_form_where_the_item_is_still_theirs(at_desk: Desk) -> None:
    desk.take(at_desk.item, at_desk.user)
    html = at_desk.page("decide", "write", {"write-text": "My own words."}, status=409)
    assert re.search(r'<textarea[^>]*name="write-text"[^>]*>\s*My own words\.</textarea>', html)
    assert f'name="version" value="{at_desk.item.version + 1}"' in html


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 30, "٣"])
def test_it_takes_no_version_that_is_none(at_desk: Desk, version: str) -> None:
    assert at_desk.send("decide", "retry", version=version).status_code == 409


def test_it_opens_the_next_item(at_desk: Desk) -> None:
    following = the_item(desk.ask(TEXT, {"judgement_v1": BAD}))
    response = at_desk.send("decide", "dismiss", next="yes")
    assert response["Location"] == reverse("review:item", args=[following.pk])
    text = at_desk.client.get(response["Location"]).content.decode()
    assert f"{at_desk.item.turn.session.reference}: dismissed." in words(text)
    following.refresh_from_db()
    assert following.claimed_by is not None  # opened for work
    last = Desk(following, at_desk.user)
    assert last.send("decide", "dismiss", next="yes")["Location"] == reverse("review:queue")


def test_it_takes_a_decision_back(at_desk: Desk) -> None:
    at_desk.send("decide", "dismiss")
    record = Decision.objects.get()
    page = reverse("review:item", args=[at_desk.item.pk])
    assert "Take it back" in at_desk.client.get(page).content.decode()
    address = reverse("review:undo", args=[at_desk.item.pk, record.pk])
    assert at_desk.client.post(address, {"undo-reason": ""}).status_code == 422
    assert at_desk.client.post(address, {"undo-reason": "a mistake"}).status_code == 303
    assert ReviewItem.objects.filter(state="open").count() == 1
    assert at_desk.client.post(address, {"undo-reason": "again"}).status_code == 422
    other = the_item(desk.ask(TEXT, {"judgement_v1": BAD}))
    wrong = reverse("review:undo", args=[other.pk, record.pk])
    assert at_desk.client.post(wrong, {"undo-reason": "a mistake"}).status_code == 404


def erased_before(monkeypatch: pytest.MonkeyPatch, name: str, session_id: UUID) -> None:
    """Let a conversation be erased just before a function is called."""
    function = import_string(name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        erasing.erase_session(session_id=session_id)
        return function(*args, **kwargs)

    monkeypatch.setattr(name, wrapped)


@pytest.mark.parametrize("name", ["decide", "preview", "sign", "undo"])
def test_what_is_erased_meanwhile_is_not_found(
    at_desk: Desk, turn: Turn, eva: User, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    draft = {"write-text": "Please come.", "why-write": "0", "agency": "immigration"}
    args, function = [at_desk.item.pk], "find"
    if name == "undo":
        args.append(desk.decide(at_desk.item, eva, Action.HAND_OVER, agency="revenue").pk)
        function = "locked"
    erased_before(monkeypatch, f"review.deciding.locking.{function}", turn.session_id)
    data = {"version": at_desk.item.version, "action": "write", "reason": REASON, **draft}
    data |= {"sign-reason": REASON, "undo-reason": REASON}
    response = at_desk.client.post(reverse(f"review:{name}", args=args), data)
    assert response.status_code == 404
