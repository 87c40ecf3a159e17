"""An integrator's journey through the real server: REST and the JSON socket."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest
from django.conf import settings
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from conversations.chat.frames import SUBPROTOCOL
from conversations.chat.json_socket import JsonConsumer
from tests.fixtures import VISA

JSON = Subprotocol(SUBPROTOCOL)


def call(method: str, url: str, token: str = "", body: Any = None) -> tuple[int, Any]:
    """Send a request; returns the status and the JSON of the answer."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            said = response.read()
            return response.status, json.loads(said) if said else None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def read(socket: ClientConnection) -> dict[str, Any]:
    frame = json.loads(socket.recv(timeout=30))
    assert isinstance(frame, dict)
    return frame


def test_it_takes_an_integrator_all_the_way(live_site: str) -> None:
    status, session = call("POST", f"{live_site}/api/v1/sessions/")
    assert status == 201
    token, path = session["token"], f"{live_site}/api/v1/sessions/{session['id']}/"
    address = f"{live_site.replace('http', 'ws', 1)}/ws/chat/"
    header = {"Authorization": f"Bearer {token}"}
    frames = []
    ask = {"type": "ask", "text": VISA, "client_id": "m-1"}
    with connect(address, subprotocols=[JSON], additional_headers=header) as socket:
        assert socket.subprotocol == SUBPROTOCOL
        socket.send(json.dumps(ask))
        frames += [read(socket), read(socket)]
    # Cut off; a browser's way to bring the token, and the message sent again.
    with connect(address, subprotocols=[JSON], origin=Origin(live_site)) as socket:
        socket.send(json.dumps({"type": "auth", "token": token}))
        socket.send(json.dumps({"type": "resume", "after": frames[-1]["event"]}))
        socket.send(json.dumps(ask))
        while frames[-1]["type"] != "reply":
            frames.append(read(socket))
        assert [frame["event"] for frame in frames] == list(range(1, len(frames) + 1))
        status, turn = call("POST", f"{path}turns/", token, {"text": VISA, "client_id": "m-1"})
        assert (status, turn["id"], turn["state"]) == (200, frames[-1]["turn"], "answered")
        assert turn["reply"] == frames[-1]["reply"]
        assert call("DELETE", path, token) == (204, None)
        assert read(socket)["code"] == "erased"
    assert call("GET", path, token)[0] == 401


@pytest.mark.parametrize("options", [{"subprotocols": ["ieim.json.v2"]}, {}])
def test_it_refuses_a_stranger_at_the_door(live_site: str, options: Any) -> None:
    with (
        pytest.raises(InvalidStatus, match="403"),
        connect(f"{live_site.replace('http', 'ws', 1)}/ws/chat/", **options),
    ):
        pass


def test_it_runs_the_client_of_the_documentation(live_site: str) -> None:
    page = (settings.BASE_DIR / "docs" / "integrating.md").read_text(encoding="utf-8")
    (client,) = (
        code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "ws/" in code
    )
    done = subprocess.run(
        [sys.executable, "-c", client, live_site], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "Reading your question" in done.stdout
    assert re.search("Source: .+ https://", done.stdout)


def test_it_has_the_same_errors_on_the_real_server(live_site: str) -> None:
    assert call("GET", f"{live_site}/api/v1/nothing/")[1]["status"] == 404
    _, session = call("POST", f"{live_site}/api/v1/sessions/")
    path = f"{live_site}/api/v1/sessions/{session['id']}/turns/"
    assert call("POST", path, session["token"], {"text": "x" * 40_000})[0] == 413
    assert call("POST", path, session["token"], {"text": "a\x00b"})[0] == 400
    assert call("POST", path, session["token"], {"text": "a\ud800b"})[0] == 400


class Left(JsonConsumer):
    async def send(self, text_data: str | None = None, **_: object) -> None:  # type: ignore[override]  # as narrow as it is used
        raise ConnectionResetError(text_data)


async def test_a_client_that_has_left_is_nothing_that_an_operator_has_to_see(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await Left().send_frame({"type": "event"})
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
