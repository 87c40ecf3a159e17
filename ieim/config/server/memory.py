"""How the allocator of the system serves hundreds of threads."""

from __future__ import annotations

import ctypes

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's ``mallopt``."""
ARENAS = 2


def share_arenas() -> None:
    """Let the threads of this process share few arenas, where the allocator is glibc's.

    Else there are eight for each core, and what a thread freed in one of them is of no use to the
    threads of the others. Call it early: what there is already stays.
    """
    allocator = ctypes.CDLL(None)
    if hasattr(allocator, "gnu_get_libc_version"):
        allocator.mallopt(_ARENA_MAX, ARENAS)
