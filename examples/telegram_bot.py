"""Telegram bot for IEIM: an example of a channel in one file, over the REST API alone.

    TELEGRAM_TOKEN=…                    token of the bot, from @BotFather
    IEIM_URL=https://ask.example.org    origin of the site
    STATE=telegram.sqlite3              file for the tokens of the conversations
    python examples/telegram_bot.py

It needs Python 3.11 and httpx2. Telegram can read every message in a chat with a bot: read
docs/integrating.md before you run it. No word of a message is logged or stored.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx2

logger = logging.getLogger("telegram_bot")
PART_SIZE = 2000  # characters, of one or two UTF-16 units; Telegram allows 4,096 units
LONG_POLL = 25  # seconds that Telegram holds a request for updates
WARNING = "Telegram can read this chat. Please send no identity, card or account numbers."
FORGOTTEN = "This conversation is erased. Write to begin a new one. Telegram keeps the chat."
UNREACHABLE = "The assistant cannot be reached. Please send your message again later."
PERSONAL_DATA = "Not sent: please write it without identity, card or account numbers."
NOTICES = {  # by the state of a turn and the kind of a caseworker's line
    "awaiting_model": "It takes longer than usual. You do not need to send your question again.",
    "needs_review": "A person will answer your question here. Your reference: {reference}",
    "closed": "This question is closed.",
    "joined": "A person has joined and answers here. The assistant is silent.",
    "said": "A person wrote:",
    "left": "The person has left.",
}
AUTHORS = {
    "none": "From an automated assistant (AI) and the administration's list of services.",
    "approved": "From an automated assistant (AI). A caseworker checked it.",
    "changed": "A caseworker chose this answer from the service list.",
    "wrote": "A caseworker wrote this.",
}
Json = dict[str, Any]


class Telegram:
    """Client of the Bot API (https://core.telegram.org/bots/api)."""

    def __init__(self, token: str, origin: str = "https://api.telegram.org") -> None:
        self._client = httpx2.Client(base_url=f"{origin}/bot{token}/", timeout=LONG_POLL + 10)

    def call(self, method: str, **parameters: Any) -> Any:
        """Return the result of a method; None if it was refused, as in a chat that blocks the bot.

        Raises: httpx2.HTTPError, whose text must not be logged: the bot's token is in it.
        """
        while (response := self._client.post(method, json=parameters)).status_code == 429:
            time.sleep(response.json()["parameters"]["retry_after"])
        if response.is_error:
            logger.warning("Telegram answered %s with %s", method, response.status_code)
        if response.is_server_error or method == "getUpdates":
            response.raise_for_status()
        return response.json().get("result")

    def send(self, chat: int, text: str, buttons: Json | None = None) -> None:
        """Send plain text in parts that Telegram accepts, with buttons below the last one."""
        while len(text) > PART_SIZE:
            end = max(text.rfind(mark, 0, PART_SIZE) for mark in " \n") + 1 or PART_SIZE
            self.call("sendMessage", chat_id=chat, text=text[:end])
            text = text[end:]
        options: Json = {"link_preview_options": {"is_disabled": True}}
        if buttons:
            rows = [[{"text": label, "callback_data": d}] for label, d in buttons.items()]
            options["reply_markup"] = {"inline_keyboard": rows}
        self.call("sendMessage", chat_id=chat, text=text, **options)


class Problem(Exception):
    """A request that the site refused, and the texts that the citizen has to see."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(f"the site answered {response.status_code}")
        is_problem = response.headers.get("Content-Type") == "application/problem+json"
        body = response.json() if is_problem else {"detail": UNREACHABLE}
        if response.status_code == 401:
            body["detail"] = FORGOTTEN
        elif body.get("type") == "urn:ieim:problem:personal-data":
            body["detail"] = PERSONAL_DATA
        self.texts = [*body.get("contacts", []), body["detail"]]


class Bot:
    """Carries messages from chats to the site, and answers from the site to chats."""

    def __init__(self, telegram: Telegram, site: str, state: Path) -> None:
        self._telegram = telegram
        self._site = httpx2.Client(base_url=f"{site}/api/v1/", timeout=30)
        state.touch(mode=0o600)  # the tokens in it open conversations
        database = sqlite3.connect(state, isolation_level=None)
        database.row_factory = sqlite3.Row
        database.executescript("""
            PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;
            CREATE TABLE IF NOT EXISTS session (chat INTEGER PRIMARY KEY, language TEXT,
                id TEXT, token TEXT, asked_at REAL, poll_at REAL); -- seconds since 1970
            CREATE TABLE IF NOT EXISTS sent (key TEXT PRIMARY KEY,
                chat INTEGER REFERENCES session ON DELETE CASCADE);
        """)
        self._execute = database.execute
        self._offset = 0

    def step(self, wait: int = LONG_POLL) -> None:
        """Wait up to ``wait`` seconds for updates, handle them, and send what is new.

        Raises: httpx2.HTTPError. The next step handles the update again.
        """
        [(poll_at,)] = self._execute("SELECT coalesce(min(poll_at), 1e12) FROM session")
        wait = min(wait, max(0, int(poll_at - time.time()) + 1))
        for update in self._telegram.call("getUpdates", offset=self._offset, timeout=wait):
            self._handle(update)
            self._offset = update["update_id"] + 1
        due = self._execute("SELECT * FROM session WHERE poll_at <= ?", (time.time(),))
        for session in due.fetchall():
            self._refresh(session)

    def _handle(self, update: Json) -> None:
        query = update.get("callback_query")
        message = (query or update).get("message")
        if not message or message["chat"]["type"] != "private":
            return  # other members of a group are not to read a citizen's questions
        chat, text = message["chat"]["id"], message.get("text", "")
        sessions = self._execute("SELECT * FROM session WHERE chat = ?", (chat,)).fetchall()
        try:
            if not (text or query):
                self._telegram.send(chat, "I can only read text. Please write your question.")
            elif text.startswith("/forget"):
                for session in sessions:
                    self._call("DELETE", f"sessions/{session['id']}/", session)
                self._execute("DELETE FROM session WHERE chat = ?", (chat,))
                self._telegram.send(chat, FORGOTTEN)
            elif not sessions:
                self._open(chat, (query or message)["from"].get("language_code", "en"))
                self._handle(update)
            elif query:
                self._telegram.call("answerCallbackQuery", callback_query_id=query["id"])
                if data := re.fullmatch(r"([0-9a-f-]{36}):([0-9])", query.get("data", "")):
                    number = int(data[2]) or None
                    self._call("PUT", f"turns/{data[1]}/choice/", sessions[0], choice=number)
            elif text.startswith("/"):
                self._telegram.send(chat, "Write your question. /forget erases this conversation.")
            else:
                body = {"text": text, "client_id": f"telegram:{message['message_id']}"}
                self._call("POST", f"sessions/{sessions[0]['id']}/turns/", sessions[0], **body)
        except Problem as problem:
            for text in problem.texts:
                self._telegram.send(chat, text)
        values = (time.time(), chat)
        self._execute("UPDATE session SET asked_at = ?, poll_at = 0 WHERE chat = ?", values)

    def _open(self, chat: int, language: str) -> None:
        session = self._call("POST", "sessions/", {"language": language, "token": ""})
        self._telegram.send(chat, f"{session['notice']}\n\n{WARNING}")
        values = chat, language, session["id"], session["token"]
        self._execute("INSERT INTO session VALUES (?, ?, ?, ?, 0, 0)", values)

    def _refresh(self, session: sqlite3.Row) -> None:
        """Send what is new in a session: the older its last message, the less often."""
        chat, age = session["chat"], time.time() - session["asked_at"]
        poll_at = time.time() + min(max(age / 10, 1), 3600)
        self._execute("UPDATE session SET poll_at = ? WHERE chat = ?", (poll_at, chat))
        try:
            content = self._call("GET", f"sessions/{session['id']}/", session)
        except Problem as problem:
            logger.warning("A session cannot be read: %s", problem)
            return
        for key, paragraphs, buttons in messages(content):
            if not self._execute("SELECT 1 FROM sent WHERE key = ?", (key,)).fetchone():
                self._telegram.send(chat, "\n\n".join(filter(None, paragraphs)), buttons)
                self._execute("INSERT INTO sent VALUES (?, ?)", (key, chat))

    def _call(self, method: str, path: str, session: Any, **body: Any) -> Any:
        """Call the REST API. Raises: Problem, httpx2.TransportError."""
        headers = {"Accept-Language": session["language"]}
        if session["token"]:
            headers["Authorization"] = f"Bearer {session['token']}"
        response = self._site.request(method, path, json=body or None, headers=headers)
        if response.status_code == 401:  # erased on the site
            self._execute("DELETE FROM session WHERE token = ?", (session["token"],))
        if not response.is_success:
            raise Problem(response)
        return response.json() if response.content else None


def messages(session: Json) -> Iterator[tuple[str, Iterable[str], Json]]:
    """Yield key, paragraphs and buttons of everything that a chat is sent of a session."""
    for turn in session["turns"]:
        key, choice, state = turn["id"], turn["choice"], turn["state"]
        for number, contact in enumerate(turn["contacts"]):
            yield f"{key}:contact:{number}", [contact], {}
        if choice:
            options = {f"{o['number']}. {o['name']}": o for o in choice["options"]}
            lines = [f"{label}\n{o['agency_name']}" for label, o in options.items()]
            buttons = {label: f"{key}:{o['number']}" for label, o in options.items()}
            buttons["None of these"] = f"{key}:0"
            yield f"{key}:choice", [choice["notice"], "Which of these?", *lines], buttons
        elif turn["reply"]:
            yield f"{key}:reply", [turn["opening"], *reply_paragraphs(turn["reply"])], {}
        elif state in NOTICES:
            yield f"{key}:{state}", [NOTICES[state].format(reference=session["reference"])], {}
        for number, correction in enumerate(turn["corrections"]):
            yield f"{key}:correction:{number}", ["Corrected answer:", correction["text"]], {}
        for line in turn["lines"]:
            yield f"{key}:line:{line['at']}", [NOTICES[line["kind"]], line["text"]], {}


def reply_paragraphs(reply: Json) -> Iterator[str]:
    """Yield the paragraphs of a reply, some of them empty."""
    yield f"Still about: {reply['still_about']}" if reply["still_about"] else ""
    yield from (f"Notice: {notice['text']}" for notice in reply["agency_notices"])
    yield from (reply["title"], reply["notice"], *reply["paragraphs"])
    situation = reply["situation"]
    steps = situation["services"] if situation and situation["open"] else []
    for part in (reply, *reply["cards"], *(step["card"] for step in steps)):
        yield f"{part['title']} ({part['agency']})" if part is not reply else ""
        yield from (part["deadline"], part["lead"])
        for fact in part["facts"]:
            yield "" if fact["folded"] else "\n– ".join([fact["heading"], *fact["items"]])
    yield "The list of services does not say what you asked." if reply["unsaid"] else ""
    yield from (f"{agency} has nothing about your message." for agency in reply["unanswered"])
    yield from (f"Not answered: {part}" for part in reply["uncovered"])
    yield from (f"Source: {s['agency']}, {s['service']} {s['url']}" for s in reply["sources"])
    yield AUTHORS[reply["provenance"]["person"]]


def main() -> None:
    """Run the bot until it is stopped."""
    telegram = Telegram(os.environ["TELEGRAM_TOKEN"])
    bot = Bot(telegram, os.environ["IEIM_URL"].rstrip("/"), Path(os.environ["STATE"]))
    while True:
        try:
            bot.step()
        except httpx2.HTTPError as error:  # not its text: the token is in it
            logger.warning("No answer: %s", type(error).__name__)
            time.sleep(5)


if __name__ == "__main__":
    main()
