"""The channel: what comes from chats goes to IEIM, what comes of it goes to the chats."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from ieim.telegram import calls, showing, translations
from ieim.telegram.api import BotApi, Refused, TooMany
from ieim.telegram.assistant import Assistant, Problem
from ieim.telegram.handling import Handler
from ieim.telegram.state import Chat, Outgoing, State

logger = logging.getLogger(__name__)

LONGEST_WAIT = 25
"""Seconds that Telegram is asked to wait for something to happen."""
SOON, LATER, RARELY = 1.0, 30.0, 600.0
"""Seconds between two looks: at a conversation in which the assistant works, one that waits for
somebody, and one in which all is said; a caseworker may still correct it."""
FOLLOWED = 7 * 24 * 3600.0
"""Seconds after a chat's last message for which that is looked for."""
PAUSE = 5.0
"""Seconds before somebody who did not answer is asked again."""
TRIES = 5
"""Times that an update is tried while IEIM answers, and cannot take it."""

_AT_WORK = frozenset({"queued", "running", "awaiting_model"})
_WAITS = frozenset({"asking", "needs_review", "with_person"})


class Bot:
    """One bot. :meth:`step` does what there is to do, and waits for more."""

    def __init__(
        self,
        api: BotApi,
        assistant: Assistant,
        state: State,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._api, self._assistant, self._state = api, assistant, state
        self._handler = Handler(api, assistant, state)
        self._clock = clock
        self._quiet: dict[int, float] = {}
        self._failed = 0

    def step(self, *, wait: int = LONGEST_WAIT) -> None:
        """Take what happened, look at what became of it, and send that; waits ``wait`` s at most.

        Raises :class:`calls.Unreachable` where Telegram or IEIM does not answer: nothing is lost.
        """
        self._send()
        for update in self._api.updates(after=self._state.done, wait=self._wait(wait)):
            self._take(update)
            self._send()
        for chat in self._state.to_look_at(self._clock()):
            self._look(chat)
            self._send()

    def _wait(self, most: int) -> int:
        """Return for how many seconds there is nothing to do by itself."""
        now, times = self._clock(), list(self._quiet.values())
        look = self._state.next_look()
        times += [] if look is None else [look]
        times += [now for chat in self._state.waiting() if chat not in self._quiet]
        return max(0, min([most, *(int(at - now) + 1 if at > now else 0 for at in times)]))

    def _take(self, update: dict[str, Any]) -> None:
        """Do what an update asks for, and count it as done with what came of it."""
        try:
            outcome = self._handler.handle(update, now=self._clock())
        except calls.Broken:
            self._failed += 1
            if self._failed < TRIES:
                raise
            logger.error(
                "update %s: IEIM could not take it; it is passed over", update["update_id"]
            )
            outcome = self._handler.sorry(update)
        self._failed = 0
        with self._state.together():
            self._handler.store(outcome)
            for call in outcome.calls:
                self._state.send(outcome.chat, call)
            self._state.finish(int(update["update_id"]))

    def _look(self, chat: Chat) -> None:
        """Tell a chat what is new in its conversation."""
        now = self._clock()
        try:
            session = self._assistant.read(chat.session, language=chat.language)
        except Problem as problem:
            if problem.status == 401:  # erased, by whoever has the link
                with self._state.together():
                    self._state.forget(chat.id)
                return
            logger.error("a conversation cannot be read: status %s", problem.status)
            self._state.look_later(chat.id, now + LATER)
            return
        except calls.Broken as error:
            logger.error("a conversation cannot be read: %s", error)
            self._state.look_later(chat.id, now + LATER)
            return
        found = list(showing.facts(session, translations.translation(chat.language)))
        new = self._state.new_facts(chat.id, [fact.key for fact in found])
        states = {turn["state"] for turn in session["turns"]}
        pause: float | None = SOON if states & _AT_WORK else LATER if states & _WAITS else RARELY
        if pause == RARELY and now - chat.asked_at > FOLLOWED:
            pause = None
        with self._state.together():
            for fact in found:
                if fact.key in new:
                    for call in showing.messages(chat.id, fact.text, fact.buttons):
                        self._state.send(chat.id, call)
                    self._state.tell(chat.id, fact.key)
            self._state.look_later(chat.id, None if pause is None else now + pause)

    def _send(self) -> None:
        """Make the calls that wait, of each chat in their order."""
        now = self._clock()
        self._quiet = {chat: until for chat, until in self._quiet.items() if until > now}
        for chat in self._state.waiting():
            while chat not in self._quiet and (found := self._state.first(chat)) is not None:
                number, call = found
                self._make(chat, number, call)

    def _make(self, chat: int, number: int, call: Outgoing) -> None:
        try:
            self._api.call(call.method, call.body)
        except TooMany as error:
            self._quiet[chat] = self._clock() + error.seconds
            return
        except calls.Unreachable as error:
            logger.warning("Telegram: %s", error)
            self._quiet[chat] = self._clock() + PAUSE
            return
        except Refused as error:
            if error.code == 403:
                # Blocked, or gone: nobody is there to be told anything.
                with self._state.together():
                    self._state.unsend(chat)
                    self._state.look_later(chat, None)
                return
            logger.error("Telegram refused %s: %s", call.method, error)
        self._state.sent(number)
