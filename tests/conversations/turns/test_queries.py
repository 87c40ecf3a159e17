"""How often a turn asks the database: each query is a trip there and back while a citizen waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from conversations.turns import running, services
from tests.fixtures import VISA, Ask

TAKEN = 15  # one of them where Redis counts what is sent
RUN = 69  # two of them whether an administrator has switched something off


@contextmanager
def watching() -> Iterator[list[str]]:
    """Gather the statements of this thread; its own log is emptied while a turn waits."""
    statements: list[str] = []

    def wrapper(execute: Any, sql: str, *rest: Any) -> Any:
        if not sql.startswith("BEGIN"):  # SQLite's own way
            statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(wrapper):
        yield statements


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)  # within a test's own one there are more savepoints
def test_a_turn_asks_no_more_often_than_it_has_to(ask: Ask) -> None:
    ask(VISA)  # what a process reads once
    with watching() as statements:
        turn, _ = services.receive(session=services.new_secret(), text=VISA, enqueue=False)
    assert len(statements) <= TAKEN
    with watching() as statements:
        running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "answered"
    assert len(statements) <= RUN, "\n".join(sql[:150] for sql in statements)
