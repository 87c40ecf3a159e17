"""The offline engine over HTTP, as an OpenAI-compatible endpoint under ``/v1``.

``POST /v1/chat/completions`` and ``GET /v1/models``; any key is accepted. It can refuse parts of
the protocol as model servers do, and answer with a fault, so that settings, ``manage.py doctor``
and the gate are tried on real answers.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple
from uuid import uuid4

import uvicorn

from ieim.llm.offline import OfflineInputError, OfflineModel
from ieim.pipeline.ports import Message, ModelAnswer, ModelRequest

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_REQUEST: Final = 4 * 1024 * 1024
"""Bytes of a request's body."""

FAULTS: Final[Mapping[str, str]] = {
    "timeout": "takes the request and never answers",
    "error": "answers 500",
    "rate-limit": "answers 429, with Retry-After: 30",
    "fenced": "puts its JSON into a code fence",
    "refusal": "refuses",
}
"""What ``fault`` of :func:`offline_app` makes of every answer."""

_DEFAULT_MAX_TOKENS = 16_384
_ROLES = ["system", "system", "user"]
_STOP_SECONDS = 5.0


@dataclass(eq=False)
class ProtocolError(Exception):
    """A request that is not answered, as OpenAI's API would say it."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the error object of the protocol."""
        error = {"message": self.message, "type": "invalid_request_error"}
        return {"error": {**error, "param": self.param, "code": self.code}}


def offline_app(
    *, delay: float = 0.0, refuse: Collection[str] = (), fault: str = "", contract: str = ""
) -> App:
    """Return the ASGI application; every completion waits ``delay`` seconds first.

    ``refuse`` names what it does not take, of :data:`REFUSALS`; ``fault`` one of :data:`FAULTS` for
    every answer, or for those to one ``contract``.
    """
    model = OfflineModel()

    async def chat(receive: Receive) -> dict[str, Any]:
        request = read_request(await _body(receive), model=model.name, refuse=refuse)
        await asyncio.sleep(delay)
        try:
            # In a thread: while one answer is worked out, others are read and sent.
            answer = await asyncio.to_thread(model.complete, request, deadline=0.0)
        except OfflineInputError as error:
            raise ProtocolError(400, str(error), param="messages") from None
        if fault and contract in ("", request.contract):
            answer = await _faulty(answer, fault, receive)
        return _completion(answer)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            _check_route(scope["path"], scope["method"])
            if scope["method"] == "POST":
                await _send_json(send, 200, await chat(receive))
            else:
                listed = {"id": model.name, "object": "model", "owned_by": "ieim"}
                data = [{**listed, "created": int(time.time())}]
                await _send_json(send, 200, {"object": "list", "data": data})
        except ProtocolError as error:
            await _send_json(send, error.status, error.as_dict(), *error.headers)

    return app


async def _faulty(answer: ModelAnswer, fault: str, receive: Receive) -> ModelAnswer:
    """Return the ``answer`` with a fault of :data:`FAULTS`, or raise the error that it is."""
    if fault == "timeout":
        while (await receive())["type"] != "http.disconnect":
            pass
    if fault == "rate-limit":
        wait = (b"retry-after", b"30")
        raise ProtocolError(429, "Too many requests.", code="rate_limit_exceeded", headers=(wait,))
    if fault == "fenced":
        return replace(answer, raw=f"```json\n{answer.raw}\n```")
    if fault == "refusal":
        return replace(answer, raw="", refusal="I cannot help with that.")
    raise ProtocolError(500, "The server failed.", code="server_error")


def serve(app: App, *, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve ``app`` until SIGINT or SIGTERM; ``port`` 0 takes a free one.

    ``ready`` is called with the base URL as soon as connections are taken. Raises OSError when the
    address cannot be had.
    """
    listener = _listen(host, port)
    ready(_base_url(listener))
    with suppress(KeyboardInterrupt):
        _server(app).run(sockets=[listener])


@contextmanager
def running_server(app: App, *, http: Any = "httptools") -> Iterator[str]:
    """Serve ``app`` from a thread and yield its base URL; ``http`` is uvicorn's protocol."""
    listener = _listen("127.0.0.1", 0)
    server = _server(app, http)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name="offline-llm", daemon=True
    )
    thread.start()
    try:
        # The socket listens already: whoever connects before the loop runs only waits a moment.
        yield _base_url(listener)
    finally:
        server.should_exit = True
        thread.join(_STOP_SECONDS)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=128)


def _base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def _server(app: App, http: Any = "httptools") -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=http,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
    )


def _check_route(path: str, method: str) -> None:
    methods = {"/v1/chat/completions": "POST", "/v1/models": "GET"}
    if path not in methods:
        raise ProtocolError(404, f"There is no {path} here.", code="not_found")
    if method != methods[path]:
        raise ProtocolError(405, f"{path} takes {methods[path]} only.", code="method_not_allowed")


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise ProtocolError(400, "The request ended before its body did.")
        body += event.get("body", b"")
        if len(body) > MAX_REQUEST:
            raise ProtocolError(413, f"The body is larger than {MAX_REQUEST} bytes.")
        if not event.get("more_body", False):
            return bytes(body)


