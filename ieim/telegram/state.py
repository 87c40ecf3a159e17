"""What the channel keeps, in one SQLite file: which chat has which conversation, and what to send.

An update counts as done in the transaction that stores what came of it, so a channel that stops in
between does it again, and IEIM knows its messages by their names.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ieim.telegram.assistant import Session

_TABLES = """
CREATE TABLE IF NOT EXISTS done (one INTEGER PRIMARY KEY CHECK (one = 1), update_id INTEGER);
CREATE TABLE IF NOT EXISTS chat (
    id INTEGER PRIMARY KEY,
    language TEXT NOT NULL,
    session TEXT NOT NULL,
    reference TEXT NOT NULL,
    token TEXT NOT NULL,
    asked_at REAL NOT NULL,
    look_at REAL
);
CREATE TABLE IF NOT EXISTS told (chat INTEGER, fact TEXT, PRIMARY KEY (chat, fact));
CREATE TABLE IF NOT EXISTS outgoing (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chat INTEGER NOT NULL,
    method TEXT NOT NULL,
    body TEXT NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A call of the Bot API that is still to be made; ``body`` is what it is given."""

    method: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat with its conversation. Times are seconds since 1970; ``look_at`` None for never."""

    id: int
    language: str
    session: Session
    asked_at: float
    look_at: float | None


class State:
    """The file. Used by one thread of one process."""

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600)  # it holds what opens conversations
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(f"PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; {_TABLES}")

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All of what is written in the block, or nothing; also where it is ended from outside."""
        self._database.execute("BEGIN IMMEDIATE")
        with self._database:
            yield

    @property
    def done(self) -> int:
        """The last update that is done, 0 for none."""
        found = self._database.execute("SELECT update_id FROM done").fetchone()
        return int(found[0]) if found else 0

    def finish(self, update_id: int) -> None:
        self._database.execute("INSERT OR REPLACE INTO done VALUES (1, ?)", (update_id,))

    def chat(self, chat: int) -> Chat | None:
        """Return a chat that has a conversation, None for any other."""
        found = self._database.execute("SELECT * FROM chat WHERE id = ?", (chat,)).fetchone()
        return _chat(found) if found else None

    def put(self, chat: Chat) -> None:
        session = chat.session
        values = (chat.id, chat.language, session.id, session.reference, session.token)
        self._database.execute(
            "INSERT OR REPLACE INTO chat VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, chat.asked_at, chat.look_at),
        )

    def forget(self, chat: int) -> None:
        """Delete all that is known of a chat, but for what is still to be sent there."""
        for table, column in (("chat", "id"), ("told", "chat")):
            self._database.execute(f"DELETE FROM {table} WHERE {column} = ?", (chat,))  # noqa: S608  # our names

    def look_later(self, chat: int, at: float | None) -> None:
        """Say when to look at a chat's conversation again."""
        self._database.execute("UPDATE chat SET look_at = ? WHERE id = ?", (at, chat))

    def to_look_at(self, now: float) -> list[Chat]:
        """Return the chats whose conversation is to be looked at, the longest due first."""
        due = "SELECT * FROM chat WHERE look_at <= ? ORDER BY look_at"
        return [_chat(row) for row in self._database.execute(due, (now,)).fetchall()]

    def next_look(self) -> float | None:
        """Return when the next chat is to be looked at, None for never."""
        found = self._database.execute("SELECT min(look_at) FROM chat").fetchone()
        return None if found[0] is None else float(found[0])

    def new_facts(self, chat: int, facts: Sequence[str]) -> set[str]:
        """Return the facts that the chat has not received yet."""
        rows = self._database.execute("SELECT fact FROM told WHERE chat = ?", (chat,))
        return set(facts) - {fact for (fact,) in rows.fetchall()}

    def tell(self, chat: int, fact: str) -> None:
        """Store that the chat has received a fact, once."""
        self._database.execute("INSERT OR IGNORE INTO told VALUES (?, ?)", (chat, fact))

    def send(self, chat: int, outgoing: Outgoing) -> None:
        """Note a call that is to be made, after those that the chat waits for already."""
        body = json.dumps(outgoing.body)
        insert = "INSERT INTO outgoing (chat, method, body) VALUES (?, ?, ?)"
        self._database.execute(insert, (chat, outgoing.method, body))

    def waiting(self) -> list[int]:
        """Return the chats that something is to be sent to, the longest waiting first."""
        found = "SELECT chat FROM outgoing GROUP BY chat ORDER BY min(id)"
        return [chat for (chat,) in self._database.execute(found).fetchall()]

    def first(self, chat: int) -> tuple[int, Outgoing] | None:
        """Return the next call for a chat with its number, None where there is none."""
        found = "SELECT id, method, body FROM outgoing WHERE chat = ? ORDER BY id LIMIT 1"
        row = self._database.execute(found, (chat,)).fetchone()
        return (row[0], Outgoing(row[1], json.loads(row[2]))) if row else None

    def sent(self, number: int) -> None:
        """Delete a call that was made."""
        self._database.execute("DELETE FROM outgoing WHERE id = ?", (number,))

    def unsend(self, chat: int) -> None:
        """Delete what was to be sent to a chat."""
        self._database.execute("DELETE FROM outgoing WHERE chat = ?", (chat,))


def _chat(row: Sequence[Any]) -> Chat:
    chat, language, session, reference, token, asked_at, look_at = row
    return Chat(chat, language, Session(session, reference, token), asked_at, look_at)
