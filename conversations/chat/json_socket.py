"""The JSON socket for integrators: ``/ws/chat/`` with the subprotocol ``ieim.json.v1``.

What is sent are a session's events (:mod:`conversations.events.events`), in the order of their
numbers, from the first ``resume`` or ``ask`` of the connection on. One task sends them; hints and
frames only wake it, and it looks by itself as well, so that a lost hint costs a moment and nothing
else.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import translation

from conversations import selectors
from conversations.api.authentication import NO_SESSION, bearer_token
from conversations.api.errors import NOTHING, REFUSED, of_asking, of_refusal
from conversations.chat.frames import (
    SUBPROTOCOL,
    Ask,
    Auth,
    Choose,
    FrameError,
    Rate,
    Resume,
    SomethingElse,
    parse,
)
from conversations.choosing import services as choosing
from conversations.events import events, notify, rating
from conversations.languages import pages
from conversations.models import Session
from conversations.replacing import services as replacing
from conversations.turns import messages, refusing
from ieim.people import addresses

More = Mapping[str, Any]
logger = logging.getLogger(__name__)

AUTH_SECONDS = 10.0
"""How long a socket may stay open without a token."""
LOOK_SECONDS = 2.0
"""Between two looks while a message is being worked on; a hint is quicker."""
IDLE_LOOK_SECONDS = 30.0
"""Between two looks while nothing is: a person's answer may come at any time."""
MAX_ERRORS = 20
"""Errors in a row after which the socket is closed."""
UNAUTHORISED, GONE, TOO_MANY_ERRORS = 4401, 4410, 1008

AUTH_FIRST = 'Send {"type":"auth","token":"..."} first.'
AUTH_ONCE = "This socket has its session already."
AUTH_LATE = "No token came in time."
ERASED = "This conversation was erased."
OUR_FAULT = "Something went wrong on our side. Please send this again with the same client_id."


