"""The ids that log lines carry: of the request, the session and the turn that they are about.

They go with the work: from a request or a socket to the task that it queues, and from a task to the
threads of its model calls. A log line finds them by itself (``ieim/config/logs.py``), so that
nothing below has to hand them on. In place of structlog: three ids need no second way of logging.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_ids: ContextVar[Mapping[str, str]] = ContextVar("ieim_logged_ids", default={})  # noqa: B039


def ids() -> Mapping[str, str]:
    """Return the ids that lines carry now, by name."""
    return _ids.get()


def begin(ids: Mapping[str, str]) -> None:
    """Let what follows carry these alone: a thread or a connection begins something new."""
    _ids.set({name: value for name, value in ids.items() if value})


def bind(**ids: object) -> None:
    """Let what follows carry these too, until what is around it ends."""
    _ids.set({**_ids.get(), **{name: str(value) for name, value in ids.items()}})


@contextmanager
def about(**ids: object) -> Iterator[None]:
    """Let a block carry these too; what is noted inside ends with it."""
    before = _ids.get()
    bind(**ids)
    try:
        yield
    finally:
        _ids.set(before)
