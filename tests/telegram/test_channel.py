"""A channel from the chat to the answer: the stand-in of Telegram, and the real site."""

from __future__ import annotations

import logging
import sqlite3
import threading
from typing import Any

import httpx
import pytest

from ieim.telegram import bot as bots
from ieim.telegram import calls
from ieim.telegram.bot import Bot
from tests.fixtures import VISA
from tests.telegram import channel as channels
from tests.telegram.channel import Caseworker, Channel, Site, expect, reference_in
from tests.telegram.standin import SOMEBODY, TOKEN

house, channel = channels.house, channels.channel
BAD = ["no json", "no json"]
UNCLEAR = "passport"
IBAN = "DE89 3704 0044 0532 0130 00"
ANSWER = "Extend a tourist visa"
HELD = "A person will answer this question"


def conversations(channel: Channel) -> Any:
    """The conversation of the one chat, as REST tells it."""
    chat = channel.state.chat(SOMEBODY)
    assert chat is not None
    headers = {"Authorization": f"Bearer {chat.session.token}"}
    path = f"{channel.site.base_url}/api/v1/sessions/{chat.session.id}/"
    return httpx.get(path, headers=headers).json()


def test_a_question_is_answered_with_its_source(channel: Channel) -> None:
    channel.telegram.says(VISA)
    answer = channel.until_said(ANSWER)
    [turn] = conversations(channel)["turns"]
    assert turn["reply"]["lead"] in answer
    assert turn["reply"]["sources"][0]["url"] in answer
    assert "automated assistant (AI)" in answer
    body = channel.telegram.sent[-1]
    assert "parse_mode" not in body
    assert body["link_preview_options"] == {"is_disabled": True}
    for _ in range(3):
        channel.step()
    assert len(channel.telegram.texts) == 1


def test_a_choice_is_made_with_a_button(channel: Channel) -> None:
    channel.telegram.says(UNCLEAR)
    channel.until_said("Which of these do you mean?")
    rows = channel.telegram.sent[-1]["reply_markup"]["inline_keyboard"]
    assert [len(row) for row in rows] == [1] * len(rows)
    assert rows[-1][0]["text"] == "None of these"
    assert all(len(row[0]["callback_data"].encode()) <= 64 for row in rows)
    name = rows[0][0]["text"].partition(". ")[2].rstrip("…")
    channel.telegram.presses(name)
    channel.until_said("You chose this from what the assistant offered.")
    methods = [method for method, _ in channel.telegram.calls]
    assert "answerCallbackQuery" in methods
    assert "editMessageReplyMarkup" in methods
    channel.telegram.presses("None of these")
    channel.until_said("There is nothing to choose here any more.")


def test_none_of_these_waits_for_a_person(channel: Channel) -> None:
    channel.telegram.says(UNCLEAR)
    channel.until_said("Which of these do you mean?")
    channel.telegram.presses("None of these")
    channel.until_said(HELD)


def test_what_is_held_arrives_when_a_person_has_answered(channel: Channel) -> None:
    channel.site.model.script = {"agency_detect_v1": list(BAD)}
    channel.telegram.says(VISA)
    held = channel.until_said(HELD)
    Caseworker(channel.site.base_url).write(reference_in(held), "Please come to room 4.")
    answer = channel.until_said("Please come to room 4.")
    assert answer.endswith("A caseworker wrote this answer.")
    assert len(channel.said(HELD)) == 1


def test_a_restart_in_between_loses_and_doubles_nothing(channel: Channel) -> None:
    gate = threading.Event()
    channel.site.model.script = {"judgement_v1": [gate]}
    channel.telegram.says(VISA)
    channel.step()
    channel.crash()
    gate.set()
    channel.start()
    channel.until_said(ANSWER)
    channel.crash()
    channel.start()
    for _ in range(3):
        channel.step()
    assert len(channel.telegram.texts) == 1
    assert len(conversations(channel)["turns"]) == 1


