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
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline.findings import pointer
from ieim.pipeline.gate.strict_json import MAX_DEPTH
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query
from ieim.pipeline.stages.slots import with_agencies
from ieim.pipeline.topology import ANSWERING
from ieim.studio.labels import stage_label
from review import finding_texts, labels
from review.item.outputs import (
    shown_statements,
    statements,
    triage_statements,
)
from review.labels import agency_name

LONGEST = 20_000
"""Characters of an answer that are shown."""
MOST_LINES = 1_000
LIKELY = 0.25
"""From this probability on a service fits a message."""
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

_SLOTS: Mapping[str, tuple[str, str, str]] = {
    "agencies": (gettext_noop("Agencies"), "name", "agencyId"),
    "KnowledgeBase_Dictionary": (gettext_noop("Topics"), "value", "key"),
    "service_index": (gettext_noop("Services"), "name", "serviceKey"),
}
"""The lists of a request: the title, and the fields of an entry that are its name and key."""


def offered(attempts: Sequence[Attempt], release: Release) -> list[dict[str, Any]]:
    """Return the lists that a stage's attempts (one round, in order) were given.

    ``kept`` is how many entries of a list the last of several attempts got.
    """
    payloads = [call_payload(attempt) for attempt in attempts]
    first = next((p for p in payloads if p), {})
    last = payloads[-1] if len(payloads) > 1 else None
    return [
        {
            "title": gettext(title),
            "offers": [_offer(slot, each, release) for each in first[slot]],
            "kept": len(last.get(slot, [])) if last else None,
        }
        for slot, (title, _, _) in _SLOTS.items()
        if first.get(slot)
    ]


def call_payload(attempt: Attempt) -> dict[str, Any]:
    """Return the per-call JSON of an attempt; empty where it was not kept."""
    payload = json.loads(attempt.asked_text or "{}")
    return with_agencies(payload) if isinstance(payload, dict) else {}


def missed(attempts: Sequence[Attempt], text: str, release: Release) -> list[dict[str, str]]:
    """Return the services (or agencies) of the whole release that fit ``text`` better than any
    that a stage's attempts were given.

    Empty for stages that get neither, and where no service is likely enough.
    """
    payload = next((p for p in map(call_payload, attempts) if p), {})
    ranking = shortlist_for(release).rank(Query(text))
    matches = [each for each in ranking.services(limit=LOOKED_AT) if each.probability >= LIKELY]
    if not matches:
        return []
    below = gettext("It ranked below what was sent.")
    other = gettext("It belongs to an agency that was not chosen.")
    if "service_index" in payload:
        given = {(s["agencyId"], s["serviceKey"]) for s in payload["service_index"]}
        agencies = {agency for agency, _ in given}
        best = takewhile(lambda r: (r.item.agency, r.item.key) not in given, matches)
        return [
            {
                "name": r.item.name,
                "agency": agency_name(release, r.item.agency),
                "why": below if r.item.agency in agencies else other,
            }
            for r in best
        ]
    if payload.get("contract") == "agency_detect_v1":
        ids = {agency["agencyId"] for agency in payload["agencies"]}
        ranked = takewhile(
            lambda r: r.probability >= LIKELY and r.item.id not in ids,
            ranking.agencies(limit=LOOKED_AT),
        )
        return [{"name": r.item.name, "agency": "", "why": below} for r in ranked]
    return []


def _offer(slot: str, each: Mapping[str, Any], release: Release) -> dict[str, Any]:
    """Return one candidate with its rank (1 is best; 0 where it has none)."""
    _, name, key = _SLOTS[slot]
    return {
        "name": each.get(name, ""),
        "key": each.get(key, ""),
        "agency": "" if slot == "agencies" else agency_name(release, each["agencyId"]),
        "rank": each.get("rank", 0),
    }


