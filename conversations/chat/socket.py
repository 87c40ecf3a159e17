"""Frames of the chat page's websocket that come from a page."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.template.loader import render_to_string
from django.urls import set_script_prefix
from django.utils import translation
from django.utils.translation import gettext_noop

from conversations import framing, logged, notify, page_languages, returning, selectors, traced
from conversations.chat.announcing import announcement, status_fragment, turns_without_alert
from conversations.chat.presenters import ChatView, TurnView
from conversations.chat.reply_presenters import ReplyView
from conversations.models import Session, Turn
from conversations.turns import refusing, services
from conversations.turns.message import FIELD, Choice, chosen
from ieim.people import addresses

MAX_FRAME = 16 * 1024
"""Bytes of a frame that we read; the server cuts longer ones off where it can."""

NOT_READABLE = gettext_noop(
    "Your question could not be read. Please load this page again and send it once more."
)
TOO_LONG = gettext_noop("Your question is far too long. Please shorten it and send it again.")


class FrameError(ValueError):
    """A frame that cannot be used; ``args[0]`` says so to the citizen."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a frame asks; ``client_id`` is the page's name for it, None where it has none, and
    ``choice`` what the citizen has chosen of the numbers in it."""

    text: str
    client_id: str | None = None
    choice: Choice | None = None


def parse_frame(text_data: str | None, bytes_data: bytes | None) -> Question | UUID | None:
    """Return the question in a frame, None for a request to update the page.

    An id is that of the turn whose answer is about something else. Raises :class:`FrameError` for
    what is none of these.
    """
    if text_data is None:
        raise FrameError(NOT_READABLE)
    if len(text_data.encode("utf-8", "surrogatepass")) > MAX_FRAME:
        raise FrameError(TOO_LONG)
    try:
        frame = json.loads(text_data)
    except (ValueError, RecursionError) as error:
        raise FrameError(NOT_READABLE) from error
    match frame:
        case {"sync": True}:
            return None
        case {"text": str(text), "client_id": str(name), **rest} if services.is_client_id(name):
            return Question(text.replace("\r\n", "\n"), name, _chosen(rest))
        case {"text": str(text), **rest} if "client_id" not in rest:
            return Question(text.replace("\r\n", "\n"), choice=_chosen(rest))
        case {"something_else": str(turn)}:
            with suppress(ValueError):
                return UUID(turn)
    raise FrameError(NOT_READABLE)


def _chosen(frame: Mapping[Any, Any]) -> Choice | None:
    value = frame.get(FIELD)
    return chosen(value) if isinstance(value, str) else None


logger = logging.getLogger(__name__)

WHOLE = (
    "conversations/chat/_live.html",
    "conversations/chat/_parts.html#tools",
    "conversations/chat/_parts.html#question",
)
"""The fragments that together show the whole conversation."""
REFUSAL = "conversations/chat/_parts.html#refusal"
"""The fragment at the question box that says why a question was not taken."""
HELP_LINES = "conversations/reply/_parts.html#contacts"
"""The fragment of the two places of a turn's help lines, of which one is empty."""
OUTCOME = "conversations/turn/_outcome.html"
"""The fragment of what came of a turn."""
BREATH = 0.4
"""Seconds in which a reply builds up on the page, at most."""

