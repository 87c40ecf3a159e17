"""Who has an item open, and what has changed of it: the socket of the staff's pages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_thread
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.utils import timezone

from ieim.config.asgi import application
from ieim.people.models import AgencyScope, User
from ieim.people.roles import Role
from review import claims
from review.colleagues import presence
from review.models import Action, ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import browser, person
from tests.review.reviewing import Reviewer, path_of

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def eva(published: None) -> User:
    return person("eva", Role.CASEWORKER, "immigration", name="Eva Ek")


@pytest.fixture
def ben(published: None) -> User:
    return person("ben", Role.CASEWORKER, "immigration", name="Ben Bo")


@pytest.fixture
def item(published: None) -> ReviewItem:
    return desk.the_item(desk.ask(VISA, {"service_select_v1": desk.BAD}))


def socket_of(item: ReviewItem, cookie: str, origin: str = "http://localhost") -> Any:
    headers = [
        (b"host", b"testserver"),
        (b"origin", origin.encode()),
        (b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()),
    ]
    return WebsocketCommunicator(application, f"/ws/review/{item.pk}/", headers=headers)


async def cookie_of(user: User) -> str:
    client = await in_thread(browser)(user)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


@asynccontextmanager
async def opened(item: ReviewItem, user: User) -> AsyncIterator[Any]:
    """An open page of an item, after its first heartbeat."""
    socket = socket_of(item, await cookie_of(user))
    connected, _ = await socket.connect()
    assert connected
    await beats(socket)
    yield socket
    await socket.disconnect()


async def beats(socket: Any, *, writes: bool = False) -> None:
    await socket.send_to(text_data=json.dumps({"writes": writes}))


async def until(socket: Any, key: str, value: Any) -> dict[str, Any]:
    """Read frames until one says this."""
    while True:
        frame: dict[str, Any] = json.loads(await socket.receive_from(timeout=PATIENCE))
        if frame.get(key) == value:
            return frame


def by_rest(item: ReviewItem, user: User) -> Any:
    return Reviewer(user).get(f"{path_of(item)}presence/").json()


PATIENCE = 30.0
READS, WRITES = {"name": "Ben Bo", "writes": False}, {"name": "Ben Bo", "writes": True}


async def test_it_shows_who_reads_who_writes_and_who_has_gone(
    item: ReviewItem, eva: User, ben: User
) -> None:
    async with opened(item, eva) as page:
        await until(page, "present", [])
        async with opened(item, ben) as other:
            await until(page, "present", [READS])
            await until(other, "present", [{"name": "Eva Ek", "writes": False}])
            await beats(other, writes=True)
            await until(page, "present", [WRITES])
            assert WRITES in await in_thread(by_rest)(item, eva)
        await until(page, "present", [])


async def test_who_sends_nothing_any_more_falls_silent(
    item: ReviewItem, eva: User, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(item, eva) as page, opened(item, ben):
        await until(page, "present", [READS])
        monkeypatch.setattr(presence, "SILENT", 0)
        await beats(page)
        await until(page, "present", [])


async def test_it_tells_of_a_claim_a_release_and_a_decision(
    item: ReviewItem, eva: User, ben: User
) -> None:
    async with opened(item, eva) as page:
        await until(page, "present", [])
        await in_thread(claims.claim)(item_id=item.pk, actor=ben)
        claimed = await until(page, "state", "claimed")
        assert (claimed["name"], claimed["version"]) == ("Ben Bo", item.version + 1)
        await in_thread(claims.release)(item_id=item.pk, actor=ben)
        await until(page, "state", "open")
        await in_thread(claims.claim)(item_id=item.pk, actor=ben)
        await in_thread(desk.decide)(item, ben, Action.WRITE, text="Please come.", sources=[])
        assert (await until(page, "state", "decided"))["name"] == "Ben Bo"


async def test_it_is_refused_to_who_may_not_see_the_item(item: ReviewItem, eva: User) -> None:
    stranger = await in_thread(person)("ola", Role.CASEWORKER, "tax")
    editor = await in_thread(person)("ed", Role.EDITOR)
    for cookie in ("", await cookie_of(stranger), await cookie_of(editor)):
        assert not (await socket_of(item, cookie).connect())[0]
    elsewhere = socket_of(item, await cookie_of(eva), origin="https://elsewhere.example")
    assert not (await elsewhere.connect())[0]


@pytest.mark.parametrize("lost", ["scope", "account", "session", "time"])
async def test_it_is_closed_when_the_right_is_lost(
    item: ReviewItem, eva: User, ben: User, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie = await cookie_of(eva)
    socket = socket_of(item, cookie)
    assert (await socket.connect())[0]

    def lose() -> None:
        if lost == "scope":
            AgencyScope.objects.filter(user=eva).update(agency="tax")
        elif lost == "account":
            User.objects.filter(pk=eva.pk).update(is_active=False)
        elif lost == "session":
            eva.set_password("another one, and a long one")
            eva.save()
        else:
            monkeypatch.setattr(settings, "IEIM_SESSION_IDLE_SECONDS", 0)

    await in_thread(lose)()
    await in_thread(claims.claim)(item_id=item.pk, actor=ben)
    closed = await socket.receive_output(timeout=PATIENCE)
    assert (closed["type"], closed["code"]) == ("websocket.close", 4403)
    await socket.disconnect()


@pytest.mark.parametrize("frame", ["no json", "[]", '"writes"', "[" * 5000])
async def test_a_frame_that_is_no_heartbeat_closes_it(
    item: ReviewItem, eva: User, frame: str
) -> None:
    socket = socket_of(item, await cookie_of(eva))
    assert (await socket.connect())[0]
    await socket.send_to(text_data=frame)
    assert (await socket.receive_output(timeout=PATIENCE))["type"] == "websocket.close"
    await socket.disconnect()


@pytest.mark.django_db(transaction=True)
def test_what_is_undone_is_not_announced(
    item: ReviewItem, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr("conversations.notify.send", lambda *message: sent.append(message))
    claims.claim(item_id=item.pk, actor=ben)
    assert len(sent) == 1
    ReviewItem.objects.update(claimed_until=timezone.now(), state="decided")
    with pytest.raises(claims.ClaimRefused):
        claims.claim(item_id=item.pk, actor=ben)
    assert len(sent) == 1
