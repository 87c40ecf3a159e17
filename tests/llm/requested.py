"""Requests as the pipeline builds them, for the tests of the adapters."""

from __future__ import annotations

import json
from typing import Any

from ieim.llm.capabilities import Capabilities
from ieim.llm.openai_client import OpenAIModel
from ieim.pipeline.ports import Message, ModelRequest

KEY = "sk-secret-0123456789"


def request(text: str = "I want to extend my tourist visa", **changes: Any) -> ModelRequest:
    """Return a judgement_v1 request; ``changes`` replace fields of it."""
    asked = {
        "contract": "judgement_v1",
        "attempt": 1,
        "user_prompt": text,
        "chat_context_summary": [],
        "guidance": {"case": "unclear", "language": "en", "texts": {"unclear": "Please say more."}},
    }
    messages = (
        Message("system", "persona"),
        Message("system", "directive"),
        Message("user", json.dumps(asked, ensure_ascii=False)),
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
