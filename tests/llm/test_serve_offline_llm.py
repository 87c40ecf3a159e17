"""``manage.py serve_offline_llm`` as people start it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO

import httpx2
import pytest
from django.core.management import CommandError, call_command

from tests.llm.offline.turns import ROOT


@pytest.fixture
def served(tmp_path: object) -> Iterator[subprocess.Popen[str]]:
    """The command as a process of its own, on a free port."""
    child = subprocess.Popen(
        [sys.executable, "manage.py", "serve_offline_llm", "--port", "0"],
        cwd=ROOT,
        env={**os.environ, "IEIM_DATA_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def test_it_prints_its_address_serves_there_and_ends_with_ctrl_c(
    served: subprocess.Popen[str],
) -> None:
    assert served.stdout is not None
    line = served.stdout.readline()
    match = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/v1)\n", line)
    assert match, line
    [model] = httpx2.get(f"{match[1]}/models", trust_env=False).json()["data"]
    assert model["id"] == "ieim-offline"
    served.send_signal(signal.SIGINT)
    out, err = served.communicate(timeout=20)
    assert (served.returncode, out, err) == (0, "", "")


def test_it_says_so_when_the_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port}.*--port"):
            call_command("serve_offline_llm", port=port, stdout=StringIO())


@pytest.mark.parametrize(
    "arguments",
    [["--port", "65536"], ["--port", "-1"], ["--port", "x"], ["--delay", "-1"], ["--delay", "nan"]],
)
def test_it_refuses_numbers_that_make_no_sense(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match=r"a (port|delay) is"):
        call_command("serve_offline_llm", *arguments)
