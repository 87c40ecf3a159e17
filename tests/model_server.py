"""A scripted model behind a real socket: the only thing that the tests fake.

Answers like the offline engine, except where the script says otherwise.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ieim.llm.capabilities import Capabilities
from ieim.llm.offline import OfflineModel
from ieim.llm.openai_client import OpenAIModel
from ieim.pipeline.ports import Message, ModelRequest

QUICK = {"poll_interval": 0.01}
"""A server of a test looks every so many seconds whether it is to end; else twice a second."""


class ScriptedServer:
    """``script`` holds, by contract, what is said instead of the engine's answer, in order.

    A text is sent as the content, a mapping as JSON; an int is an HTTP status; an event is waited
    for, and then the engine's answer is sent.
    """

    base_url = ""

    def __init__(self, script: Mapping[str, Sequence[Any]]) -> None:
        self.script = {contract: list(answers) for contract, answers in script.items()}
        self.asked: list[tuple[str, int]] = []
        self.answered: list[tuple[str, int]] = []
        self.down: bool | set[str] = False
        """Whether every call, or those of some contracts, get a 503."""
        self.engine = OfflineModel()
        self.lock = threading.Lock()

    def answer(self, body: Mapping[str, Any]) -> tuple[int, str]:
        messages = [Message(m["role"], m["content"]) for m in body["messages"]]
        payload = json.loads(messages[2].content)
        with self.lock:
            self.asked.append((payload["contract"], payload["attempt"]))
            waiting = self.script.get(payload["contract"])
            scripted = waiting.pop(0) if waiting else None
        if self.down is True or (self.down and payload["contract"] in self.down):
            return 503, ""
        with self.lock:
            self.answered.append((payload["contract"], payload["attempt"]))
        if isinstance(scripted, threading.Event):
            scripted.wait(60)
            scripted = None
        if isinstance(scripted, int):
            return scripted, ""
        if scripted is not None:
            return 200, scripted if isinstance(scripted, str) else json.dumps(scripted)
        request = ModelRequest(
            contract=payload["contract"],
            attempt=payload["attempt"],
            messages=(messages[0], messages[1], messages[2]),
            temperature=body["temperature"],
            max_output_tokens=body["max_tokens"],
        )
        return 200, self.engine.complete(request, deadline=10).raw


@contextmanager
def scripted_model(script: Mapping[str, Sequence[Any]]) -> Iterator[tuple[OpenAIModel, Any]]:
    """Yield ``(model, server)``: the real client, connected to a server that plays ``script``."""
    server = ScriptedServer(script)
    with served(server.answer) as server.base_url:
        yield client_of(server.base_url), server


def client_of(base_url: str) -> OpenAIModel:
    """Return the real client, connected to a server of these tests."""
    return OpenAIModel(base_url, "", "scripted", capabilities=Capabilities(), overrides={})


@contextmanager
def served(
    answer: Callable[[Mapping[str, Any]], tuple[int, str]], heads: list[str] | None = None
) -> Iterator[str]:
    """Serve chat completions and yield the base URL: ``answer`` takes the body of a request and
    returns the status and the content of the one message. ``heads`` gets each request's headers."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Header and body are two writes: else the second waits 40 ms for the first to be confirmed.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            if heads is not None:
                heads.append(str(self.headers))
            size = int(self.headers["Content-Length"])
            status, content = answer(json.loads(self.rfile.read(size)))
            choice = {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content},
            }
            body = json.dumps(
                {
                    "id": "x",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "scripted",
                    "choices": [choice],
                    "usage": {
                        "prompt_tokens": 10,
                        "completion_tokens": 5,
                        "total_tokens": 15,
                        "prompt_tokens_details": {"cached_tokens": 4},
                    },
                }
            ).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, kwargs=QUICK, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}/v1"
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
