"""Frames of the chat page's websocket that come from a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_noop

from conversations.personal import choices
from conversations.personal.choices import Choice
from conversations.turns import messages

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
    """Return the question in a frame, None for a wish to be brought up to date.

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
        case {"text": str(text), "client_id": str(name), **rest} if messages.is_client_id(name):
            return Question(text.replace("\r\n", "\n"), name, _chosen(rest))
        case {"text": str(text), **rest} if "client_id" not in rest:
            return Question(text.replace("\r\n", "\n"), choice=_chosen(rest))
        case {"something_else": str(turn)}:
            with suppress(ValueError):
                return UUID(turn)
    raise FrameError(NOT_READABLE)


def _chosen(frame: Mapping[Any, Any]) -> Choice | None:
    said = frame.get(choices.FIELD)
    return choices.chosen(said) if isinstance(said, str) else None
