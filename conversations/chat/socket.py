"""The chat page's websocket: frames in, HTML fragments out.

A client sends ``{"text": "...", "client_id": "..."}`` to ask, and the same again where it has not
heard of it, with ``personal_data`` where the citizen has chosen what becomes of the numbers in it
(:mod:`conversations.personal.choices`); ``{"something_else": "..."}`` with the id of a turn whose
answer goes on with what was not meant; and ``{"sync": true}`` to be brought up to date. What it
gets are fragments that replace parts of the page by id, so that receiving one twice does no harm.
Messages of the channel layer are hints only: each one leads to a fresh look into the database.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.template.loader import render_to_string
from django.urls import set_script_prefix
from django.utils import translation
from django.utils.translation import gettext_noop

from conversations import notify, selectors
from conversations.chat.announcing import announcement, heard
from conversations.chat.presenters import ChatView, TurnView
from conversations.chat.questions import FrameError, parse_frame
from conversations.chat.replies import ReplyView
from conversations.framing import sockets
from conversations.languages import pages
from conversations.models import Session
from conversations.personal import choices
from conversations.replacing import services as replacing
from conversations.returning import seen
from conversations.turns import messages, refusing
from ieim.people import addresses

logger = logging.getLogger(__name__)

WHOLE = (
    *("chat/_live", "chat/_offered", "chat/_suggestions", "chat/_tools"),
    *("turn/_label", "turn/_ask_word"),
)
"""The fragments that together show the whole conversation."""
BREATH = 0.4
"""Seconds in which a reply builds up on the page, at most."""

MAX_UNREADABLE = 20
"""Frames that cannot be used, after which the socket is closed: no page of ours sends one."""
TOO_MANY_ERRORS = 1008

NO_COOKIE = gettext_noop(
    "This page is out of date. Please copy your question, load the page again and send it."
)
OUR_FAULT = gettext_noop(
    "Something went wrong on our side. Your question was not sent. Please try again."
)

P = ParamSpec("P")


def _never_raises(
    handler: Callable[Concatenate[ChatConsumer, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[ChatConsumer, P], Coroutine[Any, Any, None]]:
    """Log what goes wrong in ``handler``: an exception would close the socket.

    The page asks to be brought up to date every few seconds while it waits for an answer.
    """

    @wraps(handler)
    async def safe(self: ChatConsumer, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            await handler(self, *args, **kwargs)
        except OSError as error:
            # What a server raises (by ASGI) when the page has gone while we were sending.
            logger.info("A page has gone: %r", error)
        except Exception:
            logger.exception("A page could not be brought up to date")

    return safe


class ChatConsumer(AsyncWebsocketConsumer):
    """One open chat page. ``chat`` is what the page shows, None before anything was sent."""

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle a message, in the language of the page that has opened the socket."""
        with translation.override(pages.of_socket(parse_qs(self.scope["query_string"]))):
            await super().dispatch(message)

    async def connect(self) -> None:
        """Accept, and show what is true now."""
        notify.register_loop()
        self.home, self.secret = sockets.of_scope(self.scope)
        self.base_url = settings.IEIM_PUBLIC_URL or _origin(self.scope)
        self.group = ""
        self.unreadable = 0
        # What is new stays so while the page is open, however often its parts are sent.
        self.visit = seen.of_query(_query(self.scope))
        self.chat: ChatView | None = None
        await self.accept()
        await self.show_all()

    async def disconnect(self, code: int) -> None:
        """Stop listening to hints."""
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    @_never_raises
    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take a question, or bring the page up to date."""
        try:
            said = parse_frame(text_data, bytes_data)
        except FrameError as bad:
            self.unreadable += 1
            await self.show_refusal(refusing.Refused(bad.args[0]))
            if self.unreadable >= MAX_UNREADABLE:
                await self.close(TOO_MANY_ERRORS)
            return
        if said is None:
            await self.show_all()
        elif self.secret is None:
            await self.show_refusal(refusing.Refused(NO_COOKIE))
        elif isinstance(said, UUID):
            await self.take(_ask_again, secret=self.secret, turn_id=said)
        else:
            named = {"text": said.text, "client_id": said.client_id, choices.FIELD: said.choice}
            await self.take(messages.say, secret=self.secret, **named)

    async def take(self, service: Callable[..., object], **said: Any) -> None:
        """Hand a question to its service and show what became of it."""
        problem = None
        try:
            address = addresses.of_scope(self.scope)
            await database_sync_to_async(service)(**said, address=address)
        except refusing.Refused as refused:
            problem = refused
        except (Session.DoesNotExist, replacing.NothingToReplace, replacing.NotAnswered):
            problem = refusing.Refused(replacing.NOT_ANSWERED)
        except Exception:
            logger.exception("A question could not be stored")
            problem = refusing.Refused(OUR_FAULT)
        await self.show_refusal(problem)
        await self.show_all()

    @_never_raises
    async def show_all(self) -> None:
        """Send the whole conversation, unless the page has it already."""
        await self.join()
        before = self.chat
        now = await database_sync_to_async(selectors.chat_view)(secret=self.secret)
        self.chat = replace(now, visit=self.visit)
        if before is None:
            # The address says which state the page was rendered with, most often a moment ago.
            have = parse_qs(self.scope["query_string"]).get(b"have", [b""])[0]
            if have != self.chat.version.encode():
                await self.send_parts(*WHOLE, heard=heard(None, now.turns))
        elif self.chat != before:
            words = announcement(before.turns, now.turns)
            await self.send_parts(*WHOLE, status=words, heard=heard(before.turns, now.turns))

    @_never_raises
    async def turn_changed(self, event: dict[str, Any]) -> None:
        """Rows of a turn have changed: show that turn as it is now."""
        shown = self.chat.turns if self.chat else ()
        before = next((turn for turn in shown if str(turn.id) == event["turn"]), None)
        if self.chat is None or before is None:
            await self.show_all()
            return
        turn = await database_sync_to_async(selectors.turn_view)(before.id)
        if turn == before:
            return
        if turn.contacts != before.contacts:
            # A model has flagged what the screen did not see: nothing comes before its help lines.
            await self.send_parts("reply/_contacts", turn=turn, heard=heard((before,), (turn,)))
        if turn.reply and not before.reply:
            await self.build_up(turn, turn.reply)
        self.chat = replace(
            self.chat, turns=tuple(turn if old.id == turn.id else old for old in shown)
        )
        await self.send_parts("turn/_outcome", turn=turn, status=announcement((before,), (turn,)))

    async def build_up(self, turn: TurnView, reply: ReplyView) -> None:
        """Show a fresh reply growing, part by part; the finished turn follows."""
        parts = list(reply.growing())
        for part in parts:
            await self.send_parts("turn/_outcome", turn=replace(turn, reply=part), partial=True)
            await asyncio.sleep(min(0.08, BREATH / len(parts)))

    async def join(self) -> None:
        """Listen to the hints of the citizen's session, as soon as there is one."""
        if self.group or self.secret is None:
            return
        session = await database_sync_to_async(selectors.session_for_secret)(self.secret)
        if session is None:
            return
        group = notify.group_name(session.id)
        try:
            await self.channel_layer.group_add(group, self.channel_name)
        except Exception:
            # Without hints the page still asks by itself: not a reason to show nothing.
            logger.exception("A page could not listen to hints")
        else:
            self.group = group

    async def show_refusal(self, refused: refusing.Refused | None) -> None:
        """Show at the question box why it was not taken, help lines first; nothing for None."""
        asked = refused if isinstance(refused, choices.NotChosen) else None
        told = None if asked else refused
        await self.send_parts(
            "reply/_refused_help", "turn/_ask_error", "turn/_personal", refused=told, asked=asked
        )

    async def send_parts(self, *names: str, status: str = "", **context: Any) -> None:
        """Send fragments, each of which replaces the element of its id."""
        context |= {"chat": self.chat, "base_url": self.base_url, "oob": True, "words": status}
        templates = [*names, "turn/_status"] if status else names
        # Not here: a page names the administration, which is in the database.
        await self.send(await database_sync_to_async(_rendered)(self.home, templates, context))


def _rendered(home: str, templates: Sequence[str], context: Mapping[str, Any]) -> str:
    # What a fragment leads to stays in the frame that the page is in, if it is in one.
    set_script_prefix(home)
    return "".join(render_to_string(f"conversations/{name}.html", context) for name in templates)


def _ask_again(*, secret: str, turn_id: UUID, address: str) -> None:
    session = selectors.session_for_secret(secret)
    if session is None:
        raise replacing.NothingToReplace(str(turn_id))
    replacing.ask_again(session_id=session.pk, turn_id=turn_id, address=address)


def _query(scope: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    return parse_qs(scope["query_string"].decode("latin-1"))


def _origin(scope: Mapping[str, Any]) -> str:
    headers = dict(scope["headers"])
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    return f"{scheme}://{headers.get(b'host', b'').decode('latin-1')}"
