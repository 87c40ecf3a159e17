"""The citizen's message with its evidence marked in place, and near matches for lost quotes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext

from conversations.models import Attempt, Stage, Turn
from ieim.pipeline import contract as contracts
from ieim.pipeline.canonical import shown_score
from ieim.pipeline.findings import Code, pointer
from ieim.pipeline.gate import strict_json
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages.triage import label_elements, readable_flags
from review import finding_texts
from review.item.stages import KEY_STATUSES, LABEL_WORDS, detected_by
from review.labels import label_name

NEAR = 0.6
"""How alike (0 to 1) words have to be before they are worth showing."""
_LONGEST = 200
_COMPARED = 12
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Hint:
    """Words of the message that look like a quote that is not in it (code points, half-open)."""

    quote: str
    start: int
    end: int
    words: str


def near(text: str, quote: str) -> Hint | None:
    """Return the words of ``text`` that are most like ``quote``; None when nothing is near.

    Runs of about as many words are compared, without regard to case.
    """
    folded = quote.strip()[:_LONGEST].casefold()
    size = len(_WORD.findall(folded))
    words = [(m.start(), m.end()) for m in _WORD.finditer(text)]
    if not size or not words:
        return None
    parts = _parts(folded)
    alike = [len(parts & _parts(text[start:end].casefold())) for start, end in words]
    runs = []
    for count in sorted({max(1, size - 1), size, size + 1}):
        for first in range(max(1, len(words) - count + 1)):
            last = min(first + count, len(words))
            runs.append((-sum(alike[first:last]), words[first][0], words[last - 1][1]))
    # Comparing letter by letter is slow: only what shares the most letters in a row is.
    candidates = [(start, end) for _, start, end in sorted(runs)[:_COMPARED]]
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(folded)
    best, hint = NEAR, None
    for start, end in candidates:
        matcher.set_seq1(text[start:end].casefold())
        ratio = matcher.ratio()
        if ratio > best:
            best, hint = ratio, Hint(quote, start, end, text[start:end])
    return hint


def _parts(words: str) -> set[str]:
    return {words[i : i + 3] for i in range(max(1, len(words) - 2))}


LANES = 4
"""Underlines that are told apart below one another; a fifth overlapping mark shares the last."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Words of the message that something was read from.

    ``start`` and ``end`` are half-open offsets in code points. ``kind`` is a word for the style
    (``intent``, ``risk``, ...), ``what`` names the kind for people and ``name`` what was read.
    ``sure`` is the model's confidence with two decimals, empty where there is none. ``found_by``
    says in words what found it, empty for a model. ``number`` and ``lane`` are given by
    :func:`numbered`.
    """

    start: int
    end: int
    kind: str
    what: str
    name: str
    quote: str
    sure: str = ""
    found_by: str = ""
    occurrences: int = 1
    sha256: str = ""
    number: int = 0
    lane: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the message under the same marks; ``begins`` are those that begin with it.

    ``marks`` come with the lowest underline first: each is drawn around the next.
    """

    text: str
    marks: tuple[Mark, ...]
    begins: tuple[Mark, ...]


