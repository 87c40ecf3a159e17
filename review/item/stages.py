"""The stages of a turn: what each said, every attempt, and what the model could choose from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.utils.translation import gettext, gettext_noop

from conversations.models import Attempt, Stage
from conversations.record import calls
from conversations.states import StageStatus
from ieim.pipeline.findings import pointer
from ieim.pipeline.gate.strict_json import MAX_DEPTH
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages.slots import with_agencies
from ieim.pipeline.topology import ANSWERING
from ieim.search import KNOWN, index_for
from ieim.studio.labels import stage_label
from review import finding_texts
from review.item.outputs import Statement, agency_name, statements, triage_statements

LONGEST = 20_000
"""Characters of an answer that are shown."""
MOST_LINES = 1_000
_INDENT = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of formatted JSON; ``marks`` are the numbers of the findings that point at it."""

    text: str
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer: ``lines`` where it is JSON, else ``before`` and ``after`` the place where reading
    stopped (all of it is ``before`` where it stopped at the end). ``cut`` says that more was said
    than is shown."""

    lines: tuple[Line, ...] = ()
    before: str = ""
    after: str = ""
    cut: bool = False

    @property
    def empty(self) -> bool:
        """Whether the model said nothing at all."""
        return not self.lines and not self.before.strip() and not self.after.strip()


class _Pairs(list[tuple[str, Any]]):
    """An object as written, repeated keys included."""


class _Literal(str):
    """A number or constant as written: 0.876 must not turn into something rounder."""


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=_Literal,
    parse_float=_Literal,
    parse_constant=_Literal,
    strict=False,
)


def answer_view(raw: str, paths: Sequence[str]) -> AnswerView:
    """Return ``raw`` formatted; ``paths`` are the findings' JSON Pointers, numbered from 1.

    A pointer to what is not there (a missing field) marks the nearest place above it.
    """
    if len(raw) > LONGEST:
        return AnswerView(before=raw[:LONGEST], cut=True)
    try:
        tree = _DECODER.decode(raw)
    except json.JSONDecodeError as error:
        return AnswerView(before=raw[: error.pos], after=raw[error.pos :])
    except RecursionError:
        return AnswerView(before=raw)
    lines = list(_lines(tree))
    if not lines:
        return AnswerView(before=raw)
    return AnswerView(lines=_marked(lines[:MOST_LINES], paths), cut=len(lines) > MOST_LINES)


def pretty(text: str) -> str:
    """Return JSON with line breaks and indents; text that is no JSON as it is."""
    view = answer_view(text, ())
    return "\n".join(line.text for line in view.lines) if view.lines else text


def _lines(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield ``(pointer, line)``; nothing for a tree that nobody would read to its end."""
    found = list(_written(tree, "", 0, "", ""))
    if all(depth <= MAX_DEPTH for depth, _, _ in found):
        for depth, path, text in found:
            yield path, " " * (_INDENT * depth) + text


def _written(
    node: Any, path: str, depth: int, lead: str, tail: str
) -> Iterator[tuple[int, str, str]]:
    if depth > MAX_DEPTH:
        yield depth, path, ""
        return
    if not isinstance(node, list) or not node:
        yield depth, path, f"{lead}{_scalar(node)}{tail}"
        return
    is_object = isinstance(node, _Pairs)
    yield depth, path, lead + ("{" if is_object else "[")
    for index, item in enumerate(node):
        key, value = item if is_object else (index, item)
        begin = f"{_text(key)}: " if is_object else ""
        comma = "," if index < len(node) - 1 else ""
        yield from _written(value, path + pointer(key), depth + 1, begin, comma)
    yield depth, "\0", ("}" if is_object else "]") + tail


def _scalar(node: Any) -> str:
    if isinstance(node, _Literal):
        return str(node)
    if isinstance(node, list):
        return "{}" if isinstance(node, _Pairs) else "[]"
    return _text(node)


