"""A line of JSON, and the ids in it: from the request or the socket to the call of the model."""

from __future__ import annotations

import json
import logging
import re
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from conversations import logged
from ieim.config import logs
from tests import live
from tests.services import free_port

TOKEN = "0123456789-abcdef"
WORDS = "I want to extend my Quetzalcoatlus visa"
SECONDS = 30.0


def test_a_line_is_one_object_and_holds_nothing_else_of_its_record() -> None:
    record = logging.LogRecord("ieim.x", logging.INFO, "f", 1, "two\nlines of %s", ("it",), None)
    logged.begin({})
    record.request = "<GET /c/secret/>"
    with logged.about(turn="t", session="s"):
        logs.Ids().filter(record)
    line = logs.JsonLine().format(record)
    assert "\n" not in line
    data = json.loads(line)
    assert data.pop("time").endswith("+00:00")
    assert data == {
        "level": "INFO",
        "logger": "ieim.x",
        "message": "two\nlines of it",
        "turn": "t",
        "session": "s",
    }
    assert logs.TextLine().format(record).endswith("of it [turn=t session=s]")
    assert logged.ids() == {}


def lines(folder: Path) -> list[dict[str, Any]]:
    """What server and worker have written."""
    texts = [name.read_text() for name in folder.glob("*.log")]
    return [json.loads(line) for text in texts for line in text.splitlines() if line[:1] == "{"]


def calls(folder: Path, *, of: str) -> list[dict[str, Any]]:
    """The lines of model calls with a request's id, as soon as there are any."""
    deadline = time.monotonic() + SECONDS
    records: list[dict[str, Any]] = []
    while not records and time.monotonic() < deadline:
        time.sleep(0.1)  # between two looks
        records = [
            line
            for line in lines(folder)
            if line["message"].startswith("model call") and line.get("request") == of
        ]
    return records


@pytest.mark.both_databases
def test_the_ids_go_from_request_and_socket_to_the_model_call(tmp_path: Path) -> None:
    environment = {
        "IEIM_LOG_FORMAT": "json",
        "IEIM_LOG_LEVEL": "DEBUG",
        "IEIM_METRICS_TOKEN": TOKEN,
        # Nobody is there: the call fails, which is said too.
        "IEIM_MODEL_BASE_URL": f"http://127.0.0.1:{free_port()}/v1",
        "IEIM_MODEL_NAME": "nobody",
    }
    with live.site(tmp_path, **environment) as site:
        secret = _post(site.base_url, "/api/v1/sessions/")[0]
        sent, request = _post(
            site.base_url, f"/api/v1/sessions/{secret['id']}/turns/", secret["token"], text=WORDS
        )
        (first, *_) = calls(tmp_path, of=request)
        assert (first["session"], first["turn"]) == (secret["id"], sent["id"])
        assert first["message"].endswith("no answer (connection)")

        with urllib.request.urlopen(f"{site.base_url}/", timeout=SECONDS) as page:
            cookie = page.headers["Set-Cookie"].partition(";")[0]
        address = site.base_url.replace("http", "ws") + "/ws/chat/"
        with connect(
            address, origin=Origin(site.base_url), additional_headers={"Cookie": cookie}
        ) as socket:
            socket.send(json.dumps({"text": WORDS}))
            while "Quetzalcoatlus" not in str(socket.recv(SECONDS)):
                pass
        deadline = time.monotonic() + SECONDS
        others: set[str] = set()
        while not others and time.monotonic() < deadline:
            time.sleep(0.1)  # between two looks
            others = {
                line["request"]
                for line in lines(tmp_path)
                if line["message"].startswith("model call") and line.get("request") != request
            }
        (by_socket,) = others
        assert re.fullmatch("[0-9a-f]{32}", by_socket)

        result = urllib.request.Request(
            f"{site.base_url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        with urllib.request.urlopen(result, timeout=SECONDS) as answer:
            figures = answer.read().decode()
        assert re.search(r"^ieim_processes\{kind=\"web\"\} 1\.0$", figures, re.MULTILINE)
    written = "".join(name.read_text() for name in tmp_path.glob("*.log"))
    assert "Quetzalcoatlus" not in written


def _post(base_url: str, path: str, token: str = "", **body: str) -> tuple[dict[str, Any], str]:
    """Return what REST says, and the request's id."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(
        f"{base_url}{path}", json.dumps(body).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return json.loads(answer.read()), answer.headers["X-Request-ID"]
