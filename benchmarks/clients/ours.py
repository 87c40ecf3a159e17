"""IEIM's own client, with the gate behind it."""

from __future__ import annotations

import json
import os
from typing import Any

from benchmarks.clients.harness import LIMIT, MODEL, Call, Prepare, Question, Rejected
from ieim.llm.openai_client import OpenAIModel
from ieim.llm.takes import Takes
from ieim.pipeline import contract as contracts
from ieim.pipeline.gate import gate
from ieim.pipeline.ports import Message, ModelRequest
from ieim.pipeline.stages.base import Context
from tests.llm.offline.turns import release


def ours(base_url: str) -> Prepare:
    """Connect the model client, with the gate behind it."""
    model = OpenAIModel(base_url, "", MODEL, takes=Takes(), overrides={})
    # The fault that is asked for: the others read it from the same place.
    name, _, value = os.environ.get("OPENAI_CUSTOM_HEADERS", "").partition(": ")
    if name:
        model._headers[name] = value

    def prepare(question: Question) -> Call:
        contract = contracts.load(question.contract)
        request, context = request_of(question), context_of(question)

        def call() -> Any:
            answer = model.complete(request, deadline=LIMIT)
            judgement = gate.judge(contract, answer, context)
            if not judgement.passed:
                raise Rejected(judgement.findings)
            return judgement.output

        return call

    return prepare


def request_of(question: Question) -> ModelRequest:
    """Return the question as the pipeline asks it."""
    first, second, third = question.messages
    return ModelRequest(
        contract=question.contract,
        attempt=1,
        messages=(
            Message("system", first["content"]),
            Message("system", second["content"]),
            Message("user", third["content"]),
        ),
        temperature=question.temperature,
        max_output_tokens=question.max_tokens,
        response_format=question.schema,
    )


def context_of(question: Question) -> Context:
    """Return what the answer is judged against."""
    payload = json.loads(question.messages[-1]["content"])
    return Context(
        attempt=1,
        user_prompt=payload["user_prompt"],
        cached_state=payload.get("cached_state", {}),
        release=release(),
        labels={name: frozenset(codes) for name, codes in release().labels.items()},
        used_response_ids=frozenset(question.seen),
    )


CLIENTS = {"ieim": ours}
PACKAGES = ("openai", "pydantic")
