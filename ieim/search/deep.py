"""Calls that need a deep stack, made in a few threads for the whole process.

A thread keeps whatever of its stack was once used, for as long as it lives. A search uses up to
64 KiB of it: too much for each of hundreds of turns that wait for a model. The threads are daemons,
as an executor's are not: a process that ends neither waits for a search nor refuses one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

_THREADS = 2
"""All of them share one interpreter: more would only have more stacks."""


def elsewhere(work: Callable[[], T]) -> T:
    """Return what ``work`` returns, or raise what it raises; it may not call this itself."""
    done: Future[T] = Future()
    _queue(os.getpid()).put((done, work))
    return done.result()


@cache
def _queue(_process: int) -> SimpleQueue[tuple[Future[Any], Callable[[], Any]]]:
    """Return the queue of this process: one that was forked from another has none of its
    threads."""
    queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
    for _ in range(_THREADS):
        threading.Thread(target=_serve, args=(queue,), name="search", daemon=True).start()
    return queue


def _serve(queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]]]) -> None:
    while True:
        done, work = queue.get()
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            done.set_exception(error)
        del done, work  # a citizen's words are not kept until the next search
