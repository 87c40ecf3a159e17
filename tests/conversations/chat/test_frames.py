"""What the websocket reads out of a frame, and the words that it sends."""

from __future__ import annotations

import pytest

from conversations import selectors
from conversations.chat import socket as consumers
from conversations.chat.announcing import announcement
from conversations.chat.reply_presenters import ReplyView
from conversations.chat.socket import FrameError, parse_frame
from conversations.turns import services
from tests.fixtures import VISA


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "null",
        '"visa"',
        "{}",
        '{"text": 7}',
        '{"text": null}',
        '{"text": ["visa"]}',
        '{"sync": 1}',
        '{"text": "visa", "client_id": "not a name"}',
        '{"text": "visa", "client_id": 7}',
        "[" * 5000,
        '{"text": "' + "x" * consumers.MAX_FRAME + '"}',
        '{"text": "' + "é" * consumers.MAX_FRAME + '"}',
    ],
    ids=lambda text: text[:16] or "empty",
)
def test_it_reads_no_question_out_of_a_bad_frame(text: str) -> None:
    with pytest.raises(FrameError, match="question"):
        parse_frame(text, None)


def test_it_reads_no_question_out_of_bytes() -> None:
    with pytest.raises(FrameError, match="question"):
        parse_frame(None, b'{"text": "visa"}')


def test_it_announces_nothing_for_a_page_that_is_only_loaded(published: None) -> None:
    turn = services.receive(session="s", text=VISA, enqueue=False)[0]
    view = selectors.turn_view(turn.pk)
    assert announcement((view,), (view,)) == ""
    assert announcement((), (view,)) == "Question 1: We have your question."


def test_it_grows_a_reply_part_by_part() -> None:
    reply = ReplyView("answer", "", "lead", ("one", "two"), (), (), "why", (), "model", False)
    assert [part.paragraphs for part in reply.growing()] == [(), ("one",), ("one", "two")]
