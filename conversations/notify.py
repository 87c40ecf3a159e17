"""Hints to open pages that something stored has changed.

A message carries ids only and is only a hint: whoever gets it reads the database. Losing one costs
a little freshness, so nothing here raises, and sending one takes at most :data:`SEND_TIMEOUT`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from functools import cache
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import InMemoryChannelLayer, get_channel_layer

logger = logging.getLogger(__name__)

SEND_TIMEOUT = 5.0
"""Seconds that sending a hint may take; then it is given up."""

_loop: asyncio.AbstractEventLoop | None = None


def register_loop() -> None:
    """Remember the server's event loop; called by consumers when a socket connects.

    In the one-process mode the worker is a thread beside that loop. ``async_to_sync`` from there
    stalls for seconds, and the in-memory layer belongs to that loop anyway.
    """
    global _loop
    _loop = asyncio.get_running_loop()


@cache
def _own_loop() -> asyncio.AbstractEventLoop:
    """Return a loop of this process that runs for good, in a thread of its own.

    A turn gives some sixteen hints. With a loop for each, each had a thread and a connection to the
    broker as well: 3.4 ms of CPU, where the kept one takes 0.2.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="hints", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_own_loop.cache_clear)  # a forked process has no such thread


def group_name(session_id: UUID) -> str:
    """Return the channel group of a session's open pages."""
    return f"session.{session_id.hex}"


def send_turn_changed(*, session_id: UUID, turn_id: UUID | None = None) -> None:
    """Send a hint that rows of a turn have changed, or of the whole session without one."""
    send(group_name(session_id), {"type": "turn.changed", "turn": str(turn_id or session_id)})


def send(group: str, message: dict[str, str]) -> None:
    """Send a hint to the open pages of a group."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        if _loop is not None and _loop.is_running():
            asyncio.run_coroutine_threadsafe(layer.group_send(group, message), _loop)
        elif isinstance(layer, InMemoryChannelLayer):
            # Its queues belong to the loop of whoever listens.
            async_to_sync(layer.group_send)(group, message)
        else:
            sent = asyncio.run_coroutine_threadsafe(layer.group_send(group, message), _own_loop())
            sent.result(SEND_TIMEOUT)
    except Exception:  # A hint that fails must never undo what is stored.
        logger.warning("no hint sent: %s", message, exc_info=True)
