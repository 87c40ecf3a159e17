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
from ieim.pipeline.ports import (
    CONTENT_FILTER,
    REASONING,
    TOO_LONG,
    TOOL_CALL,
    Cause,
    ModelAnswer,
    ModelRequest,
    ModelUnavailable,
)
from ieim.search.transport import Response, Server

_NO_TEXT = (
    "The model server answered with a chat completion that has no choice, or one whose content is "
    "no text. Check that IEIM_MODEL_NAME is a model that writes text, and run manage.py doctor."
)
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
_REASONING = ("reasoning_content", "reasoning", "thinking", "thinking_blocks", "reasoning_details")
_FINISHED: Mapping[str, str] = {
    **dict.fromkeys(("max_tokens", "model_length"), "length"),
    **dict.fromkeys(
        (
            *("content_filter", "content_filtered", "guardrail_intervened", "refusal", "safety"),
            *("prohibited_content", "blocklist", "spii", "recitation", "sensitive"),
        ),
        CONTENT_FILTER,
    ),
}
"""The names that other servers have for the reasons of OpenAI's API."""

# What servers say of a text, in a code, a type or their message: each has words of its own.
_FILTERED = re.compile(
    r"content[ _-]?(?:filter|polic|management)|responsible ?ai|invalid[ _]prompt\b|"
    r"data[ _]?inspection|usage (?:policy|guidelines)|moderation|flagged|guardrail",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|size|window)|too[ _]long|too many tokens|above_max_length|"
    r"maximum number of tokens",
    re.IGNORECASE,
)
_STATUS_WORDS = (
    (400, f"{_FILTERED.pattern}|{_TOO_LONG.pattern}"),
    (429, "rate.?limit|quota|too many requests|throttl|resource_?exhausted"),
    (401, "api.?key|authenticat|unauthori"),
    (403, "permission|forbidden"),
    (404, "not.?found"),
    (503, "overloaded|unavailable"),
    (400, "invalid.?request|bad.?request"),
)
"""Words of an error in a body of status 200, by the status that it stands for."""
_TEXTS = re.compile(r"(?:messages|prompt|inputs?|input_tokens|contents?)(?:[.\[].*)?", re.DOTALL)
"""The names of parameters that hold what a citizen wrote."""


class OpenAIModel:
    """A model behind an OpenAI-compatible server; one instance serves all threads of a process.

    Create it after a fork: it holds connections. Of ``overrides`` (contract id to options) it reads
    ``model`` and the fields of :class:`Capabilities`: temperature and output budget come with each
    request. It never retries: the runner does, and audits it. Raises ValueError as
    :class:`ieim.search.transport.Server`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        capabilities: Capabilities,
        overrides: Mapping[str, Mapping[str, Any]],
        has_proxy: bool = False,
    ) -> None:
        self._server = Server(base_url, api_key, settings="IEIM_MODEL", has_proxy=has_proxy)
        self._model = model
        self._capabilities = capabilities
        self._overrides = overrides

    @property
    def name(self) -> str:
        """The name under which answers are recorded."""
        return self._model

    @property
    def reads(self) -> bool:
        """Whether a model reads the message: the offline engine over HTTP does not."""
        return self._model != NAME

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Send ``request`` unchanged and return what came, within ``deadline`` seconds in all.

        A body over the limit is not parsed: ``raw`` is then its beginning, long enough for the gate
        to find ``model.too_large``. Raises :class:`ModelUnavailable` for timeouts, broken
        connections, every status but 200, and bodies that are no chat completion; no message of it
        holds a key or a word of the server's.
        """
        model = str(self._overrides.get(request.contract, {}).get("model") or self._model)
        try:
            content = self._content(request, model)
            response = self._server.create("chat.completions", content, seconds=deadline)
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
            "messages": [
                {"role": message.role, "content": message.content} for message in request.messages
            ],
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
        return _failed(response, response.status, model)
    if not response.whole:
        beginning = response.body[: MAX_BYTES + 1].decode("utf-8", "surrogateescape")
        return ModelAnswer(raw=beginning, model=model)
    completion = _json(response.body)
    if isinstance(completion, list) and len(completion) == 1:
        completion = completion[0]  # so Gemini sends errors
    error = _error_inside(completion)
    if error is not None:
        return _failed(response, _status_of(error), model)
    choices = _field(completion, "choices")
    if not isinstance(choices, list):
        raise ModelUnavailable(_NOT_A_COMPLETION, passing=False, cause=Cause.REQUEST)
    answer = _read_choice(completion, choices[0] if choices else None, model)
    if answer is None:
        raise ModelUnavailable(
            _NO_TEXT, passing=False, cause=Cause.REQUEST, is_request_specific=True
        )
    return answer


