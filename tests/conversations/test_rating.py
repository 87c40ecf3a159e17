"""Whether an answer was useful: the service and the citizen's page."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from conversations import selectors
from conversations.chat import cookies
from conversations.chat.announcing import announcement
from conversations.models import Rating, Reply, ReplyOrigin, Session, Turn
from conversations.reactions import NothingToRate, rate
from conversations.turns import erasing, services
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from review.models import Action
from tests.audit.owner import triggers_lifted
from tests.conversations.chat import tabs
from tests.fixtures import VISA, Ask
from tests.review import desk

SECRET = "a"
HTMX = {"HX-Request": "true"}


def browser_with(secret: str, **options: Any) -> Client:
    client = Client(**options)
    response = HttpResponse()
    cookies.set_cookie(response, secret)
    client.cookies = response.cookies
    return client


def address(turn: Turn) -> str:
    return f"/turns/{turn.pk}/rating/"


def rate_turn(turn: Turn, useful: bool) -> Rating:
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=useful)
    return Rating.objects.get(reply__turn=turn)


def events(turn: Turn) -> list[str]:
    audit_events = AuditEvent.objects.filter(chain=turn.session_id, kind="reply.rated").order_by(
        "seq"
    )
    assert {event.actor for event in audit_events} <= {"citizen"}
    payloads = [json.loads(event.payload) for event in audit_events]
    assert all(payload.pop("rows")[0][0] == "rating" for payload in payloads)
    return [json.dumps(payload, separators=(",", ":")) for payload in payloads]


def pressed(html: str) -> list[str]:
    return re.findall(r'name="useful" value="(\w+)" aria-pressed="true"', html)


def test_it_stores_a_verdict_with_its_audit_event(ask: Ask) -> None:
    turn = ask(VISA)
    rate_turn(turn, True)
    assert Rating.objects.get().reply == turn.reply
    assert selectors.turn_view(turn.pk).useful is True
    assert events(turn) == [f'{{"turn":"{turn.pk}","useful":true}}']
    assert verify(turn.session_id).ok


def test_it_changes_a_verdict_and_stores_the_same_one_once(ask: Ask) -> None:
    turn = ask(VISA)
    first = rate_turn(turn, True)
    again = rate_turn(turn, True)
    assert (again.pk, again.at) == (first.pk, first.at)
    changed = rate_turn(turn, False)
    assert (changed.pk, changed.useful) == (first.pk, False)
    assert changed.at > first.at
    assert Rating.objects.count() == 1
    assert [
        f'"useful":{word}' in event
        for word, event in zip(["true", "false"], events(turn), strict=True)
    ] == [True, True]


def test_it_stores_nothing_when_the_audit_event_cannot_be(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = ask(VISA)

    def fails(**_: object) -> None:
        raise RuntimeError("no audit")

    monkeypatch.setattr("ieim.audit.services.record", fails)
    with pytest.raises(RuntimeError, match="no audit"):
        rate_turn(turn, True)
    assert not Rating.objects.exists()


def test_it_rates_what_a_person_wrote(ask: Ask) -> None:
    turn = desk.ask(VISA, {"category_select_v1": desk.BAD})
    eva = desk.person("eva", *desk.ALL)
    desk.taken_and_decided(desk.the_item(turn), eva, Action.WRITE, text="Please call us.")
    turn = Turn.objects.get(pk=turn.pk)
    assert turn.reply.origin == ReplyOrigin.STAFF
    assert rate_turn(turn, False).useful is False


@pytest.mark.parametrize("kind", ["guidance", "question"])
def test_it_rates_no_guidance_and_no_question(ask: Ask, kind: str) -> None:
    turn = ask(VISA, secret=SECRET)
    body = {**turn.reply.body, "kind": kind}
    with triggers_lifted():
        Reply.objects.update(body=body)
    with pytest.raises(NothingToRate):
        rate_turn(turn, True)
    html = browser_with(SECRET).get("/").content.decode()
    assert 'class="answer answer--' + kind in html
    assert 'class="rating"' not in html


def test_it_rates_nothing_that_is_not_answered_yet(published: None) -> None:
    turn = services.receive(session=SECRET, text=VISA, enqueue=False)[0]
    with pytest.raises(NothingToRate):
        rate_turn(turn, True)
    assert 'class="rating"' not in browser_with(SECRET).get("/").content.decode()


def test_it_rates_no_answer_of_another_session(ask: Ask) -> None:
    turn, other = ask(VISA, secret="a"), ask(VISA, secret="b")
    with pytest.raises(NothingToRate):
        rate(session_id=other.session_id, turn_id=turn.pk, useful=True)
    assert not Rating.objects.exists()
    assert events(turn) == events(other) == []


def test_it_goes_with_its_session(ask: Ask) -> None:
    turn, other = ask(VISA, secret="a"), ask(VISA, secret="b")
    rate_turn(turn, False)
    rate_turn(other, True)
    erasing.erase_session(session_id=turn.session_id)
    assert [result.reply for result in Rating.objects.all()] == [other.reply]
    with pytest.raises(Session.DoesNotExist):
        rate_turn(turn, True)
    assert verify(turn.session_id).ok


def test_it_is_no_news_to_an_open_page(ask: Ask) -> None:
    turn = ask(VISA)
    before = selectors.turn_view(turn.pk)
    rate_turn(turn, True)
    turn_view = selectors.turn_view(turn.pk)
    assert (before.useful, turn_view.useful) == (None, True)
    assert announcement((before,), (turn_view,)) == ""


@pytest.mark.parametrize(("word", "useful"), [("yes", True), ("no", False)])
def test_it_takes_a_verdict_without_javascript(ask: Ask, word: str, useful: bool) -> None:
    turn = ask(VISA, secret=SECRET)
    client = browser_with(SECRET, enforce_csrf_checks=True)
    html = client.get("/").content.decode()
    assert "Was this useful?" in html
    assert pressed(html) == []
    assert "Thank you." not in html
    form = re.search(r'<form id="rate" method="post">.*?value="(\w+)"', html)
    assert form
    assert html.count(f'form="rate" formaction="{address(turn)}"') == 2
    response = client.post(address(turn), {"useful": word, "csrfmiddlewaretoken": form[1]})
    assert (response.status_code, response["Location"]) == (303, f"/#turn-{turn.pk}-rating")
    assert Rating.objects.get().useful is useful
    html = client.get("/").content.decode()
    assert f'id="turn-{turn.pk}-rating"' in html
    assert pressed(html) == [word]
    assert "Thank you." in html
    assert ("A caseworker can answer you instead." in html) is not useful


def test_it_gives_htmx_that_line_alone_and_says_thank_you(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    response = browser_with(SECRET).post(address(turn), {"useful": "no"}, headers=HTMX)
    html = response.content.decode()
    assert response.status_code == 200
    assert html.startswith(f'<div class="rating" id="turn-{turn.pk}-rating"')
    assert pressed(html) == ["no"]
    assert f'<a class="govuk-link" href="/person/?about={turn.pk}">Talk to a person</a>' in html
    text = (
        '<p id="status" hx-swap-oob="innerHTML">'
        "Question 1: Thank you. A caseworker can answer you instead.</p>"
    )
    assert html.strip().endswith(text)
    assert "<html" not in html


def test_it_says_it_in_the_language_of_the_answer(ask: Ask) -> None:
    ask("Comment renouveler mon passeport ?", secret=SECRET)
    html = browser_with(SECRET).get("/").content.decode()
    line = html[html.index('<div class="rating"') :]
    assert "Cette réponse vous a-t-elle été utile ?" in line
    assert 'lang="fr"' in line[:200]
    assert ">Oui</button>" in line


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_it_takes_no_verdict_of_another_citizen(ask: Ask, headers: dict[str, str]) -> None:
    turn = ask(VISA, secret="a")
    ask(VISA, secret="b")
    for client in (Client(), browser_with("b"), browser_with("nobody")):
        response = client.post(address(turn), {"useful": "yes"}, headers=headers)
        assert response.status_code == 404
        assert response.headers["HX-Refresh"] == "true"
    assert not Rating.objects.exists()
    assert events(turn) == []


@pytest.mark.parametrize("data", [{}, {"useful": ""}, {"useful": "maybe"}, {"useful": "true"}])
def test_it_says_what_a_verdict_is(ask: Ask, data: dict[str, str]) -> None:
    turn = ask(VISA, secret=SECRET)
    response = browser_with(SECRET).post(address(turn), data)
    assert response.status_code == 400
    assert "press Yes or No beneath it" in response.content.decode()
    assert not Rating.objects.exists()


def test_it_takes_no_verdict_by_a_link_or_from_another_site(ask: Ask) -> None:
    turn = ask(VISA, secret=SECRET)
    assert browser_with(SECRET).get(address(turn)).status_code == 405
    client = browser_with(SECRET, enforce_csrf_checks=True)
    assert client.post(address(turn), {"useful": "yes"}).status_code == 403
    assert not Rating.objects.exists()


def test_it_knows_no_turn_by_a_made_up_id(ask: Ask) -> None:
    ask(VISA, secret=SECRET)
    response = browser_with(SECRET).post(f"/turns/{uuid.uuid4()}/rating/", {"useful": "yes"})
    assert response.status_code == 404


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_it_asks_once_the_whole_answer_is_there(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)
    async with tabs.tab(SECRET) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        await tabs.run_newest()
        await page.read_until("Why this answer")
    growing = [html for html in page.frames if 'class="answer' in html]
    assert len(growing) > 1
    assert ['class="rating"' in html for html in growing] == [False] * (len(growing) - 1) + [True]
