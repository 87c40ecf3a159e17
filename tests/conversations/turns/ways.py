"""Every way that a citizen's message comes by, so that one test can go all of them."""

from __future__ import annotations

import io
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.core.management import CommandError, call_command

from conversations.turns import services
from tests.conversations.api.integrating import Integrator
from tests.conversations.chat.page.test_views import browser_with, page
from tests.conversations.chat.tabs import tab

SECRET = "p" * 43


@dataclass(frozen=True)
class Outcome:
    """What came back: whether its sender is asked to choose, and all of its text."""

    is_asked: bool
    text: str


Way = Callable[[str, str | None], Awaitable[Outcome]]


@database_sync_to_async
def by_form(text: str, choice: str | None) -> Outcome:
    """The page without JavaScript."""
    data = {"text": text, **({"personal_data": choice} if choice else {})}
    response = browser_with(SECRET).post("/ask/", data)
    assert response.status_code in (303, 422)
    return Outcome(response.status_code == 422, page(response))


async def by_page_socket(text: str, choice: str | None) -> Outcome:
    """The page with JavaScript."""
    async with tab(SECRET) as open_page:
        await open_page.send({"text": text, **({"personal_data": choice} if choice else {})})
        while "personal" not in open_page.parts:
            await open_page.read()
        matches = "personal-check" in open_page.parts["personal"]
        return Outcome(matches, "".join(open_page.frames))


@database_sync_to_async
def by_rest(text: str, choice: str | None) -> Outcome:
    """A program by REST."""
    fields = {"personal_data": choice} if choice else {}
    response = Integrator().ask(text, client_id="m-1", **fields)
    body = response.json()
    matches = body.get("type") == "urn:ieim:problem:personal-data"
    assert response.status_code == (422 if matches else 202)
    return Outcome(matches, json.dumps(body, ensure_ascii=False))


@database_sync_to_async
def by_command(text: str, choice: str | None) -> Outcome:
    """A terminal."""
    options = [f"--personal-data={choice}"] if choice else []
    out = io.StringIO()
    try:
        call_command("ask", *options, "--", text, stdout=out)
    except CommandError as error:
        # Any other refusal is none of these tests': it fails them.
        return Outcome("--personal-data" in str(error), str(error))
    return Outcome(False, out.getvalue())


@database_sync_to_async
def by_command_in_a_session(text: str, choice: str | None) -> Outcome:
    """A terminal, in a session that there is already."""
    session, _, _ = services.new_session()
    options = [f"--personal-data={choice}"] if choice else []
    try:
        call_command("ask", *options, f"--session={session.pk}", "--", text, stdout=io.StringIO())
    except CommandError as error:
        return Outcome(True, str(error))
    return Outcome(False, "")


WAYS: list[Way] = [
    by_form,
    by_page_socket,
    by_rest,
    by_command,
    by_command_in_a_session,
]
