"""The model port over any OpenAI-compatible server: ``POST {base_url}/chat/completions``."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore
import httpx

from ieim.llm.completion import NotACompletionError, read_completion
from ieim.llm.forms import response_format
from ieim.llm.takes import Takes
from ieim.pipeline.gate.gate import MAX_BYTES
from ieim.pipeline.ports import ModelAnswer, ModelRequest, ModelUnavailable
from ieim.search.transport import BodyTooLargeError, DeadlineTransport, seconds_left, total_deadline

_TIMED_OUT = "The model server gave no whole answer before the deadline."
_NOT_A_COMPLETION = (
    "The model server answered with something that is not a chat completion. Check that "
    "IEIM_MODEL_BASE_URL ends where /chat/completions begins, usually in /v1."
)
_BROKEN = "The connection to the model server failed. Check IEIM_MODEL_BASE_URL and that it runs."
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

    Create it after a fork, not before: it holds connections.

    Of ``overrides`` (contract id to options) this class reads ``model`` and the fields of
    :class:`Takes`: temperature and output budget come with each request. It never retries on its
    own: the runner does, and audits it. Thousands of calls wait at once, so that a call holds the
    bytes that it sends and little more; a client library's layers would hold twice as much.

    Raises ValueError for a ``base_url`` that is no http address and for a key that could not stand
    in a header.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        takes: Takes,
        overrides: Mapping[str, Mapping[str, Any]],
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError("IEIM_MODEL_BASE_URL has to begin with http:// or https://.")
        if not re.fullmatch(r"[\x21-\x7e]*", api_key):
            raise ValueError("IEIM_MODEL_API_KEY holds a space or a character outside ASCII.")
        self._model = model
        self._takes = takes
        self._overrides = overrides
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._headers = {
            # A server that wants no key takes any.
            "Authorization": f"Bearer {api_key or 'none'}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            # The cap counts bytes as they come, and a compressed body could grow a thousandfold:
            # none is asked for, and none is unpacked.
            "Accept-Encoding": "identity",
        }
        self._client = httpx.Client(transport=DeadlineTransport())

    @property
    def name(self) -> str:
        """The name under which answers are recorded."""
        return self._model

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Send ``request`` unchanged and return what came, within ``deadline`` seconds in all.

        A body over the cap is not parsed: ``raw`` is then its beginning, long enough for the gate
        to find ``model.too_large``. Raises :class:`ModelUnavailable` for timeouts, broken
        connections, every status but 200, and bodies that are no chat completion; no message of it
        holds a key or a word of the server's.
        """
        model = str(self._overrides.get(request.contract, {}).get("model") or self._model)
        # Raised outside the except clauses: the errors behind it may quote headers or the body.
        failure: ModelUnavailable
        with total_deadline(deadline):
            try:
                status, headers, body = self._sent(self._body(request, model))
                if 200 <= status < 300:
                    return read_completion(body, model)
                if _code(body) == "content_filter":
                    return ModelAnswer(raw="", finish_reason="content_filter", model=model)
                failure = _of_status(status, headers)
            except BodyTooLargeError as error:
                beginning = error.read[: MAX_BYTES + 1].decode("utf-8", "surrogateescape")
                return ModelAnswer(raw=beginning, model=model)
            except (httpcore.TimeoutException, httpx.TimeoutException):
                failure = ModelUnavailable(_TIMED_OUT, timed_out=True)
            except (httpcore.NetworkError, httpcore.ProtocolError, httpx.HTTPError):
                failure = ModelUnavailable(_BROKEN)
            except NotACompletionError:
                failure = ModelUnavailable(_NOT_A_COMPLETION, passing=False)
        raise failure

    def _body(self, request: ModelRequest, model: str) -> bytes:
        """Return the call's body."""
        takes = self._takes.but(self._overrides.get(request.contract, {}))
        body: dict[str, Any] = {
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "model": model,
            takes.max_tokens_field: request.max_output_tokens,
        }
        if takes.send_temperature:
            body["temperature"] = request.temperature
        shape = response_format(request.contract, request.response_format, takes.response_format)
        if shape is not None:
            body["response_format"] = shape
        if takes.store is not None:
            body["store"] = takes.store
        if takes.cache_key:
            # The same for every citizen: calls of one contract begin alike.
            body["prompt_cache_key"] = f"ieim-{request.contract}"
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    def _sent(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Send a call; return the answer's status, headers and body."""
        left = seconds_left()
        if left <= 0:
            raise httpcore.ConnectTimeout(_TIMED_OUT)
        with self._client.stream(
            "POST", self._url, content=body, headers=self._headers, timeout=left
        ) as response:
            return response.status_code, response.headers, b"".join(response.iter_raw())


def _code(body: bytes) -> object:
    """Return the code that an error's body gives, None without one."""
    try:
        error = json.loads(body)["error"]
        return error.get("code")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None


def _of_status(status: int, headers: Mapping[str, str]) -> ModelUnavailable:
    message = _REFUSED.get(status, f"The model server answered with status {status}.")
    if 300 <= status < 400:
        message = f"The model server redirects ({status}). Check IEIM_MODEL_BASE_URL."
    return ModelUnavailable(
        message,
        retry_after=_retry_after(headers),
        passing=status == 429 or status >= 500,
        status=status,
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110: a number or a date), None without one."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value, re.ASCII):
        return min(float(value), _LONGEST_RETRY_AFTER)
    try:
        at = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(at - time.time(), 0.0), _LONGEST_RETRY_AFTER)
