"""Searches leave no mark on the stack of the thread that waits for them."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from pathlib import Path

import pytest

from ieim.search import index_for
from tests.search.releases import release


def stack() -> int:
    """Return how much of this thread's stack is in memory, in KiB."""
    here = threading.get_ident()
    inside = False
    for line in Path("/proc/self/smaps").read_text(encoding="ascii").splitlines():
        name, *rest = line.split()
        if not name.endswith(":"):
            begin, end = (int(each, 16) for each in name.split("-"))
            inside = begin <= here < end
        elif inside and name == "Rss:":
            return int(rest[0])
    raise AssertionError("this thread has no stack")


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much of a stack is used")
def test_a_search_leaves_the_stack_of_a_turn_small() -> None:
    index = index_for(release(sha256="d" * 64))
    used: list[int] = []

    def turn() -> None:
        before = stack()
        assert index.services("passport", agencies=None, limit=3)
        used.append(stack() - before)

    thread = threading.Thread(target=turn)
    thread.start()
    thread.join()
    assert used[0] < 32


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_process_that_was_forked_searches_too() -> None:
    index = index_for(release(sha256="e" * 64))

    def search() -> None:
        assert index.services("passport", agencies=None, limit=3)

    search()
    child = multiprocessing.get_context("fork").Process(target=search)
    child.start()
    child.join(10)
    ended = child.exitcode
    child.kill()
    assert ended == 0
