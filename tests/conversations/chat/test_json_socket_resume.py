"""A session's events: the same for every reader, whenever it looks and however often it is cut."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from channels.db import database_sync_to_async
from django.db import IntegrityError, transaction

from conversations.chat import json_socket
from conversations.chat.presenters import TurnView
from conversations.events import events, notify
from conversations.models import Session, SessionEvent, Stage, Turn
from conversations.states import StageStatus
from conversations.turns import messages, services
from conversations.turns.running import running
from tests.conversations.api import integrating
from tests.conversations.api.integrating import json_socket as opened
from tests.conversations.chat.tabs import run_newest
from tests.fixtures import VISA
from tests.model_server import scripted_model

pytestmark = pytest.mark.django_db(transaction=True)
no_rates = integrating.no_rates
BAD = ["no json", "no json"]
Frames = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _no_worker(published: None, no_rates: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # The turns are run by the tests themselves, at a moment of their choice.
    monkeypatch.setattr(services, "queue", lambda turn_id: None)


def told(session_id: UUID, after: int = 0) -> Frames:
    return events.news(session_id=session_id, after=after).frames


def without_ids(frames: Frames) -> Frames:
    return [{**frame, "turn": None} for frame in frames]


def conversation(session: Session) -> None:
    """Three messages: one answered, one that is no inquiry, one held."""
    for number, text in enumerate([VISA, "Thank you very much!", "How do I renew a passport?"]):
        turn, _ = messages.ask(session_id=session.pk, text=text, client_id=f"m-{number}")
        with scripted_model({"agency_detect_v1": BAD if number == 2 else []}) as (model, _):
            running.run_turn(turn_id=turn.pk, model=model)


@database_sync_to_async
def new_conversation() -> tuple[str, Frames]:
    session, token = messages.new_session()
    conversation(session)
    return token, told(session.pk)


async def test_it_goes_on_after_every_event() -> None:
    token, frames = await new_conversation()
    assert [frame["event"] for frame in frames] == list(range(1, len(frames) + 1))
    assert {frame["type"] for frame in frames} == {"stage", "delta", "reply", "review"}
    for after in range(len(frames) + 1):
        async with opened(token, after=after) as socket:
            for expected in frames[after:]:
                assert await socket.read() == expected


@pytest.mark.parametrize("after", [10**6, 2**31, 2**63, 10**30])
async def test_it_takes_a_number_beyond_the_last_for_the_last(after: int) -> None:
    _, token = await database_sync_to_async(messages.new_session)()
    async with opened(token, after=after) as socket:
        await socket.send({"type": "ask", "text": VISA})
        assert (await socket.read())["event"] == 1


async def test_it_loses_nothing_wherever_the_connection_breaks() -> None:
    session, token = await database_sync_to_async(messages.new_session)()
    seen: Frames = []
    for number in range(3):
        # Each connection reads one frame more than the one before it, and is cut off.
        for count in range(1, 5):
            async with opened(token, after=seen[-1]["event"] if seen else 0) as socket:
                if count == 1:
                    ask = {"type": "ask", "text": VISA, "client_id": f"m-{number}"}
                    await socket.send(ask)
                    seen.append(await socket.read())
                    await run_newest()
                for _ in range(count):
                    seen.append(await socket.read())
                await socket.send({"type": "ask", "text": VISA, "client_id": f"m-{number}"})
        async with opened(token, after=seen[-1]["event"]) as socket:
            await socket.read_until("reply")
        seen += socket.frames
    assert seen == await database_sync_to_async(told)(session.pk)
    assert sum(frame["type"] == "reply" for frame in seen) == 3


async def test_it_sends_again_what_is_asked_for_again() -> None:
    token, frames = await new_conversation()
    async with opened(token, after=0) as socket:
        for _ in frames:
            await socket.read()
        await socket.send({"type": "resume", "after": len(frames) - 2})
        assert [await socket.read(), await socket.read()] == frames[-2:]


async def test_it_shows_two_sockets_the_same() -> None:
    _, token = await database_sync_to_async(messages.new_session)()
    async with opened(token, after=0) as first, opened(token, after=0) as second:
        await first.send({"type": "ask", "text": VISA, "client_id": "m"})
        await first.read()
        await second.send("no json")
        await first.send("no json")
        await run_newest()
        for socket in (first, second):
            await socket.read_until("reply")
    assert first.frames == second.frames


async def test_it_repairs_a_lost_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "turn_changed", lambda **ids: None)
    monkeypatch.setattr(json_socket, "LOOK_SECONDS", 0.01)
    _, token = await database_sync_to_async(messages.new_session)()
    async with opened(token) as socket:
        await socket.send({"type": "ask", "text": VISA})
        await socket.read()
        await run_newest()
        await socket.read_until("reply")


async def test_it_goes_on_when_a_look_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(json_socket, "LOOK_SECONDS", 0.01)
    look, fails = events.news, [RuntimeError("the database is away")] * 2

    def news(**arguments: Any) -> events.News:
        if fails:
            raise fails.pop()
        return look(**arguments)

    monkeypatch.setattr(events, "news", news)
    _, token = await database_sync_to_async(messages.new_session)()
    async with opened(token) as socket:
        await socket.send({"type": "ask", "text": VISA})
        assert (await socket.read())["event"] == 1
    assert caplog.text.count("the database is away") >= 2


@pytest.mark.parametrize("seed", range(4))
def test_it_tells_the_same_whenever_one_looks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    late, _ = messages.new_session()
    conversation(late)
    chance = random.Random(seed)
    looks = 0

    def look(*, session_id: UUID, turn_id: UUID) -> None:
        nonlocal looks
        if seed == 0 or chance.random() < 0.5:
            looks += 1
            told(session_id)

    monkeypatch.setattr(notify, "turn_changed", look)
    watched, _ = messages.new_session()
    conversation(watched)
    assert looks > 5
    assert without_ids(told(watched.pk)) == without_ids(told(late.pk))


def test_it_tells_every_reader_the_same(in_threads: Callable[..., list[Any]]) -> None:
    session, _ = messages.new_session()
    done = threading.Event()

    def work() -> list[Frames]:
        try:
            conversation(session)
        finally:
            done.set()
        return []

    def watch() -> list[Frames]:
        seen = []
        while not done.is_set():
            seen.append(told(session.pk))
        return seen

    looks = in_threads([work, watch, watch, watch])
    frames = told(session.pk)
    assert [frame["event"] for frame in frames] == list(range(1, len(frames) + 1))
    assert sum(map(len, looks)) > 3
    for seen in (frames_seen for look in looks for frames_seen in look):
        assert seen == frames[: len(seen)]


def test_it_numbers_what_is_told_at_once(in_threads: Callable[..., list[Any]]) -> None:
    session, _ = messages.new_session()

    def complain() -> list[int]:
        tell = partial(events.tell_error, session_id=session.pk, code="bad-frame", words="x")
        return [tell(client_id=None) for _ in range(20)]

    def work() -> list[int]:
        conversation(session)
        return []

    def watch() -> list[int]:
        return [len(told(session.pk)) for _ in range(20)]

    numbers = in_threads([work, complain, complain, watch, watch])
    frames = told(session.pk)
    assert [frame["event"] for frame in frames] == list(range(1, len(frames) + 1))
    errors = [frame["event"] for frame in frames if frame["type"] == "error"]
    assert sorted(numbers[1] + numbers[2]) == errors


def test_it_has_the_database_refuse_a_number_or_a_fact_twice() -> None:
    session, _ = messages.new_session()
    events.tell_error(session_id=session.pk, code="bad-frame", words="x", client_id=None)
    stored = SessionEvent.objects.get()
    for changed in ({"number": 2}, {"key": "other"}):
        row = {"number": stored.number, "key": stored.key, **changed}
        with pytest.raises(IntegrityError), transaction.atomic():
            SessionEvent.objects.create(session=session, kind="error", body={}, **row)


def test_it_tells_of_a_persons_decisions_as_well() -> None:
    turn = Turn(number=1, state="answered")
    view = TurnView(turn.id, 1, VISA, None, "answered", (), None)  # type: ignore[arg-type]
    stages = [
        Stage(contract="judgement_v1", status=StageStatus.PASSED),
        Stage(contract="agency_detect_v1", status=StageStatus.OVERRIDDEN, round=2),
    ]
    facts = [fact.body.get("status", fact.kind) for fact in events.facts(turn, stages, view, None)]
    assert facts == [
        "done",
        *("running", "done"),
        *("running", "stopped", "review"),
        *("running", "stopped", "review", "done"),
    ]


def test_it_tells_of_a_stage_that_a_correction_made_void_as_it_was() -> None:
    turn = Turn(number=1, state="running")
    view = TurnView(turn.id, 1, VISA, None, "running", (), None)  # type: ignore[arg-type]
    void = Stage(contract="agency_detect_v1", status=StageStatus.PENDING, round=2)
    told = events.facts(turn, [void], view, None, {("agency_detect_v1", 1)})
    assert [fact.body.get("status", fact.kind) for fact in told] == ["done", "running", "done"]
