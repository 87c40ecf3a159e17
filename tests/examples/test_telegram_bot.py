"""The example of a channel between a stand-in of Telegram's API and a real server of IEIM."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from examples import telegram_bot
from examples.telegram_bot import PERSONAL_DATA, UNREACHABLE, WARNING, Bot, Telegram
from tests import live
from tests.fixtures import VISA
from tests.model_server import QUICK

TOKEN = "123456:a-token-for-tests"
UNCLEAR = "passport"
ANSWER = "Extend a tourist visa"
HELD = "A person will answer your question here."
IBAN = "DE89 3704 0044 0532 0130 00"
TIMEOUT = 60.0


class TelegramServer:
    """Bot API on loopback. ``failures``: the statuses of the next calls of a method."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.failures: dict[str, list[int]] = {}
        self._id = 100
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                parameters = json.loads(self.rfile.read(size) or "{}")
                token, _, method = self.path.removeprefix("/bot").partition("/")
                status, result = server.answer(method, parameters) if token == TOKEN else (404, [])
                self.send_response(status)
                self.end_headers()
                body = {"ok": status == 200, "result": result, "parameters": {"retry_after": 0}}
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *args: Any) -> None: ...

        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.listener.server_port}"

    def answer(self, method: str, parameters: dict[str, Any]) -> tuple[int, Any]:
        status = self.failures[method].pop(0) if self.failures.get(method) else 200
        if status != 200:
            return status, None
        if method == "getUpdates":
            offset = parameters["offset"]
            self.updates = [update for update in self.updates if update["update_id"] >= offset]
            if not self.updates:
                time.sleep(min(parameters["timeout"], 0.2))
            return 200, self.updates
        if method == "sendMessage":
            units = len(parameters["text"].encode("utf-16-le")) // 2
            if not 0 < units <= 4096:
                return 400, None
        self.calls.append((method, parameters))
        return 200, {"message_id": 1}

    def write(self, text: str | None, chat: int = 1, kind: str = "private") -> None:
        """Let a person write a text; without one, send a picture."""
        content: dict[str, Any] = {"photo": []} if text is None else {"text": text}
        message = {"chat": {"id": chat, "type": kind}, "from": {"id": chat}, **content}
        self._add("message", {**message, "message_id": self._id})

    def press(self, data: str) -> None:
        """Let a person press a button with ``data``."""
        message = {"chat": {"id": 1, "type": "private"}, "message_id": 1, "text": "Which?"}
        self._add("callback_query", {"id": "1", "from": {}, "message": message, "data": data})

    def _add(self, kind: str, content: dict[str, Any]) -> None:
        self._id += 1
        self.updates.append({"update_id": self._id, kind: content})

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Messages that arrived."""
        return [parameters for method, parameters in self.calls if method == "sendMessage"]

    def texts(self, chat: int = 1) -> list[str]:
        """Texts of the messages that arrived in a chat."""
        return [message["text"] for message in self.messages if message["chat_id"] == chat]

    def buttons(self) -> dict[str, str]:
        """Data of each button of the last message by its label."""
        rows = self.messages[-1]["reply_markup"]["inline_keyboard"]
        return {button["text"]: button["callback_data"] for row in rows for button in row}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Origin of a running site."""
    with live.served(tmp_path_factory.mktemp("site")) as base_url:
        yield base_url


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    server = TelegramServer()
    thread = threading.Thread(target=server.listener.serve_forever, kwargs=QUICK, daemon=True)
    thread.start()
    yield server
    server.listener.shutdown()
    server.listener.server_close()
    thread.join()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite3"


@pytest.fixture
def bot(telegram: TelegramServer, site: str, state: Path) -> Bot:
    return Bot(Telegram(TOKEN, telegram.origin), site, state)


def run(bot: Bot, until: Callable[[], Any]) -> None:
    """Let the bot work until a condition is true, and one step more for what should not follow."""
    end = time.monotonic() + TIMEOUT
    while not until():
        assert time.monotonic() < end
        bot.step(wait=1)
    bot.step(wait=0)


def run_until_text(bot: Bot, telegram: TelegramServer, words: str) -> str:
    """Let the bot work until the last message of the chat has some words, and return it."""
    run(bot, lambda: words in "".join(telegram.texts()[-1:]))
    return telegram.texts()[-1]


