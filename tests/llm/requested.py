"""Requests as the pipeline builds them, for the tests of the adapters."""

from __future__ import annotations

import json
from typing import Any

from ieim.llm.capabilities import Capabilities
from ieim.llm.openai_client import OpenAIModel
from ieim.pipeline.ports import Message, ModelRequest

KEY = "sk-secret-0123456789"
RANKING = {
    "kind": "inquiry",
    "kind_probability": 0.97,
    "first": 0.81,
    "four": 0.95,
    "outside": 0.03,
    "goes_on": False,
}
"""What a request says of the ranking."""


def request(
    text: str = "I want to extend my tourist visa", *, kind: str = "inquiry", **changes: Any
) -> ModelRequest:
    """Return a judgement_v1 request for a message of a ``kind``; ``changes`` replace fields."""
    result = {
        "contract": "judgement_v1",
        "attempt": 1,
        "user_prompt": text,
        "chat_context_summary": [],
        "guidance": {"language": "en", "texts": {"greeting": "Hello."}},
        "ranking": {**RANKING, "kind": kind},
    }
    messages = (
        Message("system", "persona"),
        Message("system", "directive"),
        Message("user", json.dumps(result, ensure_ascii=False)),
    )
    fields: dict[str, Any] = {
        "contract": "judgement_v1",
        "attempt": 1,
        "messages": messages,
        "temperature": 0.2,
        "max_output_tokens": 512,
    }
    return ModelRequest(**{**fields, **changes})


def client(
    base_url: str,
    *,
    model: str = "ieim-offline",
    overrides: dict[str, dict[str, Any]] | None = None,
    **capabilities: Any,
) -> OpenAIModel:
    """Return the real client for ``base_url``; with these :class:`Capabilities`."""
    return OpenAIModel(
        base_url,
        KEY,
        model,
        capabilities=Capabilities(**{"response_format": "none", **capabilities}),
        overrides=overrides or {},
    )
