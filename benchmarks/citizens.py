"""Citizens of a running site, and what a benchmark reads of it from outside."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2

from tests.live import Site


class Citizen:
    """One conversation by REST."""

    def __init__(self, base_url: str) -> None:
        self._base, self._token = f"{base_url}/api/v1", ""
        made = self._call("POST", f"{self._base}/sessions/", {})
        self._id, self._token = made["id"], made["token"]

    def ask(self, text: str) -> str:
        """Send a message; returns the turn's id."""
        path = f"{self._base}/sessions/{self._id}/turns/"
        turn: str = self._call("POST", path, {"text": text})["id"]
        return turn

    def _call(self, method: str, url: str, body: Mapping[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        answer = httpx2.request(method, url, json=body, headers=headers, timeout=60)
        return answer.raise_for_status().json()


class Database:
    """What the bench reads of the running site's database."""

    def __init__(self, running: Site) -> None:
        self._url = running.database
        self._postgres = self._url.startswith("postgresql")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        if self._postgres:
            import psycopg

            with psycopg.connect(self._url) as connection:
                return connection.execute(query.encode()).fetchall()
        with closing(sqlite3.connect(self._url)) as connection:
            return connection.execute(query).fetchall()

    def states(self) -> dict[str, int]:
        """Return how many turns are in each state."""
        return dict(self.rows("SELECT state, count(*) FROM conversations_turn GROUP BY state"))

    def seconds(self) -> list[float]:
        """Return how long each answered turn took, from the message to the reply."""
        took = "EXTRACT(EPOCH FROM r.created_at - t.created_at)"
        if not self._postgres:
            took = "(julianday(r.created_at) - julianday(t.created_at)) * 86400"
        joined = "conversations_reply r JOIN conversations_turn t ON t.id = r.turn_id"
        result = self.rows(f"SELECT {took} FROM {joined}")  # noqa: S608  # both are ours
        return [float(row[0]) for row in result]

    def waiting(self) -> int:
        """Return how many turns are being run."""
        return self.states().get("running", 0)

    def busy(self) -> int:
        """Return how many other connections are in a transaction or a statement; 0 on SQLite."""
        if not self._postgres:
            return 0
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND state <> 'idle' AND pid <> pg_backend_pid()"
        )
        return int(self.rows(query)[0][0])


def memory(pid: int) -> float:
    """Return what a process has in memory, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