class Conversation:
    """The conversation of the one chat, with the token in the bot's file."""

    def __init__(self, site: str, state: Path) -> None:
        with sqlite3.connect(state) as database:
            [(session, token)] = database.execute("SELECT id, token FROM session").fetchall()
        self._url = f"{site}/api/v1/sessions/{session}/"
        self._headers = {"Authorization": f"Bearer {token}"}

    def call(self, method: str = "GET") -> httpx2.Response:
        return httpx2.request(method, self._url, headers=self._headers)

    @property
    def texts(self) -> list[str]:
        """Messages that the site has taken."""
        return [turn["text"] for turn in self.call().json()["turns"]]


def write_as_caseworker(site: str, reference: str, text: str) -> None:
    """Answer the question of a conversation by the REST API for reviewers."""
    with httpx2.Client(base_url=site, timeout=30) as http:
        http.get("/staff/login/")
        form = {"username": "caseworker", "password": "demo-caseworker"}
        token = {"csrfmiddlewaretoken": http.cookies["csrftoken"]}
        assert http.post("/staff/login/", data={**form, **token}).status_code == 302
        headers = {"X-CSRFToken": http.cookies["csrftoken"]}
        [item] = http.get("/api/v1/review/items/", params={"q": reference}).json()["items"]
        path = f"/api/v1/review/items/{item['id']}/"
        headers["If-Match"] = http.post(f"{path}claim/", headers=headers).headers["ETag"]
        body = {"action": "write", "reason": "Known.", "payload": {"text": text}}
        assert http.post(f"{path}decide/", json=body, headers=headers).is_success


def test_it_answers_with_the_source(bot: Bot, telegram: TelegramServer) -> None:
    telegram.write(VISA)
    answer = run_until_text(bot, telegram, ANSWER)
    notice, _ = telegram.texts()
    assert "automated assistant (AI)" in notice
    assert WARNING in notice
    assert "Source: " in answer
    assert "automated assistant (AI)" in answer
    assert "parse_mode" not in telegram.messages[-1]


def test_a_choice_by_button_and_the_answer_of_a_person(
    bot: Bot, telegram: TelegramServer, site: str
) -> None:
    telegram.write(UNCLEAR)
    run_until_text(bot, telegram, "Which of these?")
    buttons = telegram.buttons()
    assert all(len(data.encode()) <= 64 for data in buttons.values())
    telegram.press(buttons["None of these"])
    result = run_until_text(bot, telegram, HELD)
    write_as_caseworker(site, result.split()[-1], "Please come to room 4.")
    answer = run_until_text(bot, telegram, "Please come to room 4.")
    assert answer.endswith("A caseworker wrote this.")
    assert sum(HELD in text for text in telegram.texts()) == 1


def test_a_service_is_chosen_by_button(bot: Bot, telegram: TelegramServer) -> None:
    telegram.write(UNCLEAR)
    run_until_text(bot, telegram, "Which of these?")
    buttons = telegram.buttons()
    telegram.press(next(iter(buttons.values())))
    run_until_text(bot, telegram, "Source: ")
    telegram.press(buttons["None of these"])
    run_until_text(bot, telegram, "There is nothing to choose")
    telegram.press("forged")
    run(bot, lambda: not telegram.updates)


def test_numbers_are_not_sent_on(
    bot: Bot, telegram: TelegramServer, site: str, state: Path
) -> None:
    telegram.write(f"{VISA}. I pay from {IBAN}")
    run_until_text(bot, telegram, PERSONAL_DATA)
    assert Conversation(site, state).texts == []


def test_help_comes_first_in_danger(bot: Bot, telegram: TelegramServer) -> None:
    telegram.write("I want to kill myself")
    run_until_text(bot, telegram, HELD)
    _, contact, _ = telegram.texts()
    assert "112" in contact or "telephone" in contact.lower()


