"""A local stand-in of Telegram's HTTP API: updates wait until they are confirmed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.model_server import QUICK

TOKEN = "123456:a-token-for-tests"
SOMEBODY = 4711


class Telegram:
    """``failing`` holds, by method, what is answered in place of doing it: (code, parameters)."""

    def __init__(self) -> None:
        self.origin = ""
        self.changed = threading.Condition()
        self.updates: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.failing: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        self._all: list[dict[str, Any]] = []
        self._numbers = iter(range(1, 10_000))

    def says(self, text: str | None, *, language: str = "en", **more: Any) -> dict[str, Any]:
        """Let somebody send a message; returns it. Without a text it is of the kind ``more``."""
        message = {
            "message_id": next(self._numbers),
            "from": {"id": SOMEBODY, "language_code": language},
            "chat": {"id": SOMEBODY, "type": "private"},
            **({} if text is None else {"text": text}),
            **more,
        }
        self._happened({"message": message})
        return message

    def presses(self, button: str, *, language: str = "en") -> None:
        """Let somebody press a button of the last message that has it."""
        for body in reversed(self.sent):
            rows = body.get("reply_markup", {}).get("inline_keyboard", [])
            for [each] in rows:
                if button in each["text"]:
                    query = {
                        "id": "1",
                        "from": {"id": SOMEBODY, "language_code": language},
                        "message": self._shown(body),
                        "data": each["callback_data"],
                    }
                    return self._happened({"callback_query": query})
        raise AssertionError(f"there is no button {button!r}")

    def _shown(self, body: dict[str, Any]) -> dict[str, Any]:
        """A message of the bot's as it comes back: with the one that it is a reply to."""
        message = {"message_id": 9, "chat": {"id": body["chat_id"], "type": "private"}}
        replied = body.get("reply_parameters", {}).get("message_id")
        said = [each["message"] for each in self._all if "message" in each]
        asked = [each for each in said if each["message_id"] == replied]
        return {**message, "reply_to_message": asked[0]} if asked else message

    def _happened(self, update: dict[str, Any]) -> None:
        with self.changed:
            update["update_id"] = 100 + next(self._numbers)
            self.updates.append(update)
            self._all.append(update)
            self.changed.notify_all()

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The messages that arrived."""
        return [body for method, body in self.calls if method == "sendMessage"]

    @property
    def texts(self) -> list[str]:
        """What they say."""
        return [body["text"] for body in self.sent]

    def answer(self, method: str, given: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Do what a method does; returns status and body."""
        with self.changed:
            if failing := self.failing.get(method):
                code, more = failing.pop(0)
                return code, {"ok": False, "error_code": code, "parameters": more}
            if method == "getUpdates":
                offset = given["offset"]
                self.updates = [u for u in self.updates if u["update_id"] >= offset]
                self.changed.wait_for(lambda: bool(self.updates), timeout=given["timeout"])
                return 200, {"ok": True, "result": self.updates}
            if method == "sendMessage":
                units = len(given["text"].encode("utf-16-le")) // 2
                if not 0 < units <= 4096:
                    return 400, {"ok": False, "error_code": 400}
            self.calls.append((method, given))
            self.changed.notify_all()
            return 200, {"ok": True, "result": {"message_id": 9}}


@contextmanager
def telegram() -> Iterator[Telegram]:
    """Serve the API on loopback until the block ends."""
    stand_in = Telegram()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            folder, _, method = self.path.removeprefix("/").partition("/")
            status, said = 404, {"ok": False, "error_code": 404}
            if folder == f"bot{TOKEN}":
                status, said = stand_in.answer(method, json.loads(body))
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, kwargs=QUICK, daemon=True)
    thread.start()
    stand_in.origin = f"http://127.0.0.1:{listener.server_port}"
    try:
        yield stand_in
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
