"""What a model server takes: the parts of the protocol in which servers differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

Format = Literal["json_schema", "json_object_schema", "json_object", "none"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
"""How the shape of an answer is told: as structured outputs; as ``json_object`` with the schema
beside it, as llama.cpp's Python server has it; only that it is JSON; not at all."""

MaxTokens = Literal["max_tokens", "max_completion_tokens"]
MAX_TOKENS: Final[tuple[MaxTokens, ...]] = get_args(MaxTokens)

SETTINGS: Final[Mapping[str, str]] = {
    "response_format": "RESPONSE_FORMAT",
    "max_tokens_field": "MAX_TOKENS_FIELD",
    "send_temperature": "SEND_TEMPERATURE",
    "store": "STORE",
    "cache_key": "CACHE_KEY",
}
"""Each field of :class:`Takes` by its name in ``settings.IEIM_MODEL``; the environment variable has
``IEIM_MODEL_`` before it."""


@dataclass(frozen=True, slots=True)
class Takes:
    """How a server is spoken to.

    ``store`` is whether the provider is told to keep what it is asked; nothing is said for None.
    ``cache_key`` is whether calls with the same beginning are named alike (``prompt_cache_key``),
    so that a provider sends them to the machine that remembers it.
    """

    response_format: Format = "json_schema"
    max_tokens_field: MaxTokens = "max_tokens"
    send_temperature: bool = True
    store: bool | None = None
    cache_key: bool = False

    def but(self, changes: Mapping[str, Any]) -> Takes:
        """Return this with the fields that ``changes`` has; other keys are left alone."""
        own = {name: changes[name] for name in SETTINGS if name in changes}
        return replace(self, **own) if own else self


def configured(config: Mapping[str, Any]) -> Takes:
    """Return what ``settings.IEIM_MODEL`` says that the server takes."""
    return Takes(**{field: config[name] for field, name in SETTINGS.items()})