def test_forget_erases_the_conversation(
    bot: Bot, telegram: TelegramServer, site: str, state: Path
) -> None:
    telegram.write(VISA)
    run_until_text(bot, telegram, ANSWER)
    assert state.stat().st_mode & 0o077 == 0
    first = Conversation(site, state)
    telegram.write("/forget")
    run_until_text(bot, telegram, "This conversation is erased.")
    assert first.call().status_code == 401
    with sqlite3.connect(state) as database:
        assert database.execute("SELECT chat FROM session").fetchall() == []
        assert database.execute("SELECT chat FROM sent").fetchall() == []
    assert VISA.encode() not in state.read_bytes()

    telegram.write(VISA)
    run_until_text(bot, telegram, ANSWER)
    Conversation(site, state).call("DELETE")
    telegram.write(VISA)
    run_until_text(bot, telegram, "Write to begin a new one.")
    telegram.write(VISA)
    run_until_text(bot, telegram, ANSWER)


def test_a_restart_asks_nothing_twice(
    bot: Bot, telegram: TelegramServer, site: str, state: Path
) -> None:
    telegram.write(VISA)
    bot.step(wait=1)  # Telegram is not told yet that the update is handled
    bot = Bot(Telegram(TOKEN, telegram.origin), site, state)
    run_until_text(bot, telegram, ANSWER)
    assert Conversation(site, state).texts == [VISA]
    assert sum(ANSWER in text for text in telegram.texts()) == 1


def test_a_chat_that_refuses_messages_holds_up_no_other(bot: Bot, telegram: TelegramServer) -> None:
    telegram.failures["sendMessage"] = [403, 429]
    telegram.write("/start", chat=2)
    telegram.write("/start", chat=3)
    run(bot, lambda: telegram.texts(chat=3))
    assert telegram.updates == []


def test_an_update_is_handled_again_while_a_server_is_away(
    telegram: TelegramServer, site: str, state: Path
) -> None:
    telegram.write(VISA)
    away = Bot(Telegram(TOKEN, telegram.origin), "http://127.0.0.1:9", state)
    with pytest.raises(httpx2.ConnectError):
        away.step(wait=0)
    telegram.failures["sendMessage"] = [502]
    bot = Bot(Telegram(TOKEN, telegram.origin), site, state)
    with pytest.raises(httpx2.HTTPStatusError):
        bot.step(wait=0)
    run_until_text(bot, telegram, ANSWER)


def test_a_failure_of_the_site_is_said(telegram: TelegramServer, state: Path) -> None:
    # Telegram's stand-in has no page of IEIM: it answers 404, and not as IEIM does.
    bot = Bot(Telegram(TOKEN, telegram.origin), telegram.origin, state)
    telegram.write(VISA)
    run_until_text(bot, telegram, UNREACHABLE)


def test_groups_are_ignored_and_pictures_are_not_read(bot: Bot, telegram: TelegramServer) -> None:
    telegram.write(VISA, chat=-5, kind="supergroup")
    telegram.write(None)
    run_until_text(bot, telegram, "I can only read text.")
    assert len(telegram.messages) == 1


def test_a_long_text_is_sent_in_parts(telegram: TelegramServer) -> None:
    text = "🛂 word\n" * 900 + "x" * 2500
    Telegram(TOKEN, telegram.origin).send(1, text, {"Label": "data"})
    assert "".join(telegram.texts()) == text
    assert [("reply_markup" in message) for message in telegram.messages][-2:] == [False, True]


def test_the_log_has_neither_words_nor_tokens(
    telegram: TelegramServer,
    site: str,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    for name, value in {"TELEGRAM_TOKEN": TOKEN, "IEIM_URL": site, "STATE": str(state)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(telegram_bot, "Telegram", partial(Telegram, origin=telegram.origin))
    monkeypatch.setattr(telegram_bot, "time", SimpleNamespace(time=time.time, sleep=sleep))
    telegram.failures = {"getUpdates": [500, 409, 200, 401], "sendMessage": [403]}
    telegram.write(VISA)
    with pytest.raises(KeyboardInterrupt):
        telegram_bot.main()
    assert Conversation(site, state).texts == [VISA]
    assert [record.getMessage() for record in caplog.records if record.name == "telegram_bot"] == [
        "Telegram answered getUpdates with 500",
        "No answer: HTTPStatusError",
        "Telegram answered getUpdates with 409",
        "No answer: HTTPStatusError",
        "Telegram answered sendMessage with 403",
        "Telegram answered getUpdates with 401",
        "No answer: HTTPStatusError",
    ]
