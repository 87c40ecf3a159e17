"""The chat completions protocol as the offline server speaks it: requests, answers, errors."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from ieim.llm.serving.refusals import refused
from ieim.pipeline.ports import Message, ModelAnswer, ModelRequest

DEFAULT_MAX_TOKENS = 16_384
_ROLES = ("system", "system", "user")


@dataclass(eq=False)
class ProtocolError(Exception):
    """A request that cannot be answered, as OpenAI's API would say it."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the error object of the protocol."""
        return {
            "error": {
                "message": self.message,
                "type": "invalid_request_error",
                "param": self.param,
                "code": self.code,
            }
        }


def read_request(body: bytes, *, model: str, refuse: Collection[str] = ()) -> ModelRequest:
    """Return the request in ``body``; ``model`` is the one name that is served.

    Raises :class:`ProtocolError` for what is not a request of three messages (system, system, user)
    with the per-call JSON in the last, for what the engine cannot do (streams, several choices),
    and for what ``refuse`` names of :data:`ieim.llm.serving.refusals.REFUSALS`. Other parameters
    are ignored.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise ProtocolError(400, "The body is not JSON.") from None
    if not isinstance(request, dict):
        raise ProtocolError(400, "The body has to be one JSON object.")
    if request.get("model") != model:
        raise ProtocolError(
            404, f"The only model here is {model}.", param="model", code="model_not_found"
        )
    for name, supported in (("stream", (None, False)), ("n", (None, 1))):
        if request.get(name) not in supported:
            raise ProtocolError(400, f"{name} is not supported here.", param=name)
    refusal = refused(request, refuse)
    if refusal is not None:
        raise ProtocolError(
            400, f"{refusal.param} is not supported here.", refusal.param, "unsupported_parameter"
        )
    messages = _messages(request.get("messages"))
    asked = _object(messages[2].content)
    return ModelRequest(
        contract=str(asked.get("contract", "")),
        attempt=2 if asked.get("attempt") == 2 else 1,
        messages=messages,
        temperature=_temperature(request.get("temperature", 1.0)),
        max_output_tokens=_max_tokens(request),
    )


def completion(answer: ModelAnswer, *, created: int) -> dict[str, Any]:
    """Return ``answer`` as a chat completion; ``created`` is in seconds since 1970."""
    prompt, said = answer.prompt_tokens or 0, answer.completion_tokens or 0
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": created,
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
            "completion_tokens": said,
            "total_tokens": prompt + said,
        },
    }


def models(name: str, *, created: int) -> dict[str, Any]:
    """Return the list of models."""
    model = {"id": name, "object": "model", "created": created, "owned_by": "ieim"}
    return {"object": "list", "data": [model]}


def _messages(value: Any) -> tuple[Message, Message, Message]:
    fault = ProtocolError(
        400,
        "messages has to be three: persona (system), directive (system), per-call JSON (user), "
        "each with its content as text.",
        param="messages",
    )
    if not isinstance(value, list) or len(value) != len(_ROLES):
        raise fault
    for message, role in zip(value, _ROLES, strict=True):
        if not isinstance(message, dict) or message.get("role") != role:
            raise fault
        if not isinstance(message.get("content"), str):
            raise fault
    persona, directive, asked = (message["content"] for message in value)
    return Message("system", persona), Message("system", directive), Message("user", asked)


def _object(content: str) -> dict[str, Any]:
    try:
        asked = json.loads(content)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise ProtocolError(400, "The last message has to be one JSON object.", param="messages")
    return asked


def _temperature(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise ProtocolError(400, "temperature has to be from 0 to 2.", param="temperature")
    return float(value)


def _max_tokens(request: dict[str, Any]) -> int:
    name = "max_completion_tokens" if "max_completion_tokens" in request else "max_tokens"
    value = request.get(name, DEFAULT_MAX_TOKENS)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ProtocolError(400, f"{name} has to be a whole number of 1 or more.", param=name)
    return value
