"""The model port over any OpenAI-compatible server: ``POST {base_url}/chat/completions``."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

import httpcore
import httpx
import openai
from openai.types.chat import ChatCompletionMessageParam
from openai.types.chat.completion_create_params import ResponseFormat

from ieim.llm.completion import NotACompletionError, read_completion
from ieim.llm.forms import response_format
from ieim.llm.takes import Takes
from ieim.pipeline.gate.gate import MAX_BYTES
from ieim.pipeline.ports import Message, ModelAnswer, ModelRequest, ModelUnavailable
from ieim.search.transport import (
    BodyTooLargeError,
    Client,
    DeadlineTransport,
    seconds_left,
    total_deadline,
)

_TIMED_OUT = "The model server gave no whole answer before the deadline."
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

    Create it after a fork, not before: it holds connections.

    Of ``overrides`` (contract id to options) this class reads ``model`` and the fields of
    :class:`Takes`: temperature and output budget come with each request. The client never retries
    on its own: the runner does, and audits it.

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
        client = openai.OpenAI(
            base_url=base_url,
            # A server that wants no key takes any; an empty one would be no legal header.
            api_key=api_key or "none",
            max_retries=0,
            http_client=Client(transport=DeadlineTransport()),
        )
        # Looked up here: the package imports this part at first use, and a call's time is short.
        self._completions = client.chat.completions.with_streaming_response

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
                return read_completion(self._body(request, model), model)
            except BodyTooLargeError as error:
                beginning = error.read[: MAX_BYTES + 1].decode("utf-8", "surrogateescape")
                return ModelAnswer(raw=beginning, model=model)
            except openai.APIStatusError as error:
                if error.code == "content_filter":
                    return ModelAnswer(raw="", finish_reason="content_filter", model=model)
                failure = _of_status(error.response)
            except (openai.APITimeoutError, httpcore.TimeoutException):
                failure = ModelUnavailable(_TIMED_OUT, timed_out=True)
            except (openai.APIError, httpcore.NetworkError, httpcore.ProtocolError) as error:
                failure = _of_connection(error)
            except NotACompletionError:
                failure = ModelUnavailable(_NOT_A_COMPLETION, passing=False)
        raise failure

    def _body(self, request: ModelRequest, model: str) -> bytes:
        """Return the bytes of a 200 response's body."""
        left = seconds_left()
        if left <= 0:
            raise httpcore.ConnectTimeout(_TIMED_OUT)
        takes = self._takes.but(self._overrides.get(request.contract, {}))
        newer = takes.max_tokens_field == "max_completion_tokens"
        shape = response_format(request.contract, request.response_format, takes.response_format)
        with self._completions.create(
            model=model,
            messages=[_message(message) for message in request.messages],
            temperature=request.temperature if takes.send_temperature else openai.omit,
            max_tokens=openai.omit if newer else request.max_output_tokens,
            max_completion_tokens=request.max_output_tokens if newer else openai.omit,
            response_format=openai.omit if shape is None else cast(ResponseFormat, shape),
            store=openai.omit if takes.store is None else takes.store,
            # The same for every citizen: calls of one contract begin alike.
            prompt_cache_key=f"ieim-{request.contract}" if takes.cache_key else openai.omit,
            timeout=left,
            # The cap counts bytes as they come, and a compressed body could grow a thousandfold:
            # none is asked for, and none is unpacked.
            extra_headers={"Accept-Encoding": "identity"},
        ) as response:
            return b"".join(response.http_response.iter_raw())


def _message(message: Message) -> ChatCompletionMessageParam:
    if message.role == "system":
        return {"role": "system", "content": message.content}
    return {"role": "user", "content": message.content}


def _of_connection(error: Exception) -> ModelUnavailable:
    if isinstance(error.__cause__, httpcore.TimeoutException):
        return ModelUnavailable(_TIMED_OUT, timed_out=True)
    return ModelUnavailable(
        "The connection to the model server failed. Check IEIM_MODEL_BASE_URL and that it runs."
    )


def _of_status(response: httpx.Response) -> ModelUnavailable:
    status = response.status_code
    message = _REFUSED.get(status, f"The model server answered with status {status}.")
    if 300 <= status < 400:
        message = f"The model server redirects ({status}). Check IEIM_MODEL_BASE_URL."
    return ModelUnavailable(
        message,
        retry_after=_retry_after(response.headers),
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
