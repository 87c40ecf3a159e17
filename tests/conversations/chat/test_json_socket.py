"""The JSON socket, frame by frame."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.utils import translation
from django.utils.translation import gettext

from conversations.chat import json_socket
from conversations.chat.frames import MAX_FRAME, SUBPROTOCOL, FrameError, parse
from conversations.chat.wording import words
from conversations.events import events
from conversations.models import Session, Turn
from conversations.turns import erasing, messages, refusing, services
from tests.conversations.api import integrating
from tests.conversations.api.integrating import APPLICATION, set_rates
from tests.conversations.api.integrating import json_socket as opened
from tests.conversations.chat.tabs import run_newest, texts
from tests.fixtures import VISA
from tests.model_server import scripted_model

pytestmark = pytest.mark.django_db(transaction=True)
no_rates = integrating.no_rates
BAD = ["no json", "no json"]
SAID = words("en").announced


@pytest.fixture
def token(published: None, no_rates: None, monkeypatch: pytest.MonkeyPatch) -> str:
    # The turns are run by the tests themselves, at a moment of their choice.
    monkeypatch.setattr(services, "queue", lambda turn_id: None)
    return messages.new_session()[1]


def ask(text: str = VISA, client_id: str | None = "m-1") -> dict[str, Any]:
    return {"type": "ask", "text": text, "client_id": client_id}


async def test_it_follows_a_message_to_its_answer(token: str) -> None:
    async with opened(token) as socket:
        await socket.send(ask())
        received = await socket.read()
        assert received == {
            "type": "stage",
            "turn": received["turn"],
            "event": 1,
            "stage": "received",
            "status": "done",
            "words": SAID["received"],
            "client_id": "m-1",
        }
        turn = await run_newest()
        reply = await socket.read_until("reply")
        await socket.socket.receive_nothing()
    frames = socket.frames
    assert received["turn"] == str(turn.pk)
    assert {frame["turn"] for frame in frames} == {str(turn.pk)}
    assert [frame["event"] for frame in frames] == list(range(1, len(frames) + 1))
    steps = [(f["stage"], f["status"]) for f in frames if f["type"] == "stage"][1:]
    low = ("judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1")
    assert steps == [(stage, status) for stage in low for status in ("running", "done")]
    kinds = [frame["type"] for frame in frames]
    assert kinds == sorted(kinds, key=["stage", "delta", "reply"].index)
    told = "".join(frame["text"] for frame in frames if frame["type"] == "delta")
    said = reply["reply"]
    for part in (said["title"], said["lead"], *said["facts"][0]["items"]):
        assert part in told
    assert said["sources"][0]["url"].startswith("https://")


async def test_it_says_that_a_person_will_answer(token: str) -> None:
    async with opened(token) as socket:
        await socket.send(ask())
        await socket.read()
        with scripted_model({"agency_detect_v1": BAD}) as (model, _):
            await run_newest(model)
        review = await socket.read_until("review")
        assert await socket.socket.receive_nothing()
    assert review["words"] == SAID["needs_review"]
    assert socket.frames[-2]["status"] == "stopped"
    assert "json.syntax" not in json.dumps(socket.frames)


async def test_it_shows_emergency_contacts_before_anything_is_done(token: str) -> None:
    async with opened(token) as socket:
        await socket.send(ask("I want to kill myself"))
        await socket.read()
        contacts = await socket.read()
    assert (contacts["stage"], contacts["event"]) == ("contacts", 2)
    assert contacts["contacts"]


async def test_it_says_that_the_model_is_away(token: str) -> None:
    async with opened(token) as socket:
        await socket.send(ask())
        await socket.read()
        with scripted_model({"judgement_v1": [503] * 3}) as (model, _):
            await run_newest(model)
        waiting = await socket.read_until("stage", stage="model")
    assert (waiting["status"], waiting["words"]) == ("waiting", SAID["awaiting_model"])


async def test_it_takes_a_token_by_a_frame(token: str) -> None:
    async with opened(None) as socket:
        await socket.send(ask())
        assert (await socket.read())["code"] == "unauthorised"
        await socket.send({"type": "auth", "token": token})
        await socket.send(ask())
        assert (await socket.read())["stage"] == "received"
        await socket.send({"type": "auth", "token": token})
        assert (await socket.read())["code"] == "bad-frame"
    assert await texts() == [VISA]


@pytest.mark.parametrize("wrong", ["made-up", "é"])
@pytest.mark.parametrize("by_header", [True, False])
async def test_it_closes_on_a_wrong_token(published: None, wrong: str, by_header: bool) -> None:
    async with opened(wrong if by_header else None) as socket:
        if not by_header:
            await socket.send({"type": "auth", "token": wrong})
        assert await socket.closed() == json_socket.UNAUTHORISED
    assert [frame["code"] for frame in socket.frames] == ["unauthorised"]


async def test_it_waits_for_a_token_no_longer_than_it_says(
    published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_socket, "AUTH_SECONDS", 0)
    async with opened(None) as socket:
        assert await socket.closed() == json_socket.UNAUTHORISED
    assert socket.frames == [
        {
            "type": "error",
            "turn": None,
            "event": 0,
            "code": "unauthorised",
            "words": json_socket.AUTH_LATE,
            "client_id": None,
        }
    ]


@pytest.mark.parametrize(
    ("offered", "origin", "chosen"),
    [
        ([SUBPROTOCOL], None, SUBPROTOCOL),
        (["other", SUBPROTOCOL], None, SUBPROTOCOL),
        ([SUBPROTOCOL], b"https://ask.example.org", SUBPROTOCOL),
        ([SUBPROTOCOL], b"https://evil.example.org", None),
        (["ieim.json.v2"], b"https://ask.example.org", None),
        ([], b"https://ask.example.org", "page"),
        ([], None, None),
    ],
)
async def test_it_is_chosen_by_its_subprotocol(
    published: None, offered: list[str], origin: bytes | None, chosen: str | None
) -> None:
    headers = [(b"host", b"ask.example.org")] + ([(b"origin", origin)] if origin else [])
    socket = WebsocketCommunicator(APPLICATION, "/ws/chat/", headers, offered)
    connected, answer = await socket.connect()
    assert connected is (chosen is not None)
    if connected:
        assert answer == (None if chosen == "page" else chosen)
    await socket.disconnect()


BAD_FRAMES = [
    *("", "no json", "[]", '"ask"', "{}", '{"type":7}', '{"type":"sync"}', "[" * 5000),
    *('{"type":"ask"}', '{"type":"ask","text":7}', '{"type":"ask","text":"a","client_id":7}'),
    *('{"type":"ask","text":"a","client_id":"a b"}', '{"type":"ask","text":"a","text":"b"}'),
    *('{"type":"ask","text":"\\u0000"}', '{"type":"ask","text":"\\ud800"}'),
    *('{"type":"resume"}', '{"type":"resume","after":-1}', '{"type":"resume","after":"1"}'),
    *('{"type":"resume","after":true}', '{"type":"resume","after":1.0}', '{"type":"auth"}'),
    json.dumps(ask("x" * MAX_FRAME)),
]


@pytest.mark.parametrize("frame", BAD_FRAMES, ids=lambda frame: frame[:40])
def test_it_cannot_use_a_frame(frame: str) -> None:
    with pytest.raises(FrameError):
        parse(frame)


async def test_it_goes_on_after_frames_that_it_cannot_use(token: str) -> None:
    async with opened(token, after=0) as socket:
        for number, frame in enumerate([*BAD_FRAMES[1:9], *BAD_FRAMES[-8:]], start=1):
            await socket.send(frame)
            error = await socket.read()
            assert (error["type"], error["code"], error["turn"]) == ("error", "bad-frame", None)
            assert error["event"] == number
        await socket.socket.send_to(bytes_data=b'{"type":"resume","after":0}')
        assert (await socket.read())["code"] == "bad-frame"
        await socket.send(ask())
        assert (await socket.read())["stage"] == "received"


async def test_it_closes_after_too_many_of_them(token: str) -> None:
    async with opened(token, after=0) as socket:
        for _ in range(json_socket.MAX_ERRORS):
            await socket.send("no json")
        assert await socket.closed() == json_socket.TOO_MANY_ERRORS


async def test_it_says_why_a_message_is_refused(token: str) -> None:
    async with opened(token) as socket:
        await socket.send(ask("", client_id="m-0"))
        refused = await socket.read()
        assert (refused["code"], refused["client_id"]) == ("message-refused", "m-0")
        await socket.send(ask())
        await socket.read()
        await socket.send(ask("And how much is it?", client_id="m-2"))
        assert (await socket.read())["words"] == refusing.STILL_WORKING
        await socket.send(ask("And how much is it?", client_id="m-1"))
        assert (await socket.read())["code"] == "client-id-reused"
    assert await texts() == [VISA]


async def test_it_says_so_in_the_language_that_the_program_asks_for(token: str) -> None:
    with translation.override("de"):
        german = gettext(refusing.STILL_WORKING)
    assert german != refusing.STILL_WORKING
    async with opened(token, language="de-AT, en;q=0.5") as socket:
        await socket.send(ask())
        await socket.read()
        await socket.send(ask("And how much is it?", client_id="m-2"))
        assert (await socket.read())["words"] == german


async def test_it_takes_a_message_once(token: str) -> None:
    async with opened(token) as socket:
        await socket.send(ask())
        await socket.send(ask())
        await socket.read()
        await run_newest()
        await socket.read_until("reply")
        await socket.send(ask())
        assert await socket.socket.receive_nothing()
    assert await texts() == [VISA]


async def test_it_limits_messages(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_rates(monkeypatch, turns="1/hour")
    async with opened(token) as socket:
        await socket.send(ask())
        await socket.read()
        await socket.send(ask())
        assert (await socket.read())["code"] == "rate-limit"


async def test_it_goes_on_when_a_message_cannot_be_stored(
    token: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_arguments: Any) -> Turn:
        raise RuntimeError("the database is away")

    async with opened(token) as socket:
        with monkeypatch.context() as broken:
            broken.setattr(services, "receive_turn_in", fail)
            await socket.send(ask())
            assert (await socket.read())["code"] == "server-error"
        await socket.send(ask())
        assert (await socket.read())["stage"] == "received"
    assert "the database is away" in caplog.text


async def test_it_ends_with_an_erased_session(token: str) -> None:
    async with opened(token) as socket:
        await socket.send(ask())
        await socket.read()
        session = await database_sync_to_async(Session.objects.get)()
        await database_sync_to_async(erasing.erase_session)(session_id=session.pk)
        assert await socket.closed() == json_socket.GONE
        assert socket.frames[-1]["code"] == "erased"
    async with opened(token) as socket:
        assert await socket.closed() == json_socket.UNAUTHORISED


async def test_it_shows_only_its_own_session(token: str) -> None:
    other = await database_sync_to_async(messages.new_session)()
    async with opened(token) as socket, opened(other[1], after=0) as stranger:
        await socket.send(ask())
        await socket.read()
        await run_newest()
        await socket.read_until("reply")
        assert await stranger.socket.receive_nothing()


def test_it_is_not_told_of_a_session_that_is_not_there(db: None) -> None:
    with pytest.raises(Session.DoesNotExist):
        events.news(session_id=uuid.uuid4(), after=0)
