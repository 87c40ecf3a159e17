"""The stages of a turn as a rail: what each said, how long it took, and every attempt."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from conversations.models import Attempt, Stage
from conversations.record import calls
from conversations.states import StageStatus
from ieim.pipeline.knowledge import Release
from ieim.pipeline.topology import ANSWERING
from ieim.studio.labels import stage_label
from review import words
from review.item.sections.answers import AnswerView, answer_view, pretty
from review.item.sections.said import Said, said
from review.item.sections.triage import triage


@dataclass(frozen=True, slots=True)
class Found:
    """One finding: the sentence, what exactly, and where (a JSON Pointer, empty: everywhere)."""

    number: int
    sentence: str
    message: str
    code: str
    path: str
    waivable: bool


@dataclass(frozen=True, slots=True)
class Try:
    """One model call. Times are in seconds; hashes lower-case hex SHA-256."""

    name: str
    findings: tuple[Found, ...]
    answer: AnswerView
    refusal: str
    asked: str
    model: str
    temperature: str
    seconds: str
    tokens: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    finish_reason: str
    hashes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One stage; ``stopped`` is the one that the item is about.

    ``mark`` is what stands before it: ``passed``, ``stopped``, ``person`` or ``waiting``.
    ``instructions`` are what the model was told at this stage before it was given the message, as
    they were then; empty where they were not kept.
    """

    contract: str
    words: str
    status: str
    mark: str
    stopped: bool
    answering: bool
    said: tuple[Said, ...]
    seconds: str
    tokens: int
    findings: tuple[Found, ...]
    tries: tuple[Try, ...]
    instructions: str


_MARKS: Mapping[str, str] = {
    StageStatus.PASSED: "passed",
    StageStatus.APPROVED: "person",
    StageStatus.OVERRIDDEN: "person",
    StageStatus.CHOSEN: "person",
    StageStatus.NEEDS_REVIEW: "stopped",
}


def rail(stages: Mapping[str, Stage], stopped_at: str, release: Release) -> tuple[Step, ...]:
    """Return the stages of a turn in the order of the pipeline, triage last."""
    attempts = (attempt for stage in stages.values() for attempt in stage.attempts.all())
    prompts = calls.prompts(attempt.prompt_sha256 for attempt in attempts)
    return tuple(_step(stage, stopped_at, release, prompts) for stage in stages.values())


def _step(stage: Stage, stopped_at: str, release: Release, prompts: Mapping[str, str]) -> Step:
    attempts = list(stage.attempts.all())
    took = sum(attempt.duration_ms for attempt in attempts)
    # What no attempt has: a stage can also stop before the model is asked.
    outside = [] if attempts and attempts[-1].findings else stage.findings
    return Step(
        contract=stage.contract,
        words=stage_label(stage.contract),
        status=gettext(words.STATUSES[stage.status]),
        mark=_MARKS.get(stage.status, "waiting"),
        stopped=stage.contract == stopped_at,
        answering=stage.contract in ANSWERING,
        said=triage(stage, release) or said(stage.contract, stage.output, release),
        seconds=_seconds(took),
        tokens=sum(attempt.tokens for attempt in attempts),
        findings=tuple(_found(i, f) for i, f in enumerate(outside, 1)),
        tries=tuple(_try(attempt) for attempt in attempts),
        instructions=prompts.get(attempts[-1].prompt_sha256, "") if attempts else "",
    )


def _try(attempt: Attempt) -> Try:
    paths = [finding["path"] for finding in attempt.findings]
    name = (
        gettext("Attempt {number} of round {round}")
        if attempt.round > 1
        else gettext("Attempt {number}")
    )
    return Try(
        name=name.format(number=attempt.number, round=attempt.round),
        findings=tuple(_found(i, f) for i, f in enumerate(attempt.findings, 1)),
        answer=answer_view(_readable(attempt.raw_text), paths),
        refusal=_readable(bytes(attempt.refusal).decode("utf-8", "replace")),
        asked=pretty(attempt.asked_text),
        model=attempt.model,
        temperature=f"{attempt.temperature:.2f}",
        seconds=_seconds(attempt.duration_ms),
        tokens=attempt.tokens,
        prompt_tokens=attempt.prompt_tokens,
        completion_tokens=attempt.completion_tokens,
        cached_tokens=attempt.cached_tokens,
        finish_reason=attempt.finish_reason,
        hashes=(
            (gettext("Request"), attempt.request_sha256),
            (gettext("Contract"), attempt.contract_sha256),
            (gettext("Prompt"), attempt.prompt_sha256),
            (gettext("Answer"), hashlib.sha256(bytes(attempt.raw)).hexdigest()),
        ),
    )


def _found(number: int, finding: Mapping[str, object]) -> Found:
    code = str(finding["code"])
    return Found(
        number=number,
        sentence=words.reason(code),
        message=str(finding["message"]),
        code=code,
        path=str(finding["path"]),
        waivable=bool(finding["waivable"]),
    )


def _seconds(milliseconds: int) -> str:
    return gettext("{number} s").format(number=f"{milliseconds / 1000:.1f}")


def _readable(text: str) -> str:
    # A browser replaces NUL by itself; here it is shown where it stood.
    return text.replace("\0", "\N{SYMBOL FOR NULL}")