MAX_UNREADABLE = 20
"""Frames that cannot be used, after which the socket is closed: no page of ours sends one."""
TOO_MANY_ERRORS = 1008
TRY_AGAIN_LATER = 1013

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
        query = parse_qs(self.scope["query_string"])
        language, chosen = page_languages.of_socket(query), b"chosen" in query
        with translation.override(language), page_languages.by_choice(chosen):
            await super().dispatch(message)

    async def connect(self) -> None:
        """Accept the connection and send the current state."""
        notify.register_loop()
        self.home, self.secret = framing.of_socket(self.scope)
        self.base_url = settings.IEIM_PUBLIC_URL or _origin(self.scope)
        self.group = ""
        self.unreadable = 0
        # What is new stays so while the page is open, however often its parts are sent.
        self.visit = returning.visit_of(parse_qs(self.scope["query_string"].decode("latin-1")))
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
            question = parse_frame(text_data, bytes_data)
        except FrameError as bad:
            self.unreadable += 1
            await self.show_refusal(refusing.Refused(bad.args[0]))
            if self.unreadable >= MAX_UNREADABLE:
                await self.close(TOO_MANY_ERRORS)
            return
        if question is None:
            await self.show_all()
        elif self.secret is None:
            await self.show_refusal(refusing.Refused(NO_COOKIE))
        elif isinstance(question, UUID):
            await self.take(_ask_again, secret=self.secret, turn_id=question)
        else:
            message = {"text": question.text, "client_id": question.client_id}
            choice = {FIELD: question.choice}
            await self.take(services.receive, session=self.secret, way="chat", **message, **choice)

    async def take(self, service: Callable[..., tuple[Turn, bool]], **arguments: Any) -> None:
        """Hand a question to its service and show what became of it."""
        with logged.about():  # the next question is another turn
            await self._take(service, **arguments)

    async def _take(self, service: Callable[..., tuple[Turn, bool]], **arguments: Any) -> None:
        problem = None
        try:
            address = addresses.of_scope(self.scope)
            with traced.span("message", kind="SERVER"):
                turn, _ = await database_sync_to_async(service)(**arguments, address=address)
            await self.listen_to(turn.session_id)
        except refusing.Refused as refused:
            problem = refused
        except (Session.DoesNotExist, services.NothingToReplace, services.NotAnswered):
            problem = refusing.Refused(services.NOT_ANSWERED)
        except (OperationalError, InterfaceError):
            # The page keeps the question, and sends it again under the same name.
            logger.exception("A question met a database that is away")
            await self.close(TRY_AGAIN_LATER)
            return
        except Exception:
            logger.exception("A question could not be stored")
            problem = refusing.Refused(OUR_FAULT)
        if problem is not None:
            # By itself: what comes after it may fail.
            await self.show_refusal(problem)
        await self.show_all(*([] if problem else [REFUSAL]))

    @_never_raises
    async def show_all(self, *emptied: str) -> None:
        """Send the whole conversation, unless the page has it already, after the fragments that are
        ``emptied``."""
        await self.join()
        before = self.chat
        now = await database_sync_to_async(selectors.chat_view)(secret=self.secret)
        self.chat = replace(now, visit=self.visit)
        if before is None:
            # The address says which state the page was rendered with, most often a moment ago.
            have = parse_qs(self.scope["query_string"]).get(b"have", [b""])[0]
            whole, words = have != self.chat.version.encode(), ""
        else:
            whole = self.chat != before
            words = announcement(before.turns, now.turns) if whole else ""
        parts = (*emptied, *WHOLE) if whole else emptied
        if parts:
            quiet = turns_without_alert(None if before is None else before.turns, now.turns)
            await self.send_parts(*parts, status=words, without_alert=quiet)

    @_never_raises
    async def turn_changed(self, event: dict[str, Any]) -> None:
        """Rows of a turn have changed: show that turn as it is now."""
        turns = self.chat.turns if self.chat else ()
        before = next((turn for turn in turns if str(turn.id) == event["turn"]), None)
        if self.chat is None or before is None:
            await self.show_all()
            return
        turn = await database_sync_to_async(selectors.turn_view)(before.id)
        if turn == before:
            return
        quiet = turns_without_alert((before,), (turn,))
        lines = (turn.contacts, turn.contacts_below) != (before.contacts, before.contacts_below)
        if lines and not turn.contacts_below:
            # A model has flagged what the screen did not see: nothing comes before its help lines.
            await self.send_parts(HELP_LINES, turn=turn, without_alert=quiet)
        if turn.reply and not before.reply:
            await self.build_up(turn, turn.reply)
        self.chat = replace(
            self.chat, turns=tuple(turn if old.id == turn.id else old for old in turns)
        )
        # Lines that move below the answer stay above it until it is there.
        moved = [HELP_LINES] if lines and turn.contacts_below else []
        status = announcement((before,), (turn,))
        await self.send_parts(OUTCOME, *moved, turn=turn, without_alert=quiet, status=status)

    async def build_up(self, turn: TurnView, reply: ReplyView) -> None:
        """Show a fresh reply growing, part by part; the finished turn follows."""
        parts = list(reply.growing())
        for part in parts:
            await self.send_parts(OUTCOME, turn=replace(turn, reply=part), partial=True)
            await asyncio.sleep(min(0.08, BREATH / len(parts)))

    async def join(self) -> None:
        """Listen to the hints of the citizen's session, as soon as there is one."""
        if self.group or self.secret is None:
            return
        session = await database_sync_to_async(selectors.session_for_secret)(self.secret)
        if session is None:
            return
        await self.listen_to(session.id)

    async def listen_to(self, session_id: UUID) -> None:
        """Listen to the hints of a session, if the page does not yet."""
        if self.group:
            return
        logged.bind(session=session_id)
        group = notify.group_name(session_id)
        try:
            await self.channel_layer.group_add(group, self.channel_name)
        except Exception:
            # Without hints the page still asks by itself: not a reason to show nothing.
            logger.exception("A page could not listen to hints")
        else:
            self.group = group

    async def show_refusal(self, refused: refusing.Refused | None) -> None:
        """Show at the question box why it was not taken, help lines first; nothing for None."""
        number_check = refused if isinstance(refused, refusing.NotChosen) else None
        await self.send_parts(
            REFUSAL,
            refused=None if number_check else refused,
            number_check=number_check,
        )

    async def send_parts(self, *names: str, status: str = "", **context: Any) -> None:
        """Send fragments, each of which replaces the element of its id."""
        context |= {"chat": self.chat, "base_url": self.base_url, "oob": True}
        # Not here: a page names the administration, which is in the database.
        html = await database_sync_to_async(_rendered)(self.home, names, context)
        await self.send(html + (status_fragment(status) if status else ""))


def _rendered(home: str, templates: Sequence[str], context: Mapping[str, Any]) -> str:
    # What a fragment leads to stays in the frame that the page is in, if it is in one.
    set_script_prefix(home)
    return "".join(render_to_string(name, context) for name in templates)


def _ask_again(*, secret: str, turn_id: UUID, address: str) -> tuple[Turn, bool]:
    session = selectors.session_for_secret(secret)
    if session is None:
        raise services.NothingToReplace(str(turn_id))
    return services.ask_again(session_id=session.pk, turn_id=turn_id, address=address, way="chat")


def _origin(scope: Mapping[str, Any]) -> str:
    headers = dict(scope["headers"])
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    return f"{scheme}://{headers.get(b'host', b'').decode('latin-1')}"
