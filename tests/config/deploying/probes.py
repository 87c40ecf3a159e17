"""Requests to a site, once and again until a file exists, to count what an upgrade refuses.

Run on the server: ``probes.py ADDRESS UNTIL CERTIFICATE``. Prints JSON: ``pages``, the status and
the seconds of each request for the page; ``turns``, those of each question by REST until its answer
is there. The status of a request without an answer is 0.
"""

from __future__ import annotations

import json
import ssl
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

SITE, UNTIL = sys.argv[1], Path(sys.argv[2])
TRUST = ssl.create_default_context(cafile=sys.argv[3])


def call(path: str, body: Any = None, token: str = "") -> tuple[int, bytes]:
    """Return status and body of an answer, with a POST where there is a body."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SITE + path, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=30, context=TRUST) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, b""
    except OSError:
        return 0, b""


def ask_page(_number: int) -> tuple[int, float]:
    """Return the status of the page and the seconds that it took."""
    begun = time.monotonic()
    return call("/")[0], time.monotonic() - begun


def ask_turn(number: int) -> tuple[int, float]:
    """Return the first status that is no success, else the last, and the seconds to the answer."""
    begun = time.monotonic()
    status, content = call("/api/v1/sessions/", {})
    if status < 300:
        session = json.loads(content)
        question = {"text": "How do I renew my passport?", "client_id": f"probe-{number}"}
        token = session["token"]
        status, content = call(f"/api/v1/sessions/{session['id']}/turns/", question, token)
    while status and status < 300 and json.loads(content)["state"] in ("queued", "running"):
        if time.monotonic() - begun > 60:
            return 0, time.monotonic() - begun
        time.sleep(0.2)
        status, content = call(f"/api/v1/turns/{json.loads(content)['id']}/", token=token)
    return status, time.monotonic() - begun


with ThreadPoolExecutor(32) as pool:
    pages: list[Future[tuple[int, float]]] = []
    turns: list[Future[tuple[int, float]]] = []
    while not UNTIL.exists():
        pages.append(pool.submit(ask_page, len(pages)))
        if len(pages) % 8 == 0:
            turns.append(pool.submit(ask_turn, len(turns)))
        time.sleep(0.25)
    print(
        json.dumps(
            {"pages": [page.result() for page in pages], "turns": [turn.result() for turn in turns]}
        )
    )
