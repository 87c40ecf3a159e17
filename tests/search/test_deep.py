"""Searches leave no mark on the stack of the thread that waits for them."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ieim.search import index_for
from ieim.search.deep import elsewhere
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


def test_what_goes_wrong_is_told_where_it_is_waited_for() -> None:
    def wrong() -> None:
        raise LookupError("of the search")

    with pytest.raises(LookupError, match="of the search"):
        elsewhere(wrong)
    assert elsewhere(lambda: 1) == 1


def test_many_are_served_each_with_its_own() -> None:
    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(lambda n: elsewhere(lambda: n), range(200))) == list(range(200))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_process_that_was_forked_searches_too() -> None:
    assert elsewhere(threading.get_ident) != threading.get_ident()
    child = multiprocessing.get_context("fork").Process(target=elsewhere, args=(int,))
    child.start()
    child.join(10)
    ended = child.exitcode
    child.kill()
    assert ended == 0