async def _send_json(send: Send, status: int, content: Any, *more: tuple[bytes, bytes]) -> None:
    body = json.dumps(content).encode()
    length = (b"content-length", str(len(body)).encode())
    headers = [(b"content-type", b"application/json"), length, *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def read_request(body: bytes, *, model: str, refuse: Collection[str] = ()) -> ModelRequest:
    """Return the request in ``body``; ``model`` is the one name that is served.

    Raises :class:`ProtocolError` for what is not a request of three messages (system, system, user)
    with the per-call JSON in the last, for what the engine cannot do (streams, several choices),
    and for what ``refuse`` names of :data:`REFUSALS`. Other parameters are ignored.
    """
    request = _json_object(body, "The body has to be one JSON object.")
    if request.get("model") != model:
        raise ProtocolError(404, f"The only model here is {model}.", "model", "model_not_found")
    for name, supported in (("stream", (None, False)), ("n", (None, 1))):
        if request.get(name) not in supported:
            raise ProtocolError(400, f"{name} is not supported here.", name)
    for name, refusal in REFUSALS.items():
        if name in refuse and refusal.refuses(request):
            param = refusal.param
            raise ProtocolError(
                400, f"{param} is not supported here.", param, "unsupported_parameter"
            )
    messages = _messages(request.get("messages"))
    content = _json_object(
        messages[2].content, "The last message has to be one JSON object.", "messages"
    )
    return ModelRequest(
        contract=str(content.get("contract", "")),
        attempt=2 if content.get("attempt") == 2 else 1,
        messages=messages,
        temperature=_temperature(request.get("temperature", 1.0)),
        max_output_tokens=_max_tokens(request),
    )


def _json_object(text: bytes | str, message: str, param: str | None = None) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProtocolError(400, message, param)
    return found


def _messages(value: Any) -> tuple[Message, Message, Message]:
    found = value if isinstance(value, list) else []
    texts = [each["content"] for each in found if _is_message(each)]
    if [each["role"] for each in found if _is_message(each)] != _ROLES or len(texts) != len(found):
        raise ProtocolError(
            400,
            "messages has to be three: persona (system), directive (system), per-call JSON (user), "
            "each with its content as text.",
            "messages",
        )
    persona, directive, content = texts
    return Message("system", persona), Message("system", directive), Message("user", content)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and isinstance(value.get("content"), str)


def _temperature(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise ProtocolError(400, "temperature has to be from 0 to 2.", "temperature")
    return float(value)


def _max_tokens(request: dict[str, Any]) -> int:
    name = "max_completion_tokens" if "max_completion_tokens" in request else "max_tokens"
    value = request.get(name, _DEFAULT_MAX_TOKENS)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ProtocolError(400, f"{name} has to be a whole number of 1 or more.", name)
    return value


def _completion(answer: ModelAnswer) -> dict[str, Any]:
    prompt, completion = answer.prompt_tokens or 0, answer.completion_tokens or 0
    message = {"role": "assistant", "content": answer.raw, "refusal": answer.refusal}
    choice = {"index": 0, "message": message, "logprobs": None}
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.model,
        "choices": [{**choice, "finish_reason": answer.finish_reason}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }


class Refusal(NamedTuple):
    """``description`` is for people; ``param`` is what the error names; ``refuses`` says whether a
    request has what is not taken."""

    description: str
    param: str
    refuses: Callable[[Mapping[str, Any]], bool]


def _format(request: Mapping[str, Any]) -> Mapping[str, Any]:
    found = request.get("response_format")
    return found if isinstance(found, Mapping) else {}


def _schema(request: Mapping[str, Any]) -> Any:
    found = _format(request)
    outer = found.get("json_schema")
    return outer.get("schema") if isinstance(outer, Mapping) else found.get("schema")


def _has(schema: Any, keywords: Collection[str], *, booleans: bool = False) -> bool:
    """Whether a schema, or one in it, has one of ``keywords``, or is only true or false."""
    if not isinstance(schema, Mapping):
        return booleans and isinstance(schema, bool)
    if not schema.keys().isdisjoint(keywords):
        return True
    nested = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    nested += [schema["items"]] if "items" in schema else []
    more = schema.get("additionalProperties")
    nested += [more] if isinstance(more, Mapping) else []
    return any(_has(child, keywords, booleans=booleans) for child in nested)


def _field(name: str, description: str = "") -> Refusal:
    return Refusal(description or name, name, lambda request: name in request)


def _shape(description: str, refuses: Callable[[Mapping[str, Any]], bool]) -> Refusal:
    return Refusal(description, "response_format", refuses)


_CONDITIONS = frozenset({"if", "then", "else", "allOf", "anyOf", "oneOf", "not"})
_LENGTHS = frozenset({"minLength", "maxLength"})

REFUSALS: Final[Mapping[str, Refusal]] = {
    "temperature": _field("temperature", "a temperature"),
    "max-tokens": _field("max_tokens", "max_tokens: it wants max_completion_tokens"),
    "max-completion-tokens": _field(
        "max_completion_tokens", "max_completion_tokens: it wants max_tokens"
    ),
    "store": _field("store"),
    "cache-key": _field("prompt_cache_key"),
    "json-schema": _shape(
        "a response format of json_schema", lambda r: _format(r).get("type") == "json_schema"
    ),
    "schema-beside": _shape("a schema beside json_object", lambda r: "schema" in _format(r)),
    "json-object": _shape(
        "a response format of json_object", lambda r: _format(r).get("type") == "json_object"
    ),
    "conditions": _shape(
        "schemas with conditions, or that are only true or false",
        lambda r: _has(_schema(r), _CONDITIONS, booleans=True),
    ),
    "lengths": _shape("schemas with lengths of texts", lambda r: _has(_schema(r), _LENGTHS)),
}
"""By name, as ``manage.py serve_offline_llm --refuse`` takes it: the differences between servers
that the settings can describe. Refused requests get status 400."""
