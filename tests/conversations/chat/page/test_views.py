"""The citizen's pages and the journey without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core import signing
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from conversations.chat import cookies
from conversations.models import Session, Turn
from conversations.turns import refusing, running, services
from review.models import ReviewItem
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
BAD = ["no json", "no json"]


def page(response: Any) -> str:
    html: str = response.content.decode()
    return html


def visitor() -> Client:
    client = Client()
    client.get("/")
    return client


def secret_of(client: Client) -> str:
    cookie = client.cookies[cookies.NAME].value
    return signing.TimestampSigner(salt="ieim.session").unsign(cookie)


def browser_with(secret: str) -> Client:
    client = Client()
    response = HttpResponse()
    cookies.set_cookie(response, secret)
    client.cookies = response.cookies
    return client


def send(client: Client, text: str = VISA) -> Turn:
    client.post("/ask/", {"text": text})
    return Turn.objects.get()


def test_it_says_what_it_is_before_the_first_message(published: None) -> None:
    html = page(Client().get("/"))
    assert "automated assistant (AI)" in html
    assert "no more personal data" in html
    assert "offline engine" in html
    assert f'value="{VISA}"' in html


def test_it_stores_nothing_before_the_first_message(published: None) -> None:
    visitor()
    assert not Session.objects.exists()


def test_it_sets_a_signed_cookie_that_scripts_cannot_read(published: None) -> None:
    cookie = Client().get("/").cookies[cookies.NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert len(cookie.value.split(":")[0]) >= 43


def test_it_keeps_the_cookie_of_a_visitor(published: None) -> None:
    client = visitor()
    assert cookies.NAME not in client.get("/").cookies


@pytest.mark.parametrize("value", ["", "made-up", "made-up:1tPq2x:abc", "é"])
def test_it_takes_no_cookie_that_it_did_not_sign(published: None, value: str) -> None:
    client = Client()
    client.cookies[cookies.NAME] = value
    assert cookies.NAME in client.get("/").cookies


def test_it_takes_a_question_and_leads_to_it(published: None) -> None:
    client = visitor()
    response = client.post("/ask/", {"text": VISA})
    turn = Turn.objects.get()
    assert turn.text == VISA
    assert (response.status_code, response["Location"]) == (303, f"/#turn-{turn.pk}")


def test_it_takes_a_question_from_a_browser_that_comes_without_a_cookie(published: None) -> None:
    client = Client()
    send(client)
    assert VISA in page(client.get("/"))


def test_it_shows_the_steps_and_looks_again_while_it_works(published: None) -> None:
    client = visitor()
    turn = send(client)
    html = page(client.get("/"))
    again = f"/?look=1#turn-{turn.pk}"
    assert f'<noscript><meta http-equiv="refresh" content="2; url={again}"></noscript>' in html
    assert f'href="{again}"' in html
    assert f"/?look=2#turn-{turn.pk}" in page(client.get("/?look=1"))
    assert "Finding the right agency" in html
    assert "Check for the answer" in html
    assert "You can ask the next question when this one is answered." in html
    assert re.search(r'id="ask-button"[^>]* disabled', html)


def test_it_shows_the_answer_with_its_source_and_the_words_that_led_to_it(published: None) -> None:
    client = visitor()
    turn = send(client)
    running.run_turn(turn_id=turn.pk)
    html = page(client.get("/"))
    assert "What to do first" in html
    assert turn.reply.body["sources"][0]["url"] in html
    assert "<mark><bdi>visa</bdi></mark>" in html
    assert "http-equiv" not in html
    assert not re.search(r'id="ask-button"[^>]* disabled', html)


def test_it_says_what_happens_to_a_held_question(ask: Ask) -> None:
    secret = services.new_secret()
    with scripted_model({"agency_detect_v1": BAD}) as (model, _):
        turn = ask(secret=secret, model=model)
    html = page(browser_with(secret).get("/"))
    assert turn.state == "needs_review"
    assert "A person will answer this question" in html
    due = timezone.localtime(ReviewItem.objects.get().due_at)
    assert f"on this page by {due.day} {due:%B %Y}" in html
    assert f"{due:%H:%M}." in html
    assert turn.session.reference in html
    assert f"http://testserver/c/{secret}/" in html
    assert "json.syntax" not in html


def test_it_looks_less_often_while_the_model_is_away(ask: Ask) -> None:
    secret = services.new_secret()
    with scripted_model({"judgement_v1": [503] * 3}) as (model, _):
        ask(secret=secret, model=model)
    html = page(browser_with(secret).get("/"))
    assert "Your question is waiting" in html
    assert 'http-equiv="refresh" content="20; url=' in html


def test_it_says_that_a_closed_question_has_no_answer(published: None) -> None:
    client = visitor()
    send(client)
    Turn.objects.update(state="closed")
    assert "This question is closed" in page(client.get("/"))


@pytest.mark.parametrize("text", ["", "   \r\n ", "x" * 2001, "a\x00b"])
def test_it_keeps_the_draft_and_says_what_is_wrong(published: None, text: str) -> None:
    response = visitor().post("/ask/", {"text": text})
    html = page(response)
    assert response.status_code == 422
    assert "<title>Error: " in html
    assert "Your question was not sent" in html
    assert re.search(r'aria-describedby="[^"]*question-error[^"]*" aria-invalid="true"', html)
    assert not Turn.objects.exists()
    if text.strip("\x00 \r\n"):
        assert f"\n{text}</textarea>" in html


def test_it_counts_the_line_ends_of_a_browser_once(published: None) -> None:
    turn = send(visitor(), "a\r\n" * 1000)
    assert len(turn.text) == 2000


def test_it_lets_the_next_question_wait(published: None) -> None:
    client = visitor()
    send(client)
    response = client.post("/ask/", {"text": "And how much is it?"})
    assert response.status_code == 422
    assert refusing.STILL_WORKING in page(response)
    assert "And how much is it?</textarea>" in page(response)
    assert "http-equiv" not in page(response)
    assert Turn.objects.count() == 1


def test_it_shows_markup_as_text(published: None) -> None:
    client = visitor()
    send(client, '<img src=x onerror="alert(1)"> </textarea><script>visa</script>')
    html = page(client.get("/"))
    assert "<img" not in html
    assert "&lt;script&gt;visa" in html


def test_it_takes_no_question_from_another_site(published: None) -> None:
    response = Client(enforce_csrf_checks=True).post("/ask/", {"text": VISA})
    assert response.status_code == 403
    assert "Your form was not sent" in page(response)


def test_it_opens_a_conversation_by_its_private_link(published: None) -> None:
    client = visitor()
    send(client)
    other = Client()
    link = f"/c/{secret_of(client)}/"
    response = other.post(link)
    assert (response.status_code, response["Location"]) == (303, "/")
    assert VISA in page(other.get("/"))


def test_it_opens_no_conversation_without_a_press_of_a_button(published: None) -> None:
    client = visitor()
    send(client)
    other = Client(enforce_csrf_checks=True)
    link = f"/c/{secret_of(client)}/"
    response = other.get(link)
    assert "Continue this conversation" in page(response)
    assert cookies.NAME not in response.cookies
    assert other.post(link).status_code == 403


@pytest.mark.parametrize("debug", [False, True])
def test_it_knows_no_conversation_by_a_made_up_link(
    published: None, monkeypatch: pytest.MonkeyPatch, debug: bool
) -> None:
    monkeypatch.setattr(settings, "DEBUG", debug)
    response = Client().get("/c/made-up/")
    assert response.status_code == 404
    assert "check that it is complete" in page(response)
    assert cookies.NAME not in response.cookies


def test_it_starts_again_and_keeps_the_old_conversation(published: None) -> None:
    client = visitor()
    send(client)
    secret = secret_of(client)
    response = client.post("/start-again/")
    assert (response.status_code, response["Location"]) == (303, "/")
    assert VISA not in page(client.get("/")).partition("suggestions")[0]
    assert secret_of(client) != secret
    client.post(f"/c/{secret}/")
    assert 'class="message__text" dir="auto">' + VISA in page(client.get("/"))


def test_it_does_not_start_again_by_a_link(published: None) -> None:
    assert visitor().get("/start-again/").status_code == 405


def test_it_keeps_conversations_out_of_caches(published: None) -> None:
    assert "no-store" in Client().get("/")["Cache-Control"]


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/help/", "Talk to a person"),
        ("/accessibility/", "Accessibility statement"),
        ("/privacy/", "Privacy"),
    ],
)
def test_it_has_a_page_about(db: None, path: str, title: str) -> None:
    html = page(Client().get(path))
    assert f"<title>{title} – IEIM</title>" in html
    assert f'<h1 class="govuk-heading-l">{title}</h1>' in html


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "404", "500"])
def test_it_says_in_plain_words_that_something_went_wrong(db: None, name: str) -> None:
    html = render_to_string(f"{name}.html")
    assert re.search(r"<title>[A-Z][a-z ]+ – IEIM</title>", html)
    assert 'href="/help/"' in html


def test_no_template_has_inline_script_or_style() -> None:
    inline = r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:"
    names = [path.name for path in TEMPLATES if re.search(inline, path.read_text("utf-8"))]
    # What is read as a file, outside the site.
    assert sorted(names) == ["export.html"]


def test_it_deletes_a_conversation_only_after_it_has_asked(published: None) -> None:
    client = visitor()
    client.post("/ask/", {"text": VISA})
    session = Session.objects.get()
    assert session.reference in page(client.get("/delete/"))
    assert Turn.objects.get().text == VISA
    assert session.reference in page(client.post("/delete/"))
    assert Turn.objects.get().text == ""
    assert "message__text" not in page(client.get("/"))


def test_it_has_nothing_to_delete_before_the_first_question(published: None) -> None:
    answer = visitor().get("/delete/")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert visitor().post("/delete/").status_code == 302
