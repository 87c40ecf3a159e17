"""A Telegram bot over IEIM's REST API and webhooks: an example of a channel, in one file.

    TELEGRAM_TOKEN=…                       the bot's, from @BotFather
    IEIM_URL=https://ask.example.org       the site
    IEIM_WEBHOOK=telegram                  what `manage.py webhooks add telegram URL` was given
    IEIM_WEBHOOK_SECRET=whsec_…            and printed; URL leads to this program
    LISTEN=127.0.0.1:9000                  where it waits for webhooks, behind a proxy with TLS
    STATE=telegram.sqlite3                 chats and the tokens of their conversations
    python examples/telegram_bot.py

Telegram can read every message of a chat with a bot: decide first whether that may be
(docs/integrating.md). Needs httpx alone. Nothing that is written or answered is logged or stored.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

LONGEST = 4000
"""Characters of a message; Telegram takes 4,096 UTF-16 units."""
SENT_WITHIN = 300
"""Seconds for which a webhook is valid."""
WAIT = 25
"""Seconds for which Telegram holds a request for updates."""
GREETING = (
    "This is the automated assistant (AI) of {name}. Write your question. Telegram can read what "
    "you write here: send no identity, card or account numbers. /delete erases the conversation."
)

Json = dict[str, Any]


class Telegram:
    """The Bot API (https://core.telegram.org/bots/api)."""

    def __init__(self, token: str, origin: str = "https://api.telegram.org") -> None:
        self._client = httpx.Client(base_url=f"{origin}/bot{token}/", timeout=WAIT + 10)

    def updates(self, after: int) -> list[Json]:
        """Return what was written and pressed since update ``after``, which is confirmed."""
        result = self._call("getUpdates", offset=after + 1, timeout=WAIT)
        return list(result) if isinstance(result, list) else []

    def send(self, chat: int, text: str, buttons: Mapping[str, str] | None = None) -> None:
        """Send a text in parts, the buttons (label and data of each) below the last one."""
        parts = [text[at : at + LONGEST] for at in range(0, len(text), LONGEST)]
        for part in parts:
            more: Json = {}
            if buttons and part is parts[-1]:
                rows = [[{"text": label[:60], "callback_data": d}] for label, d in buttons.items()]
                more["reply_markup"] = {"inline_keyboard": rows}
            self._call("sendMessage", chat_id=chat, text=part, **more)

    def acknowledge(self, query: str) -> None:
        """Let a pressed button rest."""
        self._call("answerCallbackQuery", callback_query_id=query)

    def _call(self, method: str, **fields: Any) -> Any:
        return self._client.post(method, json=fields).raise_for_status().json().get("result")


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation on the site, and the token that opens it."""

    id: str
    token: str


class Site:
    """IEIM's REST API (docs/integrating.md)."""

    def __init__(self, origin: str, webhook: str) -> None:
        self._client = httpx.Client(base_url=f"{origin}/api/v1/", timeout=30)
        self._webhook = webhook

    def name(self) -> str:
        """Return whose assistant it is."""
        return str(self._client.get("administration/").json().get("name") or "IEIM")

    def open(self) -> Session:
        """Open a conversation; its news come by the webhook."""
        response = self._client.post("sessions/", json={"webhook": self._webhook})
        made = response.raise_for_status().json()
        return Session(made["id"], made["token"])

    def ask(self, session: Session, text: str, client_id: str) -> httpx.Response:
        """Send a message; the same ``client_id`` is the same message."""
        body = {"text": text, "client_id": client_id}
        return self._send("POST", f"sessions/{session.id}/turns/", session, body)

    def choose(self, session: Session, turn: str, number: int | None) -> httpx.Response:
        """Choose an option of a turn, None for none of these."""
        return self._send("PUT", f"turns/{turn}/choice/", session, {"choice": number})

    def turn(self, session: Session, turn: str) -> Json | None:
        """Return a turn, None where it is gone."""
        response = self._send("GET", f"turns/{turn}/", session)
        return response.json() if response.is_success else None

    def erase(self, session: Session) -> None:
        """Erase a conversation for good."""
        self._send("DELETE", f"sessions/{session.id}/", session)

    def _send(
        self, method: str, path: str, session: Session, body: Json | None = None
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {session.token}"}
        return self._client.request(method, path, json=body, headers=headers)


class Chats:
    """The conversation of each chat and the webhooks that came, in a SQLite file."""

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS chat (chat INTEGER PRIMARY KEY, session TEXT, token TEXT)"
        )
        self._database.execute("CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY)")

    def session(self, chat: int) -> Session | None:
        """Return the conversation of a chat."""
        row = self._one("SELECT session, token FROM chat WHERE chat = ?", chat)
        return Session(*row) if row else None

    def of_session(self, session: str) -> tuple[int, Session] | None:
        """Return the chat of a conversation."""
        row = self._one("SELECT chat, session, token FROM chat WHERE session = ?", session)
        return (row[0], Session(row[1], row[2])) if row else None

    def put(self, chat: int, session: Session) -> None:
        """Store the conversation of a chat in the place of the one before."""
        self._one("INSERT OR REPLACE INTO chat VALUES (?, ?, ?)", chat, session.id, session.token)

    def forget(self, chat: int) -> None:
        """Remove all that is stored of a chat."""
        self._one("DELETE FROM chat WHERE chat = ?", chat)

    def has(self, event: str) -> bool:
        """Return whether an event was delivered."""
        return self._one("SELECT 1 FROM event WHERE id = ?", event) is not None

    def delivered(self, event: str) -> None:
        """Store that an event was delivered."""
        self._one("INSERT OR IGNORE INTO event VALUES (?)", event)

    def _one(self, statement: str, *values: Any) -> Any:
        with self._lock:
            return self._database.execute(statement, values).fetchone()


class Bot:
    """Bring what a chat writes to the site, and what the site answers to the chat."""

    def __init__(self, telegram: Telegram, site: Site, chats: Chats) -> None:
        self.telegram, self.site, self.chats = telegram, site, chats

    def handle(self, update: Json) -> None:
        """Do what a message or a pressed button asks for."""
        query = update.get("callback_query")
        message = (query or update).get("message") or {}
        chat = message.get("chat", {})
        if query:
            self._press(chat["id"], query)
        elif chat.get("type") != "private":
            return  # nobody else is to read a citizen's questions
        elif not isinstance(message.get("text"), str):
            self.telegram.send(chat["id"], "Please write your question as text.")
        elif message["text"].startswith("/delete"):
            self._erase(chat["id"])
        elif message["text"].startswith("/"):
            self.telegram.send(chat["id"], GREETING.format(name=self.site.name()))
        else:
            self._ask(chat["id"], message["text"], f"{chat['id']}:{message['message_id']}")

    def _ask(self, chat: int, text: str, client_id: str) -> None:
        session = self.chats.session(chat) or self._open(chat)
        response = self.site.ask(session, text, client_id)
        if response.status_code in (401, 404):  # erased by whoever has the link
            response = self.site.ask(self._open(chat), text, client_id)
        self._report(chat, response)

    def _open(self, chat: int) -> Session:
        session = self.site.open()
        self.chats.put(chat, session)
        return session

    def _press(self, chat: int, query: Json) -> None:
        session, data = (
            self.chats.session(chat),
            re.fullmatch(r"([0-9a-f-]{36}):(\d)", query["data"]),
        )
        self.telegram.acknowledge(query["id"])
        if session and data:
            number = int(data[2]) or None
            self._report(chat, self.site.choose(session, data[1], number))

    def _erase(self, chat: int) -> None:
        if session := self.chats.session(chat):
            self.site.erase(session)
        self.chats.forget(chat)
        self.telegram.send(chat, "Your conversation is erased. Telegram keeps what stands here.")

    def _report(self, chat: int, response: httpx.Response) -> None:
        """Send what the site says at once: help lines, and why it refuses."""
        body = response.json() if response.content else {}
        for contact in body.get("contacts", []):
            self.telegram.send(chat, contact)
        if response.is_client_error:
            self.telegram.send(chat, body.get("detail", "That did not work."))

    def deliver(self, session_id: str, turn_id: str) -> None:
        """Send what a turn of a conversation says now."""
        if known := self.chats.of_session(session_id):
            chat, session = known
            if turn := self.site.turn(session, turn_id):
                self.telegram.send(chat, "\n\n".join(texts(turn)) or "…", dict(buttons(turn)))


def texts(turn: Json) -> Iterator[str]:
    """Yield the paragraphs of what a turn shows."""
    reply, choice = turn.get("reply"), turn.get("choice")
    if turn.get("opening"):
        yield turn["opening"]
    if reply:
        yield from filter(None, [reply["title"], reply["deadline"], *reply["paragraphs"]])
        for part in (reply, *reply["cards"]):
            named = [] if part is reply else [f"{part['title']} ({part['agency']})"]
            facts = [f for f in part["facts"] if not f["folded"]]
            lines = [f"{f['heading']}: {'; '.join(f['items'])}" for f in facts]
            yield from filter(None, [*named, part["lead"], *lines])
        if reply["situation"] and reply["situation"]["open"]:
            steps = reply["situation"]["services"]
            yield "\n".join(f"{n}. {s['card']['title']}" for n, s in enumerate(steps, 1))
        yield from (f"{s['service']}: {s['url']}" for s in reply["sources"] if s["url"])
        yield "From an automated assistant (AI) and the administration's list of services."
    elif choice:
        yield choice["notice"] or "Which of these do you mean?"
    elif turn["state"] == "needs_review":
        yield "A person reads your question. The answer comes here."


def buttons(turn: Json) -> Iterator[tuple[str, str]]:
    """Yield label and data of a button for each option of a turn that asks back."""
    if turn.get("choice") and not turn.get("reply"):
        for option in turn["choice"]["options"]:
            yield option["name"], f"{turn['id']}:{option['number']}"
        yield "None of these", f"{turn['id']}:0"


def is_signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether a webhook is the site's and recent (https://www.standardwebhooks.com)."""
    sent, key = headers.get("webhook-timestamp", "0"), secret.removeprefix("whsec_")
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    own = hmac.new(base64.b64decode(key), signed, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(own).decode()
    given = headers.get("webhook-signature", "").split()
    recent = sent.isdecimal() and abs(time.time() - int(sent)) < SENT_WITHIN
    return recent and any(hmac.compare_digest(expected, each) for each in given)


def receiver(bot: Bot, secret: str, address: tuple[str, int]) -> ThreadingHTTPServer:
    """Return a server that takes webhooks and delivers what they are about."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 65536))
            status = 204 if is_signed(secret, dict(self.headers.items()), body) else 401
            event = self.headers.get("webhook-id", "")
            if status == 204 and not bot.chats.has(event):
                data = json.loads(body)["data"]
                try:
                    bot.deliver(data["session"], data["turn"])
                    bot.chats.delivered(event)
                except httpx.HTTPError:
                    status = 503  # the site sends it again
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    return ThreadingHTTPServer(address, Handler)


def main() -> None:
    """Run the bot until it is stopped."""
    env = os.environ
    site = Site(env["IEIM_URL"].rstrip("/"), env["IEIM_WEBHOOK"])
    bot = Bot(Telegram(env["TELEGRAM_TOKEN"]), site, Chats(Path(env["STATE"])))
    host, _, port = env.get("LISTEN", "127.0.0.1:9000").rpartition(":")
    server = receiver(bot, env["IEIM_WEBHOOK_SECRET"], (host, int(port)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    after = 0
    while True:
        try:
            for update in bot.telegram.updates(after):
                bot.handle(update)
                after = update["update_id"]
        except httpx.HTTPStatusError as error:
            if error.response.is_client_error:  # a chat that blocks the bot: go on with the next
                after += 1
        except httpx.HTTPError:  # not logged: its text has the bot's token in it
            time.sleep(5)


if __name__ == "__main__":
    main()
