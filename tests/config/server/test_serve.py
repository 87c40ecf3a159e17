"""`manage.py serve`: the one command that a newcomer types."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests import live
from tests.checks import PRODUCTION, ROOT, clean_environment
from tests.services import free_port, wait_for_port

STOP_SECONDS = 30.0


def environment(folder: Path) -> dict[str, str]:
    """The environment of someone who has set nothing."""
    return {**clean_environment(), "IEIM_DATA_DIR": str(folder), "PYTHONUNBUFFERED": "1"}


def serve(folder: Path, port: int, *, until: signal.Signals) -> tuple[int, str]:
    """Serve until the first page is there, then end it by a signal.

    Returns the exit code and what was printed; TimeoutExpired when it goes on.
    """
    log = folder / "log"
    with live.process(["django", "serve", "--port", str(port)], environment(folder), log) as server:
        wait_for_port(port, server)
        url = f"http://127.0.0.1:{port}/"
        with urllib.request.urlopen(url, timeout=live.READY_SECONDS) as page:
            assert page.status == 200
        server.send_signal(until)
        code = server.wait(timeout=STOP_SECONDS)
    return code, log.read_text(encoding="utf-8")


@pytest.mark.timeout(600)  # two starts of a whole site, the first of them from nothing
def test_it_serves_and_ends(tmp_path: Path) -> None:
    port = free_port()
    code, result = serve(tmp_path, port, until=signal.SIGINT)
    assert code == 0, result
    assert f"http://127.0.0.1:{port}/" in result
    assert "Publishing the demo knowledge" in result
    assert re.search(r"caseworker +demo-caseworker", result)
    assert "Traceback" not in result

    # The second start finds everything there.
    code, result = serve(tmp_path, port, until=signal.SIGTERM)
    assert code == 0, result
    assert "Publishing" not in result


def test_it_says_that_the_port_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
        )
    assert done.returncode == 1
    assert f"Port {port} cannot be used" in done.stderr
    assert f"PORT={port + 1} make run" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "ieim.sqlite3").exists()


@pytest.mark.parametrize("command", ["serve", "demo_accounts"])
def test_it_is_not_for_production(tmp_path: Path, command: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", command],
        cwd=ROOT,
        env=environment(tmp_path) | PRODUCTION,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: ")
