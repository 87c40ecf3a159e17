"""What a page does with hints: none is trusted, none is needed."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from conversations import notify, selectors
from conversations.turns import services
from tests.conversations.chat.tabs import run_newest, tab
from tests.fixtures import VISA

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def secret(published: None, monkeypatch: pytest.MonkeyPatch) -> str:
    # The turns are run by the tests themselves, at a moment of their choice.
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)
    return services.new_secret()


async def test_it_is_brought_up_to_date_when_a_hint_was_lost(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "send_turn_changed", lambda **ids: None)
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        await run_newest()
        assert await page.socket.receive_nothing()
        await page.send({"sync": True})
        await page.read_until("Why this answer")
        assert page.said[-1] == "Question 1: Your answer is ready."
        await page.send({"sync": True})
        assert await page.socket.receive_nothing()


@pytest.mark.parametrize("event", [{}, {"turn": "no uuid"}, {"turn": None}])
async def test_it_survives_a_hint_that_makes_no_sense(secret: str, event: dict[str, Any]) -> None:
    async with tab(secret) as page:
        await page.read()
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        session = await database_sync_to_async(selectors.session_for_secret)(secret)
        assert session is not None
        layer = get_channel_layer()
        assert layer is not None
        await layer.group_send(notify.group_name(session.pk), {"type": "turn.changed", **event})
        await run_newest()
        await page.read_until("Why this answer")


async def test_it_shows_another_tabs_next_question(secret: str) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(tab(secret))
        await first.send({"text": VISA})
        await first.read_until('data-state="queued"')
        await run_newest()
        second = await stack.enter_async_context(tab(secret))
        await second.send({"text": "And how much is it?"})
        await second.read_until('data-state="queued"')
        await run_newest()
        await first.read_until("And how much is it?")


async def test_it_shows_the_same_to_a_second_tab(secret: str) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(tab(secret))
        await first.send({"text": VISA})
        await first.read_until('data-state="queued"')
        second = await stack.enter_async_context(tab(secret))
        await second.read_until('data-state="queued"')
        await run_newest()
        for page in (first, second):
            await page.read_until("Why this answer")
        assert first.frames[-1] == second.frames[-1]


async def test_it_says_nothing_twice(secret: str) -> None:
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        turn = await run_newest()
        await page.read_until("Why this answer")
        await database_sync_to_async(notify.send_turn_changed)(
            session_id=turn.session_id, turn_id=turn.pk
        )
        assert await page.socket.receive_nothing()


async def test_it_stops_listening_when_the_page_is_closed(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[str] = []
    layer = get_channel_layer()
    assert layer is not None
    discard = layer.group_discard

    async def leave(group: str, channel: str) -> None:
        groups.append(group)
        await discard(group, channel)

    monkeypatch.setattr(layer, "group_discard", leave)
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        turn = await run_newest()
    assert groups == [notify.group_name(turn.session_id)]


async def test_it_shows_the_page_when_there_are_no_hints(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(group: str, channel: str) -> None:
        raise ConnectionError("the channel layer is away")

    monkeypatch.setattr(get_channel_layer(), "group_add", fail)
    async with tab(secret) as page:
        await page.send({"text": VISA})
        await page.read_until('data-state="queued"')
        await run_newest()
        await page.send({"sync": True})
        await page.read_until("Why this answer")


@pytest.mark.postgres
async def test_all_hints_of_a_worker_go_through_one_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On PostgreSQL the tests have Redis too; a worker has no loop of a server's.
    monkeypatch.setattr(notify, "_loop", None)
    layer = get_channel_layer()
    assert layer is not None
    session, channel = uuid4(), await layer.new_channel()
    await layer.group_add(notify.group_name(session), channel)
    turns = [uuid4() for _ in range(3)]
    for turn in turns:
        await asyncio.to_thread(notify.send_turn_changed, session_id=session, turn_id=turn)
    result = [(await layer.receive(channel))["turn"] for _ in turns]
    assert result == list(map(str, turns))
    assert [entry.name for entry in threading.enumerate()].count("hints") == 1