def _text(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    # A lone surrogate cannot be sent to a browser.
    return written.encode("utf-8", "replace").decode("utf-8")


def _marked(lines: Sequence[tuple[str, str]], paths: Sequence[str]) -> tuple[Line, ...]:
    places: dict[str, int] = {}
    for index, (path, _) in enumerate(lines):
        places.setdefault(path, index)
    marks: dict[int, list[int]] = {}
    for number, path in enumerate(paths, 1):
        while path not in places:
            path = path.rpartition("/")[0]
        marks.setdefault(places[path], []).append(number)
    return tuple(Line(text, tuple(marks.get(i, ()))) for i, (_, text) in enumerate(lines))


LOOKED_AT = 3
"""How many of the best matches of the whole release are compared with what was offered."""

_SLOTS: Mapping[str, str] = {
    "agencies": gettext_noop("Agencies"),
    "KnowledgeBase_Dictionary": gettext_noop("Topics"),
    "service_index": gettext_noop("Services"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """One candidate with its retrieval rank (1 is best; 0 where it has none) and score."""

    name: str
    key: str
    agency: str
    rank: int
    score: str


@dataclass(frozen=True, slots=True)
class Offered:
    """One list that the model was given. ``kept`` is how many of them a second attempt got."""

    title: str
    offers: tuple[Offer, ...]
    kept: int | None


@dataclass(frozen=True, slots=True)
class Missed:
    """An entry that fits the message best and was not among what the model was offered."""

    name: str
    agency: str
    why: str


def offered(attempts: Sequence[Attempt], release: Release) -> tuple[Offered, ...]:
    """Return the lists that a stage's attempts (one round, in order) were given."""
    payloads = [call_payload(attempt) for attempt in attempts]
    first = next((p for p in payloads if p), {})
    last = payloads[-1] if len(payloads) > 1 else None
    return tuple(
        Offered(
            gettext(title),
            tuple(_offer(slot, each, release) for each in first[slot]),
            len(last.get(slot, [])) if last else None,
        )
        for slot, title in _SLOTS.items()
        if first.get(slot)
    )


def call_payload(attempt: Attempt) -> dict[str, Any]:
    """Return the per-call JSON of an attempt; empty where it was not kept."""
    payload = json.loads(attempt.asked_text or "{}")
    return with_agencies(payload) if isinstance(payload, dict) else {}


def missed(attempts: Sequence[Attempt], text: str, release: Release) -> tuple[Missed, ...]:
    """Return the services (or agencies) of the whole release that fit ``text`` better than any
    that a stage's attempts were given.

    Empty for stages that are given neither, and where ``text`` is about nothing that the index
    knows: some service shares a word with nearly everything."""
    payload = next((p for p in map(call_payload, attempts) if p), {})
    index = index_for(release)
    known = [
        each for each in index.services(text, agencies=None, limit=LOOKED_AT) if each.score >= KNOWN
    ]
    if not known:
        return ()
    if "service_index" in payload:
        given = {(s["agencyId"], s["serviceKey"]) for s in payload["service_index"]}
        agencies = {agency for agency, _ in given}
        best = takewhile(lambda r: (r.item.agency, r.item.key) not in given, known)
        return tuple(
            Missed(
                r.item.name, agency_name(release, r.item.agency), _why(r.item.agency in agencies)
            )
            for r in best
        )
    if payload.get("contract") == "agency_detect_v1":
        ids = {agency["agencyId"] for agency in payload["agencies"]}
        ranked = takewhile(
            lambda r: r.score > 0 and r.item.id not in ids, index.agencies(text, limit=LOOKED_AT)
        )
        return tuple(Missed(r.item.name, "", _why(True)) for r in ranked)
    return ()


def _why(same_agency: bool) -> str:
    if same_agency:
        return gettext("It ranked below what was sent.")
    return gettext("It belongs to an agency that was not chosen.")


def _offer(slot: str, each: Mapping[str, Any], release: Release) -> Offer:
    agency = each["agencyId"]
    name, key = {
        "agencies": (each.get("name", ""), agency),
        "KnowledgeBase_Dictionary": (each.get("value", ""), each.get("key", "")),
        "service_index": (each.get("name", ""), each.get("serviceKey", "")),
    }[slot]
    score = each.get("score")
    return Offer(
        name=name,
        key=key,
        agency="" if slot == "agencies" else agency_name(release, agency),
        rank=each.get("rank", 0),
        score="" if score is None else f"{score:.2f}",
    )


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
    said: tuple[Statement, ...]
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
        status=gettext(finding_texts.STAGE_STATUSES[stage.status]),
        mark=_MARKS.get(stage.status, "waiting"),
        stopped=stage.contract == stopped_at,
        answering=stage.contract in ANSWERING,
        said=triage_statements(stage, release) or statements(stage.contract, stage.output, release),
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
        sentence=finding_texts.sentence(code),
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