def test_a_crash_before_storing_asks_the_same_thing_once(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel.telegram.says("Hello")
    channel.until(lambda: channel.telegram.texts, "an answer")

    def crash(*_: Any) -> None:
        raise sqlite3.OperationalError("the disk is full")

    channel.telegram.says(VISA)
    with monkeypatch.context() as broken:
        broken.setattr(type(channel.state), "finish", crash)
        with pytest.raises(sqlite3.OperationalError):
            channel.step()
    expect(lambda: conversations(channel)["turns"][-1]["state"] == "answered", "the answer")
    channel.crash()
    channel.start()
    channel.until_said(ANSWER)
    assert [turn["text"] for turn in conversations(channel)["turns"]] == ["Hello", VISA]
    assert len(channel.telegram.texts) == 2


def test_it_waits_as_long_as_telegram_says(channel: Channel) -> None:
    now = [1_000_000.0]
    channel.bot = Bot(channel.bot._api, channel.bot._assistant, channel.state, clock=lambda: now[0])
    channel.telegram.failing["sendMessage"] = [(429, {"retry_after": 40})]
    channel.telegram.says("/start")
    channel.until(lambda: not channel.telegram.failing["sendMessage"], "the call")
    now[0] += 39
    channel.step()
    assert channel.telegram.texts == []
    now[0] += 2
    channel.step()
    assert len(channel.telegram.texts) == 1


def test_it_tells_nobody_who_has_blocked_it(channel: Channel) -> None:
    channel.telegram.failing["sendMessage"] = [(403, {})]
    channel.telegram.says(VISA)
    channel.until(lambda: not channel.telegram.failing["sendMessage"], "the call")
    for _ in range(3):
        channel.step()
    assert channel.telegram.texts == []
    assert channel.state.next_look() is None
    channel.telegram.says("Hello")
    channel.until(lambda: channel.telegram.texts, "an answer to who is there again")


def test_a_group_is_refused(channel: Channel) -> None:
    channel.telegram.says(VISA, chat={"id": -5, "type": "supergroup"})
    channel.until(lambda: len(channel.telegram.calls) == 2, "the refusal")
    assert channel.telegram.texts == [
        "I answer in private chats only, so that nobody else reads your questions."
    ]
    assert channel.telegram.calls[1] == ("leaveChat", {"chat_id": -5})
    assert channel.state.chat(-5) is None


@pytest.mark.parametrize("kind", [{"photo": [{"file_id": "x"}], "caption": VISA}, {"voice": {}}])
def test_what_is_no_text_gets_an_answer(channel: Channel, kind: dict[str, Any]) -> None:
    channel.telegram.says(None, **kind)
    channel.until_said("I can only read text.")
    assert channel.state.chat(SOMEBODY) is None


@pytest.mark.parametrize(("button", "stored"), [("Send without it", False), ("as it is", True)])
def test_numbers_are_sent_as_their_sender_chooses(
    channel: Channel, button: str, stored: bool
) -> None:
    channel.telegram.says(f"{VISA}. I pay from {IBAN}")
    asked = channel.until_said(f"“{IBAN}”")
    assert "Nothing was sent yet" in asked
    assert conversations(channel)["turns"] == []
    assert IBAN not in channel.path.read_bytes().decode(errors="replace")
    channel.telegram.presses(button)
    channel.until(lambda: len(channel.telegram.texts) == 2, "what came of it")
    [turn] = conversations(channel)["turns"]
    assert (IBAN in turn["text"]) is stored


def test_it_greets_in_the_language_of_the_chat(channel: Channel) -> None:
    channel.telegram.says("/start", language="de")
    text = channel.until_said("automatische Assistent (KI)")
    assert f"{channel.site.base_url}/privacy/" in text
    channel.telegram.says("/start", language="pt-br")
    assert "112" in channel.until_said("automated assistant (AI) of")
    channel.telegram.says("x" * 2_500, language="de")
    channel.until_said("bis zu 2.000")


def test_who_tells_of_danger_is_told_at_once(channel: Channel) -> None:
    channel.telegram.says("I want to kill myself")
    channel.until_said(HELD)
    assert channel.telegram.texts[0].startswith("Please get help now")


def test_a_message_too_soon_is_told_so(channel: Channel) -> None:
    gate = threading.Event()
    channel.site.model.script = {"judgement_v1": [gate]}
    channel.telegram.says(VISA)
    channel.telegram.says("And the fee?")
    channel.until(lambda: channel.telegram.texts, "the refusal")
    assert "last" in channel.telegram.texts[0]
    gate.set()
    channel.until_said(ANSWER)


def test_erasing_leaves_nothing(channel: Channel) -> None:
    channel.telegram.says(VISA)
    channel.until_said(ANSWER)
    chat = channel.state.chat(SOMEBODY)
    assert chat is not None
    channel.telegram.says("/delete")
    channel.until_said("Your conversation is erased here.")
    headers = {"Authorization": f"Bearer {chat.session.token}"}
    path = f"{channel.site.base_url}/api/v1/sessions/{chat.session.id}/"
    assert httpx.get(path, headers=headers).status_code == 401
    assert channel.state.chat(SOMEBODY) is None
    channel.telegram.says(VISA)
    channel.until(lambda: len(channel.said(ANSWER)) == 2, "another answer")


def test_a_conversation_that_was_erased_elsewhere_begins_anew(channel: Channel) -> None:
    channel.telegram.says(VISA)
    channel.until_said(ANSWER)
    chat = channel.state.chat(SOMEBODY)
    assert chat is not None
    headers = {"Authorization": f"Bearer {chat.session.token}"}
    httpx.delete(f"{channel.site.base_url}/api/v1/sessions/{chat.session.id}/", headers=headers)
    channel.telegram.says(VISA)
    channel.until(lambda: len(channel.said(ANSWER)) == 2, "another answer")


def test_while_ieim_is_away_nothing_is_lost(channel: Channel, house: Site) -> None:
    channel.site = Site("http://127.0.0.1:9", house.model)
    channel.crash()
    channel.start()
    channel.telegram.says(VISA)
    with pytest.raises(calls.Unreachable):
        channel.step()
    assert channel.state.done == 0
    channel.site = house
    channel.crash()
    channel.start()
    channel.until_said(ANSWER)


def test_what_ieim_cannot_take_does_not_hold_up_others(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise calls.Broken("status 500")

    channel.telegram.says(VISA)
    channel.telegram.says("/start")
    with monkeypatch.context() as patched:
        patched.setattr(type(channel.bot._assistant), "open", broken)
        for _ in range(bots.TRIES - 1):
            with pytest.raises(calls.Unreachable):
                channel.step()
        channel.until_said("This is the automated assistant")
    assert channel.telegram.texts[0].startswith("The assistant cannot be reached.")


def test_it_logs_neither_words_nor_tokens(
    channel: Channel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    channel.telegram.failing["sendMessage"] = [(400, {}), (500, {})]
    channel.telegram.says(VISA)
    channel.until(lambda: not channel.telegram.failing["sendMessage"][1:], "a refusal")
    channel.telegram.says("/start")
    channel.step()
    chat = channel.state.chat(SOMEBODY)
    assert chat is not None
    assert "sendMessage" in caplog.text
    for secret in (TOKEN, chat.session.token, VISA, ANSWER):
        assert secret not in caplog.text


def test_its_file_is_for_nobody_else(channel: Channel) -> None:
    assert channel.path.stat().st_mode & 0o077 == 0