def _read_choice(completion: Any, choice: Any, model: str) -> ModelAnswer | None:
    """Return the ``choice`` of a chat completion, None where it holds neither text nor nothing.

    ``model`` is recorded when the body names none. Bytes that are not UTF-8 appear in ``raw`` as
    lone surrogates (``surrogateescape``), as does a lone surrogate that the server escaped.
    """
    message = _field(choice, "message")
    content = _field(message, "content")
    parts = content if isinstance(content, list) else ["" if content is None else content]
    texts = [_text_of(part) for part in parts]
    if not isinstance(message, dict) or None in texts:
        return None
    thinks = any(message.get(name) for name in _REASONING) or any(map(_is_reasoning, parts))
    refusals = (_text(_field(part, "refusal")) for part in (message, *parts))
    finish_reason = _text(_field(choice, "finish_reason"))
    usage = _field(completion, "usage")
    return ModelAnswer(
        raw="".join(text for text in texts if text),
        finish_reason=_FINISHED.get((finish_reason or "").partition(":")[0].lower(), finish_reason),
        refusal=next((refusal for refusal in refusals if refusal), None),
        model=_text(_field(completion, "model")) or model,
        prompt_tokens=_count(_field(usage, "prompt_tokens")),
        completion_tokens=_count(_field(usage, "completion_tokens")),
        cached_tokens=_count(_field(_field(usage, "prompt_tokens_details"), "cached_tokens")),
        extra_output=REASONING if thinks else TOOL_CALL if message.get("tool_calls") else "",
    )


def _text_of(part: Any) -> str | None:
    """Return the text of a part of the content, "" where it holds none, None for another kind."""
    if isinstance(part, str):
        return part
    if _field(part, "type") in ("text", "output_text", None):
        return _text(_field(part, "text"))
    return "" if _is_reasoning(part) or _field(part, "type") == "refusal" else None


def _is_reasoning(part: Any) -> bool:
    return re.search("thinking|reasoning", str(_field(part, "type"))) is not None


def _error_inside(completion: Any) -> Any:
    """Return the error that a body of status 200 is about, None for none: a gateway may have sent
    its status before the model failed."""
    choices = _field(completion, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    for value in (completion, choice):
        if error := _field(value, "error"):
            return error
    if _field(choice, "finish_reason") == "error":
        return choice
    # Other shapes: {"object": "error", ...}, {"detail": ...}, {"code": 429, "message": ...}. A chat
    # of another API has a message with a role.
    if choices is None and _field(_field(completion, "message"), "role") is None:
        names = ("message", "detail", "errors")
        return completion if any(_field(completion, name) for name in names) else None
    return None


def _status_of(error: Any) -> int:
    """Return the HTTP status that an error in a body stands for."""
    for name in ("code", "status", "status_code", "http_status"):
        value = str(_field(error, name))
        if re.fullmatch("[45][0-9]{2}", value):
            return int(value)
    text = json.dumps(error)
    statuses = (status for status, words in _STATUS_WORDS if re.search(words, text, re.IGNORECASE))
    return next(statuses, 500)


def _failed(response: Response, status: int, model: str) -> ModelAnswer:
    """Return what becomes of a request that failed through its text, or raise ModelUnavailable.

    A setting that the server names is no fault of the text. Where it names none, another request
    may fare better.
    """
    text = response.body.decode("utf-8", "replace")
    specific = status in (400, 413, 422)
    too_long = _TOO_LONG.search(text) is not None
    setting = _setting(_json(response.body)) if specific else ""
    # How much may be answered is only too much beside a long text.
    if setting and not (too_long and setting.startswith("max_")):
        raise _refusal(response, status)
    if (specific or status == 403) and _FILTERED.search(text):
        return ModelAnswer(raw="", finish_reason=CONTENT_FILTER, model=model)
    if specific and too_long:
        return ModelAnswer(raw="", finish_reason=TOO_LONG, model=model)
    raise _refusal(response, status, is_request_specific=specific)


def _setting(value: Any, depth: int = 5) -> str:
    """Return the parameter that an error names, "" for none or one that holds text: ``param`` of
    OpenAI, ``loc`` of FastAPI."""
    if depth == 0 or not isinstance(value, dict | list):
        return ""
    inner = value
    if isinstance(value, dict):
        location = value.get("loc")
        steps = [step for step in location if step != "body"] if isinstance(location, list) else []
        param = value.get("param") or next(iter(steps), None)
        if isinstance(param, str) and not _TEXTS.fullmatch(param):
            return param
        inner = list(value.values())
    return next(filter(None, (_setting(item, depth - 1) for item in inner)), "")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
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


def _refusal(
    response: Response, status: int, *, is_request_specific: bool = False
) -> ModelUnavailable:
    message = _REFUSED.get(status, f"The model server answered with status {status}.")
    if 300 <= status < 400:
        message = f"The model server redirects ({status}). Check IEIM_MODEL_BASE_URL."
    if response.status != status:
        message += " It says so inside of an answer with status 200."
    return ModelUnavailable(
        message,
        retry_after=_retry_after(response.headers.get("retry-after", "").strip()),
        passing=status in (408, 429) or status >= 500,
        status=status,
        is_request_specific=is_request_specific,
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
