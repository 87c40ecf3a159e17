"""instructor and guardrails; runs in their own environment, without IEIM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import instructor  # type: ignore[import-not-found]
from datamodel_code_generator import (  # type: ignore[import-not-found]
    DataModelType,
    GenerateConfig,
    InputFileType,
    generate_dynamic_models,
)
from guardrails import Guard  # type: ignore[import-not-found]
from pydantic import BaseModel

from benchmarks.clients.harness import (
    Call,
    Prepare,
    Question,
    Rejected,
    arguments,
    bare_client,
    text_of_answer,
)


def model_of(question: Question) -> type[BaseModel]:
    """Return a pydantic model that says what the question's JSON Schema says."""
    config = GenerateConfig(
        class_name="Answer",
        input_file_type=InputFileType.JsonSchema,
        output_model_type=DataModelType.PydanticV2BaseModel,
        formatters=[],
    )
    model: type[BaseModel] = generate_dynamic_models(question.schema, config=config)["Answer"]
    return model


def with_instructor(base_url: str) -> Prepare:
    """Connect instructor: structured outputs, its strict validation, no second attempt."""
    client = instructor.from_openai(bare_client(base_url), mode=instructor.Mode.JSON_SCHEMA)

    def prepare(question: Question) -> Call:
        model = model_of(question)
        return lambda: client.chat.completions.create(
            response_model=model, max_retries=0, **arguments(question)
        )

    return prepare


def with_guardrails(base_url: str) -> Prepare:
    """Connect guardrails: a guard for the model around the bare client, no second attempt."""
    client = bare_client(base_url)

    def prepare(question: Question) -> Call:
        guard = Guard.for_pydantic(model_of(question))
        # Messages are templates; so a citizen's $ is left alone.
        messages = [
            {"role": message["role"], "content": f"${{text_{number}}}"}
            for number, message in enumerate(question.messages)
        ]
        texts = {f"text_{n}": message["content"] for n, message in enumerate(question.messages)}

        def complete(*, messages: list[dict[str, str]], **_options: Any) -> str:
            return text_of_answer(client, replace(question, messages=messages))

        def call() -> Any:
            outcome = guard(
                complete,
                messages=messages,
                prompt_params=texts,
                num_reasks=0,
                temperature=question.temperature,
            )
            if not outcome.validation_passed:
                raise Rejected(outcome.error)
            return outcome.validated_output

        return call

    return prepare


CLIENTS = {"instructor": with_instructor, "guardrails": with_guardrails}
PACKAGES = ("instructor", "guardrails-ai", "openai", "pydantic")