class JsonConsumer(AsyncWebsocketConsumer):
    """One socket. ``session`` is None until a token has opened one.

    ``position`` is the number of the last event that was sent, ``wanted`` a position that the
    client has asked for and the sending task has not taken up yet.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket, and leave no task behind."""
        self.session: Session | None = None
        self.group = ""
        self.position = 0
        self.wanted: int | None = None
        self.errors = 0
        self.following = False
        self.wake = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        try:
            await super().__call__(scope, receive, send)
        finally:
            for task in self.tasks:
                task.cancel()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle a message; what is refused is said in the language that the program asks for."""
        accepted = dict(self.scope["headers"]).get(b"accept-language", b"").decode("latin-1")
        with translation.override(pages.of_header(accepted)):
            await super().dispatch(message)

    async def connect(self) -> None:
        """Accept, and open the session of the header's token or wait for a frame with one."""
        notify.register_loop()
        await self.accept(SUBPROTOCOL)
        header = dict(self.scope["headers"]).get(b"authorization")
        if header is None:
            self.tasks.append(asyncio.create_task(self.expire()))
        else:
            await self.open(bearer_token(header.decode("latin-1")) or "")

    async def disconnect(self, code: int) -> None:
        """Stop listening to hints."""
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def expire(self) -> None:
        """Close the socket when no token comes in time."""
        await asyncio.sleep(AUTH_SECONDS)
        await self.refuse(AUTH_LATE)

    async def refuse(self, words: str) -> None:
        """Say that this socket has no session, and close it."""
        await self.send_frame(_error("unauthorised", words))
        await self.close(UNAUTHORISED)

    async def open(self, token: str) -> None:
        """Open the session of ``token``, or close the socket."""
        session = await database_sync_to_async(selectors.session_for_secret)(token)
        for task in self.tasks:
            task.cancel()
        if session is None:
            await self.refuse(NO_SESSION)
            return
        self.session = session
        group = notify.group_name(session.pk)
        try:
            await self.channel_layer.group_add(group, self.channel_name)
        except Exception:
            # Without hints it looks by itself all the same.
            logger.exception("A socket could not listen to hints")
        else:
            self.group = group

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take a frame. Nothing that a frame holds closes the socket, only too many bad ones."""
        try:
            frame = parse(text_data)
        except FrameError as bad:
            await self.tell_error("bad-frame", bad.args[0])
            return
        address = addresses.of_scope(self.scope)
        match frame:
            case Auth(token) if self.session is None:
                await self.open(token)
            case Auth():
                await self.tell_error("bad-frame", AUTH_ONCE)
            case _ if self.session is None:
                await self.tell_error("unauthorised", AUTH_FIRST)
            case Resume(after):
                self.wanted = after
                self.follow(self.session)
            case Ask(text, client_id, choice):
                ask = partial(
                    messages.ask, client_id=client_id, personal_data=choice, address=address
                )
                await self.take(self.session, ask, client_id=client_id, text=text)
            case Choose(turn, number):
                await self.take(self.session, choosing.choose, turn_id=turn, number=number)
            case SomethingElse(turn):
                again = partial(replacing.ask_again, address=address)
                await self.take(self.session, again, turn_id=turn)
            case Rate(turn, useful, reason, text):
                rate = partial(rating.rate, useful=useful, reason=reason, address=address)
                await self.take(self.session, rate, turn_id=turn, text=text)

    async def take(
        self,
        session: Session,
        service: Callable[..., object],
        *,
        client_id: str | None = None,
        **said: Any,
    ) -> None:
        """Hand what a frame says to the service that it is for; what comes of it are events."""
        try:
            told = await database_sync_to_async(service)(session_id=session.pk, **said)
        except refusing.TooMany as error:
            await self.tell_limit(error, client_id)
        except refusing.Refused as error:
            problem = of_asking(error)
            more = {**events.help_lines(problem.contacts), **problem.numbers}
            await self.tell_error(problem.slug, str(problem.detail), client_id, more)
        except tuple(NOTHING) as error:
            await self.tell_error("bad-frame", NOTHING[type(error)])
        except REFUSED as error:
            await self.tell_error(of_refusal(error).slug, error.message)
        except Session.DoesNotExist:
            self.follow(session)  # It says that the session was erased.
        except Exception:
            logger.exception("A frame could not be handed on")
            await self.tell_error("server-error", OUR_FAULT, client_id)
        else:
            self.errors = 0
            if isinstance(told, dict):  # nothing was stored that it could be sent from
                await self.send_frame({**told, "event": self.position})
            self.follow(session)

    async def turn_changed(self, event: dict[str, Any]) -> None:
        """Something of the session has changed: look."""
        self.wake.set()

    def follow(self, session: Session) -> None:
        """Send events from now on, at once if there are any."""
        self.wake.set()
        if not self.following:
            self.following = True
            self.tasks.append(asyncio.create_task(self.send_events(session)))

    async def send_events(self, session: Session) -> None:
        """Send every event as soon as it is there, for as long as the socket is open."""
        while True:
            self.wake.clear()
            pending = True
            try:
                pending = await self.send_news(session)
            except Session.DoesNotExist:
                await self.send_frame(_error("erased", ERASED, event=self.position + 1))
                await self.close(GONE)
                return
            except Exception:
                logger.exception("A socket could not be brought up to date")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS if pending else IDLE_LOOK_SECONDS):
                    await self.wake.wait()

    @property
    def rewound(self) -> bool:
        """Whether the client has asked for another position in the meantime."""
        return self.wanted is not None

    async def send_news(self, session: Session) -> bool:
        """Send what is new; returns whether more is to be expected soon."""
        if self.wanted is not None:
            self.position, self.wanted = self.wanted, None
        news = await database_sync_to_async(events.news)(session_id=session.pk, after=self.position)
        self.position = news.after
        for frame in news.frames:
            if self.rewound:
                return True
            await self.send_frame(frame)
            self.position = frame["event"]
        return news.pending

    async def tell_limit(self, error: refusing.TooMany, client_id: str | None) -> None:
        """Tell that it is too much, without storing anything: the number is the last event's."""
        told = _error("rate-limit", error.message, event=self.position, client_id=client_id)
        help_lines = events.help_lines(of_asking(error).contacts)
        await self.send_frame({**told, "retry_after": error.retry_after, **help_lines})
        await self.count_error()

    async def tell_error(
        self, code: str, words: str, client_id: str | None = None, more: More = MappingProxyType({})
    ) -> None:
        """Tell of a frame that was not taken, with what else there is to say of its message; after
        too many of them the socket is closed."""
        if self.session is None:
            await self.send_frame(_error(code, words))
        else:
            try:
                tell = partial(events.tell_error, session_id=self.session.pk, more=more)
                tell = partial(tell, code=code, words=words, client_id=client_id)
                number = await database_sync_to_async(tell)()
            except Session.DoesNotExist:
                pass  # Whoever looks next says so.
            except Exception:
                logger.exception("An error could not be told")
            else:
                if not self.following:
                    # What came before it is sent when the client asks for it.
                    self.wanted = number - 1
            self.follow(self.session)
        await self.count_error()

    async def count_error(self) -> None:
        """Close the socket after too many errors."""
        self.errors += 1
        if self.errors >= MAX_ERRORS:
            await self.close(TOO_MANY_ERRORS)

    async def send_frame(self, frame: dict[str, Any]) -> None:
        """Send one frame, unless the client has left."""
        with suppress(OSError):
            await self.send(json.dumps(frame, ensure_ascii=False))


def _error(
    code: str, words: str, *, event: int = 0, client_id: str | None = None
) -> dict[str, Any]:
    """Return an error that is no event: it has no place in the order."""
    told = {"type": "error", "turn": None, "event": event}
    return {**told, "code": code, "words": words, "client_id": client_id}
