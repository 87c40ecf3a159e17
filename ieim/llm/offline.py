"""The offline engine: what the search ranks first, as the answer of a model.

It sees only the per-call JSON (``request.messages[2].content``), does not read the message, and
answers only from the candidates in it. Where the ranking is not sure, it says so in a way that the
gate stops: no agency, a score under 0.50, no reply.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ieim.llm.engine import Payload, answer, judgement, selection, triage
from ieim.pipeline.ports import ModelAnswer, ModelRequest

NAME = "ieim-offline"
BYTES_PER_TOKEN = 4
"""The engine has no tokens: its ``usage`` is UTF-8 bytes through four, rounded up."""

_CONTRACTS: Mapping[str, Callable[[Payload], dict[str, Any]]] = {
    "judgement_v1": judgement.judge,
    "agency_detect_v1": selection.detect,
    "category_select_v1": selection.select_category,
    "semantic_analysis_v1": selection.analyse,
    "service_select_v1": selection.select_service,
    "multi_agency_service_answer_v1": answer.compose,
    "classify": triage.classify,
    "extract": triage.extract,
    "identity_assist": triage.identity_assist,
}


class OfflineInputError(ValueError):
    """The last message is not the per-call JSON of a contract that the engine knows."""


class OfflineModel:
    """The model port, answered in process. Holds no state: one instance serves all threads."""

    @property
    def name(self) -> str:
        """The name under which answers are recorded."""
        return NAME

    @property
    def reads(self) -> bool:
        """It does not: it has only what the search says."""
        return False

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        """Answer in milliseconds, whatever ``deadline`` is: nothing here can wait.

        The answer is cut at ``max_output_tokens`` as a server would cut it. Raises
        :class:`OfflineInputError` for an input that no contract builds.
        """
        content = request.messages[2].content
        raw = json.dumps(_respond(content), ensure_ascii=False).encode("utf-8", "surrogatepass")
        limit = request.max_output_tokens * BYTES_PER_TOKEN
        return ModelAnswer(
            raw=raw[:limit].decode("utf-8", "ignore"),
            finish_reason="length" if len(raw) > limit else "stop",
            model=NAME,
            prompt_tokens=tokens(request.size),
            completion_tokens=tokens(min(len(raw), limit)),
        )


def tokens(size: int) -> int:
    """Return the estimate of tokens for ``size`` bytes."""
    return -(-size // BYTES_PER_TOKEN)


def _respond(content: str) -> dict[str, Any]:
    try:
        payload = json.loads(content)
        respond = _CONTRACTS[payload["contract"]]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise OfflineInputError(
            "The last message has to be one JSON object whose contract is one of "
            f"{', '.join(_CONTRACTS)}."
        ) from None
    try:
        return respond(payload)
    except (KeyError, TypeError, AttributeError):
        raise OfflineInputError(
            f"The input of {payload['contract']} lacks a slot, or a slot has another shape."
        ) from None
