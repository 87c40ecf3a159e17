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
from typing import Any, Final, Literal, NamedTuple
from uuid import uuid4

import uvicorn
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import from_json

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
"""The faults of :func:`offline_app`, and what each makes of an answer."""

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

    async def complete(receive: Receive) -> dict[str, Any]:
        request = _read_request(await _body(receive), model=model.name, refuse=refuse)
        await asyncio.sleep(delay)
        try:
            # In a thread: while one answer is worked out, others are read and sent.
            answer = await asyncio.to_thread(model.complete, request, deadline=0.0)
        except OfflineInputError as error:
            raise ProtocolError(400, str(error), param="messages") from None
        if fault and contract in ("", request.contract):
            answer = await _faulty(answer, fault, receive)
        return _completion(answer)

    async def respond(path: str, method: str, receive: Receive) -> dict[str, Any]:
        methods = {"/v1/chat/completions": "POST", "/v1/models": "GET"}
        if path not in methods:
            raise ProtocolError(404, f"There is no {path} here.", code="not_found")
        if method != methods[path]:
            message = f"{path} takes {methods[path]} only."
            raise ProtocolError(405, message, code="method_not_allowed")
        if method == "POST":
            return await complete(receive)
        entry = {"id": model.name, "object": "model", "owned_by": "ieim"}
        return {"object": "list", "data": [{**entry, "created": int(time.time())}]}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        status, headers = 200, tuple[tuple[bytes, bytes], ...]()
        try:
            content = await respond(scope["path"], scope["method"], receive)
        except ProtocolError as error:
            status, headers, content = error.status, error.headers, error.as_dict()
        body = json.dumps(content).encode()
        headers += (
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        )
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

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

    ``ready`` is called with the base URL as soon as connections are taken.

    Raises:
        OSError: the address cannot be had.
    """
    listener, server = _bind(app, host, port)
    ready(_base_url(listener))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


@contextmanager
def running_server(app: App, *, http: Any = "httptools") -> Iterator[str]:
    """Serve ``app`` from a thread and yield its base URL; ``http`` is uvicorn's protocol."""
    listener, server = _bind(app, "127.0.0.1", 0, http=http)
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


def _bind(
    app: App, host: str, port: int, *, http: Any = "httptools"
) -> tuple[socket.socket, uvicorn.Server]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=128)
    config = uvicorn.Config(
        app,
        http=http,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    return listener, uvicorn.Server(config)


def _base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


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


class SystemMessage(BaseModel):
    """The persona, or the directive of a contract."""

    role: Literal["system"]
    content: str


class UserMessage(BaseModel):
    """The per-call JSON of a contract."""

    role: Literal["user"]
    content: str


class ChatRequest(BaseModel):
    """The parameters of a request that the engine reads; others are ignored."""

    model: str
    messages: tuple[SystemMessage, SystemMessage, UserMessage]
    temperature: float = Field(1, ge=0, le=2)
    max_tokens: int = Field(16_384, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    n: Literal[1] | None = None
    stream: Literal[False] | None = None


def _read_request(body: bytes, *, model: str, refuse: Collection[str]) -> ModelRequest:
    """Return the request in ``body``; ``model`` is the one name that is served.

    Raises:
        ProtocolError: it is no request that the engine can answer, or has what ``refuse`` names of
            :data:`REFUSALS`.
    """
    content = _json_object(body, "The body has to be one JSON object.")
    try:
        request = ChatRequest.model_validate(content)
    except ValidationError as invalid:
        error = invalid.errors()[0]
        path = [str(part) for part in error["loc"]]
        raise ProtocolError(400, f"{'.'.join(path)}: {error['msg']}.", path[0]) from None
    if request.model != model:
        raise ProtocolError(404, f"The only model here is {model}.", "model", "model_not_found")
    for name in refuse:
        if REFUSALS[name].refuses(content):
            param = REFUSALS[name].param
            message = f"{param} is not supported here."
            raise ProtocolError(400, message, param, "unsupported_parameter")
    persona, directive, question = (
        Message(message.role, message.content) for message in request.messages
    )
    call = _json_object(question.content, "The last message has to be one JSON object.", "messages")
    return ModelRequest(
        contract=str(call.get("contract", "")),
        attempt=2 if call.get("attempt") == 2 else 1,
        messages=(persona, directive, question),
        temperature=request.temperature,
        max_output_tokens=request.max_completion_tokens or request.max_tokens,
    )


def _json_object(text: bytes | str, message: str, param: str | None = None) -> dict[str, Any]:
    try:
        value = from_json(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ProtocolError(400, message, param)
    return value


def _completion(answer: ModelAnswer) -> dict[str, Any]:
    prompt, completion = answer.prompt_tokens or 0, answer.completion_tokens or 0
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": answer.raw, "refusal": answer.refusal},
                "logprobs": None,
                "finish_reason": answer.finish_reason,
            }
        ],
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
    value = request.get("response_format")
    return value if isinstance(value, Mapping) else {}


def _schema(request: Mapping[str, Any]) -> Any:
    outer = _format(request).get("json_schema")
    return (outer if isinstance(outer, Mapping) else _format(request)).get("schema")


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
