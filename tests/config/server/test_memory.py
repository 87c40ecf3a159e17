"""What the allocator of a process with many threads does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ieim.config.process import ARENAS

COUNT = """
import ctypes, sys, threading

if sys.argv[1] == "shared":
    import django

    django.setup()
    from ieim.config.process import raise_limits

    raise_limits()
libc, together = ctypes.CDLL(None), threading.Barrier(6)
libc.malloc.restype = ctypes.c_void_p

def allocate():
    libc.malloc(100_000)
    together.wait(30)

threads = [threading.Thread(target=allocate) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.fopen.restype = ctypes.c_void_p
told = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, ctypes.c_void_p(told))
libc.fclose(ctypes.c_void_p(told))
"""


def arenas(how: str) -> int:
    """Return how many arenas six threads of a new process come to."""
    command = [sys.executable, "-c", COUNT, how]
    stdout = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return stdout.count("<heap nr")


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has arenas to share")
def test_threads_share_the_arenas_of_the_allocator() -> None:
    assert arenas("shared") <= ARENAS < arenas("own")
