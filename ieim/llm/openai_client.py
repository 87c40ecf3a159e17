"""The model port over any OpenAI-compatible server: ``POST {base_url}/chat/completions``."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from ieim.llm.capabilities import Capabilities, response_format
from ieim.llm.offline import NAME
from ieim.pipeline.gate.gate import MAX_BYTES
from ieim.pipeline.ports import Cause, ModelAnswer, ModelRequest, ModelUnavailable
from ieim.search.transport import Response, client, exchange

_NOT_A_COMPLETION = (
    "The model server answered with something that is not a chat completion. Check that "
    "IEIM_MODEL_BASE_URL ends where /chat/completions begins, usually in /v1."
)
_REFUSED: Mapping[int, str] = {
    400: (
        "The model server does not take this request (400). Run manage.py doctor: it finds out "
        "which settings the server takes. Check too IEIM_MODEL_NAME, and that the input fits the "
        "model's context."
    ),
    401: "The model server does not accept the key (401). Check IEIM_MODEL_API_KEY.",
    403: "The key may not use this model (403). Check IEIM_MODEL_API_KEY and IEIM_MODEL_NAME.",
    404: (
        "The model server knows no such address or model (404). Check IEIM_MODEL_BASE_URL and "
        "IEIM_MODEL_NAME."
    ),
    422: (
        "The model server does not take this request (422). Run manage.py doctor: it finds out "
        "which settings the server takes."
    ),
    429: "The model server takes no more requests for now (429).",
}
_LONGEST_RETRY_AFTER = 86_400.0


class OpenAIModel:
    """A model behind an OpenAI-compatible server; one instance serves all threads of a process.

    Create it after a fork: it holds connections. Of ``overrides`` (contract id to options) it reads
    ``model`` and the fields of :class:`Capabilities`: temperature and output budget come with each
    request. It never retries: the runner does, and audits it. Raises ValueError as
    :func:`ieim.search.transport.client`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        capabilities: Capabilities,
        overrides: Mapping[str, Mapping[str, Any]],
    ) -> None:
        completions = client(base_url, api_key, settings="IEIM_MODEL").chat.completions
        # Looked up here: the package imports this part at first use, and a call's time is short.
        self._create = completions.with_streaming_response.create
        self._model = model
        self._capabilities = capabilities
        self._overrides = overrides

    @property
    def name(self) -> str:
        """The name under which answers are recorded."""
        return self._model

    @property
    def reads_hints(self) -> bool:
        """Whether the server is the offline engine's (:mod:`ieim.llm.server`)."""
        return self._model == NAME

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Send ``request`` unchanged and return what came, within ``deadline`` seconds in all.

        A body over the limit is not parsed: ``raw`` is then its beginning, long enough for the gate
        to find ``model.too_large``. Raises :class:`ModelUnavailable` for timeouts, broken
        connections, every status but 200, and bodies that are no chat completion; no message of it
        holds a key or a word of the server's.
        """
        model = str(self._overrides.get(request.contract, {}).get("model") or self._model)
        try:
            response = exchange(self._create, self._content(request, model), seconds=deadline)
        except TimeoutError:
            failure = ModelUnavailable(
                "The model server gave no whole answer before the deadline.", timed_out=True
            )
        except ConnectionError:
            failure = ModelUnavailable(
                "The connection to the model server failed. Check IEIM_MODEL_BASE_URL and that it "
                "runs."
            )
        else:
            return _answer(response, model)
        raise failure

    def _content(self, request: ModelRequest, model: str) -> dict[str, Any]:
        capabilities = self._capabilities.override(self._overrides.get(request.contract, {}))
        content: dict[str, Any] = {
            "model": model,
            "messages": [{"role": each.role, "content": each.content} for each in request.messages],
            capabilities.max_tokens_field: request.max_output_tokens,
        }
        if capabilities.send_temperature:
            content["temperature"] = request.temperature
        shape = response_format(
            request.contract, request.response_format, capabilities.response_format
        )
        if shape is not None:
            content["response_format"] = shape
        if capabilities.store is not None:
            content["store"] = capabilities.store
        if capabilities.cache_key:
            # The same for every citizen: calls of one contract begin alike.
            content["prompt_cache_key"] = f"ieim-{request.contract}"
        return content


def _answer(response: Response, model: str) -> ModelAnswer:
    """Return what a response says. Raises ModelUnavailable."""
    if response.status != 200:
        if _error_code(response.body) == "content_filter":
            return ModelAnswer(raw="", finish_reason="content_filter", model=model)
        raise _refusal(response)
    if not response.whole:
        beginning = response.body[: MAX_BYTES + 1].decode("utf-8", "surrogateescape")
        return ModelAnswer(raw=beginning, model=model)
    answer = _read_completion(response.body, model)
    if answer is None:
        raise ModelUnavailable(_NOT_A_COMPLETION, passing=False, cause=Cause.REQUEST)
    return answer


def _read_completion(body: bytes, model: str) -> ModelAnswer | None:
    """Return the first choice of a chat completion, None for any other body.

    ``model`` is recorded when the body names none. Bytes that are not UTF-8 appear in ``raw`` as
    lone surrogates (``surrogateescape``), as does a lone surrogate that the server escaped.
    """
    completion = _json(body)
    choices = _field(completion, "choices")
    if not isinstance(choices, list) or not choices:
        return None
    message = _field(choices[0], "message")
    content = _field(message, "content")
    if not isinstance(message, dict) or not isinstance(content, str | None):
        return None
    usage = _field(completion, "usage")
    return ModelAnswer(
        raw=content or "",
        finish_reason=_text(_field(choices[0], "finish_reason")),
        refusal=_text(_field(message, "refusal")),
        model=_text(_field(completion, "model")) or model,
        prompt_tokens=_count(_field(usage, "prompt_tokens")),
        completion_tokens=_count(_field(usage, "completion_tokens")),
        cached_tokens=_count(_field(_field(usage, "prompt_tokens_details"), "cached_tokens")),
    )


def _error_code(body: bytes) -> str | None:
    return _text(_field(_field(_json(body), "error"), "code"))


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    # A budget adds these up: a server's negative or astronomic count is no count.
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if is_count else None


def _refusal(response: Response) -> ModelUnavailable:
    status = response.status
    message = _REFUSED.get(status, f"The model server answered with status {status}.")
    if 300 <= status < 400:
        message = f"The model server redirects ({status}). Check IEIM_MODEL_BASE_URL."
    return ModelUnavailable(
        message,
        retry_after=_retry_after(response.headers.get("retry-after", "").strip()),
        passing=status == 429 or status >= 500,
        status=status,
    )


def _retry_after(value: str) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110: a number or a date), None without one."""
    if re.fullmatch(r"\d+(\.\d+)?", value, re.ASCII):
        return min(float(value), _LONGEST_RETRY_AFTER)
    try:
        seconds = parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER)