_MARKS: Mapping[str, str] = {
    StageStatus.PASSED: "passed",
    StageStatus.FALLBACK: "stopped",
    StageStatus.APPROVED: "person",
    StageStatus.OVERRIDDEN: "person",
    StageStatus.CHOSEN: "person",
    StageStatus.NEEDS_REVIEW: "stopped",
}


def rail(stages: Mapping[str, Stage], stopped_at: str, release: Release) -> list[dict[str, Any]]:
    """Return the stages of a turn in the order of the pipeline, triage last."""
    attempts = (attempt for stage in stages.values() for attempt in stage.attempts.all())
    prompts = calls.prompts(attempt.prompt_sha256 for attempt in attempts)
    return [_step(stage, stopped_at, release, prompts) for stage in stages.values()]


def _step(
    stage: Stage, stopped_at: str, release: Release, prompts: Mapping[str, str]
) -> dict[str, Any]:
    """Return one stage as the page shows it, ``stopped`` where the item is about it.

    ``mark`` is what stands before it: ``passed``, ``stopped``, ``person`` or ``waiting``.
    ``tries`` are its model calls (times in seconds), ``findings`` those of no call.
    ``instructions`` are the prompt as it was then; empty where it was not kept.
    """
    attempts = list(stage.attempts.all())
    # What no attempt has: a stage can also stop before the model is asked.
    outside = [] if attempts and attempts[-1].findings else stage.findings
    return {
        "contract": stage.contract,
        "words": stage_label(stage.contract),
        "status": gettext(labels.STAGE_STATUSES[stage.status]),
        "mark": _MARKS.get(stage.status, "waiting"),
        "stopped": stage.contract == stopped_at,
        "answering": stage.contract in ANSWERING,
        "statements": (
            triage_statements(stage, release)
            or (
                *statements(stage.contract, stage.output, release),
                *shown_statements(stage),
            )
        ),
        "seconds": _seconds(sum(attempt.duration_ms for attempt in attempts)),
        "tokens": sum(attempt.tokens for attempt in attempts),
        "findings": _findings(outside),
        "tries": [_try(attempt) for attempt in attempts],
        "instructions": prompts.get(attempts[-1].prompt_sha256, "") if attempts else "",
    }


def _try(attempt: Attempt) -> dict[str, Any]:
    """Return one model call; hashes are lower-case hex SHA-256."""
    name = (
        gettext("Attempt {number} of round {round}")
        if attempt.round > 1
        else gettext("Attempt {number}")
    )
    paths = [finding["path"] for finding in attempt.findings]
    return {
        "name": name.format(number=attempt.number, round=attempt.round),
        "findings": _findings(attempt.findings),
        "answer": answer_view(_readable(attempt.raw_text), paths),
        "refusal": _readable(bytes(attempt.refusal).decode("utf-8", "replace")),
        "request": pretty(attempt.asked_text),
        "model": attempt.model,
        "temperature": f"{attempt.temperature:.2f}",
        "seconds": _seconds(attempt.duration_ms),
        "tokens": attempt.tokens,
        "prompt_tokens": attempt.prompt_tokens,
        "completion_tokens": attempt.completion_tokens,
        "cached_tokens": attempt.cached_tokens,
        "finish_reason": attempt.finish_reason,
        "hashes": (
            (gettext("Request"), attempt.request_sha256),
            (gettext("Contract"), attempt.contract_sha256),
            (gettext("Prompt"), attempt.prompt_sha256),
            (gettext("Answer"), hashlib.sha256(bytes(attempt.raw)).hexdigest()),
        ),
    }


def _findings(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return findings with their number, from 1, and their sentence."""
    return [
        {**each, "number": number, "sentence": finding_texts.sentence(each["code"])}
        for number, each in enumerate(found, 1)
    ]


def _seconds(milliseconds: int) -> str:
    return gettext("{number} s").format(number=f"{milliseconds / 1000:.1f}")


def _readable(text: str) -> str:
    # A browser replaces NUL by itself; here it is shown where it stood.
    return text.replace("\0", "\N{SYMBOL FOR NULL}")
