"""The chat page's websocket, frame by frame."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.template.loader import render_to_string

from conversations.chat import socket as consumers
from conversations.models import Turn
from conversations.turns import flags, moves, refusing, services
from tests.conversations.chat.tabs import run_newest, tab, texts, view
from tests.fixtures import VISA
from tests.model_server import scripted_model

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

BAD = ["no json", "no json"]


@pytest.fixture
def secret(published: None, monkeypatch: pytest.MonkeyPatch) -> str:
    # The turns are run by the tests themselves, at a moment of their choice.
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)
    return services.new_secret()


async def test_it_sends_nothing_to_a_page_that_is_up_to_date(secret: str) -> None:
    async with tab(secret, have=(await view(secret)).version) as page:
        assert await page.socket.receive_nothing()


async def test_it_shows_a_question_and_clears_the_way(secret: str) -> None:
    async with tab(secret, have=(await view(secret)).version) as page:
        await page.send({"text": VISA, "HEADERS": {}})
        await page.read_until('id="live"')
        assert VISA in page.parts["live"]
        assert VISA not in page.parts["suggestions"]
        assert "Ask another question" in page.parts["question-label"]
        assert "error-message" not in page.parts["question-error"]
        assert page.said == ["Question 1: We have your question."]
    assert await texts() == [VISA]


async def test_it_counts_the_line_ends_of_a_browser_once(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": "visa\r\n" * 400})
        await page.read_until('data-state="queued"')
    assert await texts() == ["visa\n" * 400]


async def test_it_follows_a_turn_to_its_answer(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        await run_newest()
        await page.read_until("Why this answer")
        # Not each step of it: whoever listens would hear nothing else.
        values = ["Question 1: We have your question.", "Question 1: Your answer is ready."]
        assert page.said == values
        chat = await view(secret)
        finished = render_to_string(
            "conversations/turn/_outcome.html", {"turn": chat.turns[0], "chat": chat}
        )
        sent = page.parts[f"{chat.turns[0].dom_id}-outcome"].replace(' hx-swap-oob="true"', "")
        assert sent.split() == finished.split()


async def test_it_shows_help_at_the_moment_that_a_model_flags_a_danger(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        turn = await Turn.objects.aget()
        help_lines = f"turn-{turn.pk}-help"
        assert "Please get help now" not in page.parts["live"]
        flag = {"label": "violence", "confidence": 0.9, "source": "model"}
        flag["spans"] = [{"start": 0, "end": 6}]
        fields = {"risk_flags": [flag], "disagreements": []}
        await database_sync_to_async(flagged)(turn, fields)
        await page.read_until("Please get help now")
        assert 'role="alert"' in page.parts[help_lines]


def flagged(turn: Turn, classified: dict[str, Any]) -> None:
    """Be the store of a stage that has passed."""
    flags.add(turn=turn, classified=classified)
    moves.notify_pages(turn)


async def test_it_builds_the_reply_up_only_after_its_gate(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        await run_newest()
        last = await page.read_until("Why this answer")
        growing = [frame for frame in page.frames if 'class="answer ' in frame]
        assert growing[-1] == last
        assert len(growing) > 2
        assert all('data-state="answered"' in frame for frame in growing)
        lengths = [len(frame) for frame in growing]
        assert lengths == sorted(lengths)
        assert "hx-preserve" not in "".join(growing[:-1])


async def test_it_tells_what_happens_to_a_held_question(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        with scripted_model({"agency_detect_v1": BAD}) as (model, _):
            await run_newest(model)
        html = await page.read_until("A person will answer this question")
        assert f"http://ask.example.org/c/{secret}/" in html
        assert "json.syntax" not in html
        assert page.said[-1] == "Question 1: A person will answer your question."


async def test_it_shows_what_is_true_after_a_reconnect(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        have = (await view(secret)).version
    await run_newest()
    async with tab(secret, have=have) as page:
        await page.read()
        assert "Why this answer" in page.parts["live"]
        assert page.parts["live"].count("<article") == 1
        assert not page.said


@pytest.mark.parametrize(
    "send",
    [
        {"bytes_data": b"\xff\x00"},
        {"text_data": "no json"},
        {"text_data": '{"text": 7}'},
        {"text_data": '{"text": "\\ud800"}'},
        {"text_data": '{"text": "\\u0000"}'},
        {"text_data": '{"text": ""}'},
        {"text_data": json.dumps({"text": "x" * 2001})},
        {"text_data": json.dumps({"text": "x" * 20_000})},
    ],
    ids=lambda send: str(send)[:40],
)
async def test_it_goes_on_after_a_frame_that_it_cannot_take(
    secret: str, send: dict[str, Any]
) -> None:
    async with tab(secret, have=(await view(secret)).version) as page:
        await page.socket.send_to(**send)
        await page.read()
        assert 'role="alert"' in page.parts["question-error"]
        assert await texts() == []
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        assert "error-message" not in page.parts["question-error"]
    assert await texts() == [VISA]


async def test_it_lets_the_next_question_wait(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        await page.send({"text": "And how much is it?"})
        await page.read_until(refusing.STILL_WORKING)
    assert await texts() == [VISA]


async def test_it_asks_a_page_without_a_cookie_to_load_again(published: None) -> None:
    async with tab(None) as page:
        await page.read()
        await page.send({"text": VISA})
        assert "load the page again" in await page.read()
    assert await texts() == []


async def test_it_raises_no_alarm_when_a_page_goes_away_in_the_middle(
    secret: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def gone(*args: Any, **kwargs: Any) -> None:
        raise ConnectionError("the browser has left")

    caplog.set_level(logging.INFO)
    async with tab(secret) as page:
        await page.read()
        with monkeypatch.context() as patch:
            patch.setattr(consumers.ChatConsumer, "send", gone)
            await page.send({"text": VISA})
            assert await page.socket.receive_nothing(timeout=1)
    assert "the browser has left" in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_it_goes_on_when_a_question_cannot_be_stored(
    secret: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**kwargs: Any) -> Turn:
        raise RuntimeError("the database is away")

    async with tab(secret) as page:
        await page.read()
        with monkeypatch.context() as broken:
            broken.setattr(services, "receive", fail)
            await page.send({"text": VISA})
            assert consumers.OUR_FAULT in await page.read()
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
    assert "the database is away" in caplog.text


async def test_it_closes_after_twenty_frames_that_it_cannot_read(published: None) -> None:
    async with tab("s" * 43) as page:
        for frame in ("no question", {"sync": False}, ["sync"], {"text": 7}) * 5:
            await page.send(frame)
        closed = None
        while closed is None:
            output = await page.socket.receive_output(5)
            closed = output if output["type"] == "websocket.close" else None
        assert closed["code"] == consumers.TOO_MANY_ERRORS
    assert await texts() == []


async def test_a_question_that_is_sent_until_it_is_heard_of_is_asked_once(secret: str) -> None:
    question = {"text": VISA, "client_id": "a-name"}
    for _ in range(2):  # a page, and the same page on its next connection
        async with tab(secret) as page:
            for _ in range(2):
                await page.send(question)
                assert "govuk-error-message" not in await page.read_until("question-error")
    assert await database_sync_to_async(Turn.objects.count)() == 1
    async with tab(secret) as page:
        await page.send({"text": "And the fee?", "client_id": "a-name"})
        assert "was used for another text" in await page.read_until("question-error")
