"""Every way of a message while a caseworker has the conversation: it is theirs, nothing runs."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from celery import current_app
from channels.db import database_sync_to_async
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client

from conversations.chat import cookies
from conversations.models import Attempt, PersonRequest, Reply, Turn
from conversations.person import takeovers
from conversations.person.models import Ended
from conversations.turns import running
from conversations.turns import services as receiving
from conversations.turns.moves import RUN_TURN
from conversations.turns.services import new_session, receive
from ieim.people.models import User
from review import talking as desk_talk
from tests.conversations.api.integrating import SESSIONS
from tests.conversations.chat.tabs import tab
from tests.conversations.person.asking import item_of, taken_over, wants
from tests.conversations.turns.test_replacing import talk_goes_on
from tests.fixtures import VISA
from tests.review import desk

__all__ = ["talk_goes_on"]  # a fixture

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = (VISA, "and how much does it cost?", "hello", "Wie viel kostet das?", "I want to die", "?!")


class World:
    """A session with an answer that goes on with the talk, and a caseworker who has it."""

    def __init__(self) -> None:
        _, self.token, self.secret = new_session()
        for text in (VISA, "and for a passport?"):
            self.answered = receive(session=self.secret, text=text, enqueue=False)[0]
            running.run_turn(turn_id=self.answered.pk)
        self.request: PersonRequest = wants(self.secret)
        self.session = str(self.request.session_id)
        taken_over(self.request, desk.person("eva"))
        self.ran = Attempt.objects.count(), Reply.objects.count()

    @property
    def browser(self) -> Client:
        """The citizen's browser, without JavaScript."""
        response, client = HttpResponse(), Client()
        cookies.set_cookie(response, self.secret)
        client.cookies = response.cookies
        return client

    def post(self, path: str, body: Any) -> Any:
        """Send something by REST."""
        return Client(headers={"Authorization": f"Bearer {self.token}"}).post(
            path, body, content_type="application/json"
        )


async def by_form(world: World, text: str) -> None:
    await database_sync_to_async(world.browser.post)("/ask/", {"text": text})


async def by_rest(world: World, text: str) -> None:
    path = f"{SESSIONS}{world.session}/turns/"
    answer = await database_sync_to_async(world.post)(path, {"text": text})
    assert (answer.status_code, answer.json()["state"]) == (202, "with_person")


async def by_page(world: World, text: str) -> None:
    async with tab(world.secret) as page:
        await page.send({"text": text})
        await page.read_until('data-state="with_person"')


async def by_command(world: World, text: str) -> None:
    call = partial(call_command, "ask", "--json", "--session", world.session, "--", text)
    out = io.StringIO()
    await database_sync_to_async(call)(stdout=out)
    assert json.loads(out.getvalue())["state"] == "with_person"


WAYS: tuple[Callable[[World, str], Any], ...] = (by_form, by_rest, by_page, by_command)


@database_sync_to_async
def make_world() -> World:
    return World()


@database_sync_to_async
def newest(world: World) -> tuple[str, str]:
    turn = Turn.objects.filter(session_id=world.session).order_by("number").last()
    assert turn is not None
    # A worker that is asked to run it all the same finds nothing to do.
    running.run_turn(turn_id=turn.pk)
    turn.refresh_from_db()
    return turn.text, turn.state


@database_sync_to_async
def ran() -> tuple[int, int]:
    return Attempt.objects.count(), Reply.objects.count()


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The turns that are given to workers to be answered."""
    sent: list[str] = []
    monkeypatch.setattr(
        current_app,
        "send_task",
        lambda name, args, **_: sent.append(args[0]) if name == RUN_TURN else None,
    )
    return sent


@pytest.mark.parametrize("seed", range(3))
async def test_no_way_leads_past_the_person(published: None, queued: list[str], seed: int) -> None:
    world = await make_world()
    chance = random.Random(seed)  # a test's own choice
    steps = [(way, chance.choice(TEXTS)) for way in chance.sample(WAYS, len(WAYS))]
    for way, text in steps:
        await way(world, text)
        assert await newest(world) == (text, "with_person"), (way, text)
    assert queued == []
    assert await ran() == world.ran


@pytest.mark.parametrize("by", ["form", "rest", "page", "service"])
async def test_nor_does_something_else(published: None, queued: list[str], by: str) -> None:
    world = await make_world()
    turn = str(world.answered.pk)
    if by == "form":
        path = f"/turns/{turn}/something-else/"
        await database_sync_to_async(world.browser.post)(path)
    elif by == "rest":
        await database_sync_to_async(world.post)(f"/api/v1/turns/{turn}/something-else/", None)
    elif by == "page":
        async with tab(world.secret) as page:
            await page.send({"something_else": turn})
            await page.read_until('data-state="with_person"')
    else:
        again = database_sync_to_async(receiving.ask_again)
        await again(session_id=world.request.session_id, turn_id=world.answered.pk)
    assert await newest(world) == (world.answered.text, "with_person")
    assert queued == []
    assert await ran() == world.ran


async def test_the_citizens_pages_follow_it_live(published: None, queued: list[str]) -> None:
    world = await make_world()
    eva_says = database_sync_to_async(_say)
    async with tab(world.secret) as page:
        await page.read_until("The assistant is silent".lower())
        await eva_says(world, "Good morning, I have your papers.")
        await page.read_until("Good morning, I have your papers.")
        assert "A person wrote: Good morning, I have your papers." in page.said[-1]
        assert "Send" in page.parts["ask-word"]
        await database_sync_to_async(takeovers.end)(
            how=Ended.HANDED_BACK, session_id=world.request.session_id
        )
        await page.read_until("The person has left.")
        assert "Talk to a person" not in page.parts["ask-person"]
        assert "Ask another question" in page.parts["question-label"]
        assert "Ask" in page.parts["ask-word"]


def _say(world: World, text: str) -> None:
    eva = User.objects.get(username="eva")
    desk_talk.say(item_id=item_of(world.request).pk, actor=eva, text=text)
