"""How many files and sockets a process may have open."""

from __future__ import annotations

import resource


def allow_many() -> None:
    """Raise this process's own limit as far as it may go itself.

    A turn that waits has up to four sockets to the model, and the usual limit is 1,024 in all.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
