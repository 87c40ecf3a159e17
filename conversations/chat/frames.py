"""Frames of the JSON socket that come from a client (subprotocol ``ieim.json.v1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conversations.personal.choices import FIELD, Choice, chosen
from conversations.rating.models import Reason
from conversations.turns.messages import is_client_id
from ieim.pipeline.gate import strict_json

SUBPROTOCOL = "ieim.json.v1"
MAX_FRAME = 16 * 1024
"""Bytes of a frame that we read; the server cuts longer ones off where it can."""

NO_TEXT = "Send text frames, not binary ones."
TOO_LONG = "This frame is too long. Send no more than 16 KiB."
NOT_JSON = "This frame is not one JSON object, or has a key twice or a character that is no text."
NO_TYPE = (
    'This frame has no "type" that is known here: use auth, ask, choose, something_else, rate or '
    "resume."
)
NO_QUESTION = 'Send {"type":"ask","text":"...","client_id":"..."}, both as strings.'
NO_PERSONAL_DATA = 'Leave "personal_data" out, or send "send" or "remove" in it.'
NO_CHOICE = 'Send {"type":"choose","turn":"...","choice":N}: the number of an option, or null.'
NO_TURN = 'Send {"type":"something_else","turn":"..."}: the id of an answered turn.'
NO_VERDICT = 'Send {"type":"rate","turn":"...","useful":true}: an answered turn, true or false.'
NO_REASON = (
    'Leave "reason" out, or send "other_question", "wrong" or "unclear"; "text" is a string.'
)
NO_CLIENT_ID = "Use 1 to 64 letters, digits and . _ ~ : - for a client_id, such as a UUID."
NO_NUMBER = 'Send {"type":"resume","after":N}: the number of the last event that you have, or 0.'
NO_AUTH = 'Send {"type":"auth","token":"..."} with the token of your session.'


class FrameError(ValueError):
    """A frame that cannot be used; ``args[0]`` says so."""


@dataclass(frozen=True, slots=True)
class Auth:
    """A session's token."""

    token: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A message."""

    text: str
    client_id: str | None
    personal_data: Choice | None = None


@dataclass(frozen=True, slots=True)
class Choose:
    """One of the services that a turn's citizen was offered, by its number; None for none."""

    turn: UUID
    number: int | None


@dataclass(frozen=True, slots=True)
class SomethingElse:
    """That a turn's answer goes on with what the citizen does not mean."""

    turn: UUID


@dataclass(frozen=True, slots=True)
class Rate:
    """Whether a turn's answer was useful, and why: ``reason`` and ``text`` may be empty."""

    turn: UUID
    useful: bool
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Resume:
    """The wish for every event after number ``after``."""

    after: int


def parse(text_data: str | None) -> Auth | Ask | Choose | SomethingElse | Rate | Resume:
    """Return what a frame says; raises :class:`FrameError`. Unknown members are ignored."""
    if text_data is None:
        raise FrameError(NO_TEXT)
    if len(text_data.encode("utf-8", "surrogatepass")) > MAX_FRAME:
        raise FrameError(TOO_LONG)
    frame, _ = strict_json.parse(text_data)
    if frame is None:
        raise FrameError(NOT_JSON)
    match frame.get("type"):
        case "auth":
            return _auth(frame)
        case "ask":
            return _ask(frame)
        case "choose":
            return _choose(frame)
        case "something_else":
            return SomethingElse(_turn(frame, NO_TURN))
        case "rate":
            return _rate(frame)
        case "resume":
            return _resume(frame)
    raise FrameError(NO_TYPE)


def _auth(frame: dict[str, Any]) -> Auth:
    token = frame.get("token")
    if not isinstance(token, str) or not token:
        raise FrameError(NO_AUTH)
    return Auth(token)


def _ask(frame: dict[str, Any]) -> Ask:
    text, client_id = frame.get("text"), frame.get("client_id")
    if not isinstance(text, str) or not isinstance(client_id, str | None):
        raise FrameError(NO_QUESTION)
    if client_id is not None and not is_client_id(client_id):
        raise FrameError(NO_CLIENT_ID)
    said = frame.get(FIELD)
    choice = chosen(said) if isinstance(said, str) else None
    if said is not None and choice is None:
        raise FrameError(NO_PERSONAL_DATA)
    return Ask(text, client_id, choice)


def _choose(frame: dict[str, Any]) -> Choose:
    number = frame.get("choice", "")
    if not isinstance(number, int | None) or isinstance(number, bool):
        raise FrameError(NO_CHOICE)
    return Choose(_turn(frame, NO_CHOICE), number)


def _rate(frame: dict[str, Any]) -> Rate:
    useful, reason, text = frame.get("useful"), frame.get("reason", ""), frame.get("text", "")
    if not isinstance(useful, bool):
        raise FrameError(NO_VERDICT)
    if reason not in ("", *Reason.values) or not isinstance(text, str):
        raise FrameError(NO_REASON)
    return Rate(_turn(frame, NO_VERDICT), useful, reason, text)


def _turn(frame: dict[str, Any], otherwise: str) -> UUID:
    turn = frame.get("turn")
    try:
        return UUID(turn if isinstance(turn, str) else "")
    except ValueError as error:
        raise FrameError(otherwise) from error


def _resume(frame: dict[str, Any]) -> Resume:
    after = frame.get("after")
    if not isinstance(after, int) or isinstance(after, bool) or after < 0:
        raise FrameError(NO_NUMBER)
    return Resume(after)
