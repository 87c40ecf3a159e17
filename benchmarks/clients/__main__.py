"""A worker: ``python -m benchmarks.clients libraries|ours JOB RESULT``, from the repository's root.

Reads the job, measures, and writes the result; both are JSON files.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.clients import harness

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


def stay_here() -> None:
    """Refuse, from now on, every connection and every look-up of a name beyond this machine."""

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            host = arguments[0]
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            host = arguments[1][0]
        else:
            return
        name = host.decode() if isinstance(host, bytes) else host
        if name not in _HERE:
            print(f"refused: a connection to {name}", file=sys.stderr)
            raise PermissionError(f"This benchmark does not connect to {name}.")

    sys.addaudithook(check)


def main() -> None:
    """Work."""
    name, job, result = sys.argv[1:]
    # Before the libraries are imported: some would ask the network at once.
    stay_here()
    warnings.simplefilter("ignore")
    logging.disable()
    worker = import_module(f"benchmarks.clients.{name}")
    measured = harness.work(harness.read(Path(job)), worker.CLIENTS, worker.PACKAGES)
    Path(result).write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
