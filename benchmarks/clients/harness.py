"""What both environments share: questions, timing, and trying faults. Imports nothing of IEIM."""

from __future__ import annotations

import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import openai

MODEL = "ieim-offline"
BARE = "openai"
LIMIT = 1.0
"""Seconds that every client is told to wait at most."""
PATIENCE = 5.0
"""Seconds after which a call that still goes on is given up."""
WARM = 20

STOPPED, LATE, SAME, SPOILT = "stopped", "late", "same", "spoilt"
"""What became of a fault: an error or a finding; nothing within ``PATIENCE``; an answer given as
valid, with the values that it has without the fault, or with others."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call: its messages, the JSON Schema of its answer, and the response_ids that its session
    has seen."""

    contract: str
    messages: list[dict[str, str]]
    schema: dict[str, Any]
    temperature: float
    max_tokens: int
    seen: list[str]

    @property
    def asked(self) -> str:
        """The per-call JSON, which no other question has."""
        return self.messages[-1]["content"]


@dataclass(frozen=True, slots=True)
class Job:
    """``timed`` is asked ``calls`` times; ``trials`` are faults, each with the question that is to
    meet it and one that the session asks just before."""

    base_url: str
    calls: int
    timed: Question
    trials: list[tuple[str, Question, Question]]


class Rejected(Exception):
    """A client does not take the answer for valid."""


Call = Callable[[], Any]
"""Asks, and returns the answer; raises when it is not valid (the bare client has no such word)."""
Prepare = Callable[[Question], Call]
Connect = Callable[[str], Prepare]
"""Takes the base URL. Every client reads its extra headers from openai's environment variable
when it is made."""


def bare_client(base_url: str) -> openai.OpenAI:
    """Return the client that all but ours are built on; it never tries again on its own."""
    return openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=LIMIT)


def bare(base_url: str) -> Prepare:
    """Connect the bare client."""
    client = bare_client(base_url)
    return lambda question: lambda: text_of_answer(client, question)


def text_of_answer(client: openai.OpenAI, question: Question) -> str:
    """Ask by the bare client."""
    named = {"name": question.contract, "schema": question.schema}
    create: Any = client.chat.completions.create
    completion = create(
        **arguments(question), response_format={"type": "json_schema", "json_schema": named}
    )
    text: str | None = completion.choices[0].message.content
    return text or ""


def arguments(question: Question) -> dict[str, Any]:
    """Return what every client is called with."""
    return {
        "model": MODEL,
        "messages": question.messages,
        "temperature": question.temperature,
        "max_tokens": question.max_tokens,
    }


def work(
    job: Job, clients: Mapping[str, Connect], packages: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Do the job: ``clients`` are timed beside the bare one, and tried."""
    return {
        "versions": {name: version(name) for name in packages},
        "milliseconds": timed(job, {BARE: bare, **clients}),
        "verdicts": {name: tried(job, connect) for name, connect in clients.items()},
    }


def timed(job: Job, clients: Mapping[str, Connect]) -> dict[str, float]:
    """Return the median milliseconds of a call; the clients take turns, call by call."""
    calls = {name: connect(job.base_url)(job.timed) for name, connect in clients.items()}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(WARM + job.calls):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            if number >= WARM:
                taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) * 1e3 for name, times in taken.items()}


def tried(job: Job, connect: Connect) -> list[str]:
    """Return what became of each trial."""
    prepare = connect(job.base_url)
    healthy: dict[str, Call] = {}
    for _fault, *questions in job.trials:
        for question in questions:
            if question.asked not in healthy:
                healthy[question.asked] = prepare(question)
    verdicts = []
    for fault, question, before in job.trials:
        right = healthy[question.asked]()
        # The session's answer before this one, for the fault that repeats something of it.
        healthy[before.asked]()
        verdicts.append(_try(connect, job.base_url, fault, question, right))
    return verdicts


def _try(connect: Connect, base_url: str, fault: str, question: Question, right: Any) -> str:
    os.environ["OPENAI_CUSTOM_HEADERS"] = f"X-IEIM-Fault: {fault}"
    try:
        call = connect(base_url)(question)
    finally:
        del os.environ["OPENAI_CUSTOM_HEADERS"]
    verdict = LATE

    def judge() -> None:
        nonlocal verdict
        try:
            verdict = SAME if _text(call()) == _text(right) else SPOILT
        except Exception:  # noqa: BLE001  # whatever a library raises, the caller has no answer
            verdict = STOPPED

    # A daemon: what never ends must not keep the process.
    thread = threading.Thread(target=judge, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return verdict


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def write(job: Job, path: Path) -> None:
    """Store a job for a worker."""
    path.write_text(json.dumps(asdict(job)), encoding="utf-8")


def read(path: Path) -> Job:
    """Return a job that was stored."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["timed"] = Question(**stored["timed"])
    stored["trials"] = [
        (fault, Question(**question), Question(**before))
        for fault, question, before in stored["trials"]
    ]
    return Job(**stored)