def numbered(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Return the marks in the order of the text, numbered from 1, each with a lane of its own.

    Marks that overlap never share a lane, as long as there are enough of them.
    """
    busy: list[int] = []
    placed = []
    for number, mark in enumerate(sorted(marks, key=lambda m: (m.start, -m.end)), 1):
        free = [lane for lane, until in enumerate(busy) if until <= mark.start]
        lane = free[0] if free else len(busy)
        if lane == len(busy):
            busy.append(0)
        busy[lane] = mark.end
        placed.append(replace(mark, number=number, lane=min(lane, LANES - 1)))
    return tuple(placed)


def segments(text: str, marks: Sequence[Mark]) -> tuple[Segment, ...]:
    """Return the whole text cut wherever a mark begins or ends. Joined, it is the text again."""
    inside = [m for m in marks if 0 <= m.start < m.end <= len(text)]
    edges = {0, len(text), *(m.start for m in inside), *(m.end for m in inside)}
    parts = []
    for start, end in pairwise(sorted(edges)):
        over = [m for m in inside if m.start <= start and end <= m.end]
        over.sort(key=lambda m: -m.lane)
        begins = sorted((m for m in over if m.start == start), key=lambda m: m.number)
        parts.append(Segment(text[start:end], tuple(over), tuple(begins)))
    return tuple(parts)


MAX_HINTS = 6
_KINDS = {
    "intents": "intent",
    "product_lines": "topic",
    "urgencies": "urgency",
    "risk_flags": "risk",
    "entity_types": "fact",
    "key_types": "key",
}
Evidence = tuple[str, str, str, list[dict[str, Any]], str]
"""``(label set, name, confidence, spans, how it was detected)``."""


def marks(turn: Turn, stages: Mapping[str, Stage], release: Release) -> tuple[Mark, ...]:
    """Return every place of the message that something was read from, numbered.

    Also of answers that failed the gate: their quotes that do stand in the message.
    """
    evidence = [e for name, stage in stages.items() for e in _evidence(name, stage, release)]
    names = {name for label_set, name, *_ in evidence if label_set == "risk_flags"}
    for risk in turn.risks:
        name = label_name(release, "risk_flags", risk["code"])
        if name not in names:
            evidence.append(("risk_flags", name, "", [risk], detected_by(risk["source"])))
    marks_read = [_mark(turn.text, item, span) for item in evidence for span in item[3]]
    return numbered(dict.fromkeys(marks_read))


def hints(text: str, attempts: Sequence[Attempt]) -> tuple[Hint, ...]:
    """Return near matches for quotes of the answers that do not stand in ``text``."""
    by_quote: dict[str, Hint] = {}
    for attempt in attempts:
        lost = [f["path"] for f in attempt.findings if f["code"] == Code.EVIDENCE_NOT_FOUND]
        output = strict_json.parse(attempt.raw_text)[0] if lost else None
        for path in lost[:MAX_HINTS] if output else ():
            quote = finding_texts.resolve(output, path)
            hint = near(text, quote) if isinstance(quote, str) else None
            if hint:
                by_quote.setdefault(hint.quote, hint)
    return tuple(by_quote.values())[:MAX_HINTS]


@dataclass(frozen=True, slots=True)
class FailedFlag:
    """A risk flag that a model gave in an answer that failed: ``findings`` are the sentence and the
    code of each check; ``left_out`` says that the last attempt does not give it."""

    attempt: int
    name: str
    confidence: str
    findings: tuple[tuple[str, str], ...]
    left_out: bool


def failed_flags(classify: Stage | None, release: Release) -> Iterator[FailedFlag]:
    """Yield the risk flags that can be read in failed attempts of classify, in their order."""
    attempts = list(classify.attempts.all()) if classify else []
    codes = release.labels.get("risk_flags", {})
    flags = [list(readable_flags(attempt.raw_text, codes)) for attempt in attempts]
    last = {flag.code for flag in flags[-1]} if flags else set()
    for attempt, raised in zip(attempts, flags, strict=True):
        failed = dict.fromkeys(finding["code"] for finding in attempt.findings)
        findings = tuple((finding_texts.sentence(code), code) for code in failed)
        for flag in {flag.code: flag for flag in raised if findings}.values():
            name = label_name(release, "risk_flags", flag.code)
            left_out = flag.code not in last
            yield FailedFlag(attempt.number, name, flag.confidence, findings, left_out)


def last_answer(stage: Stage) -> Mapping[str, Any] | None:
    """Return what the model said last for a stage, when it has the contract's shape."""
    attempts = list(stage.attempts.all())
    output = strict_json.parse(attempts[-1].raw_text)[0] if attempts else None
    valid = output is not None and contracts.load(stage.contract).validator.is_valid(output)
    return output if valid else None


def _mark(text: str, evidence: Evidence, span: Mapping[str, Any]) -> Mark:
    label_set, name, sure, _, source = evidence
    return Mark(
        start=span["start"],
        end=span["end"],
        kind=_KINDS[label_set],
        what=gettext(LABEL_WORDS[label_set]),
        name=name,
        quote=text[span["start"] : span["end"]],
        sure=sure,
        found_by=source,
        occurrences=span.get("occurrences", 1),
        sha256=span.get("snippet_sha256", ""),
    )


def _evidence(contract: str, stage: Stage, release: Release) -> Iterator[Evidence]:
    result = stage.result or _failed(contract, stage)
    if not result:
        return
    if contract == "classify":
        for _, label_set, label in label_elements(result):
            name = label_name(release, label_set, label["label"])
            sure = "" if label["confidence"] is None else shown_score(label["confidence"])
            yield label_set, name, sure, label["spans"], detected_by(label.get("source", ""))
    elif contract == "extract":
        for entity in result["entities"]:
            name = label_name(release, "entity_types", entity["entity_type"])
            name = f"{name}: {entity['value_redacted']}" if entity["value_redacted"] else name
            sure = shown_score(entity["confidence"])
            yield "entity_types", name, sure, entity["spans"], ""
    elif contract == "identity_assist":
        for key in result["keys"]:
            name = label_name(release, "key_types", key["key_type"])
            status = KEY_STATUSES.get(key.get("status", ""), "")
            value = f"{key['key_value']} ({gettext(status)})" if status else key["key_value"]
            yield "key_types", f"{name}: {value}" if value else name, "", key["spans"], ""


def _failed(contract: str, stage: Stage) -> dict[str, Any] | None:
    """Return an answer that failed as a result would be, with the spans that its quotes do have."""
    output = last_answer(stage) if contract in ("classify", "extract", "identity_assist") else None
    if output is None:
        return None
    spans: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for span in stage.spans.all():
        values = {"start": span.start, "end": span.end, "occurrences": span.occurrences}
        spans[span.path.partition("/evidence_snippets")[0]].append(values)
    return {
        name: [{**element, "spans": spans[pointer(name, i)]} for i, element in enumerate(value)]
        if isinstance(value, list)
        else {**value, "spans": spans[pointer(name)]}
        if isinstance(value, dict)
        else value
        for name, value in output.items()
    }
