"""Reading the body of a chat completion, whatever is in it."""

from __future__ import annotations

import json
from typing import Any

from ieim.pipeline.ports import ModelAnswer


class NotACompletionError(Exception):
    """The body is not a chat completion with at least one choice."""


def read_completion(body: bytes, model: str) -> ModelAnswer:
    """Return the first choice of ``body``; ``model`` is recorded when the body names none.

    Bytes that are not UTF-8 appear in ``raw`` as lone surrogates (``surrogateescape``), as does a
    lone surrogate that the server escaped. Raises :class:`NotACompletionError`.
    """
    try:
        completion = json.loads(body.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        raise NotACompletionError from None
    choices = _field(completion, "choices")
    if not isinstance(choices, list) or not choices:
        raise NotACompletionError
    message = _field(choices[0], "message")
    content = _field(message, "content")
    if not isinstance(message, dict) or not isinstance(content, str | None):
        raise NotACompletionError
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


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    # A budget adds these up: a server's negative or astronomic count is no count.
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if is_count else None
