"""Where the marks of a message come from: stored results, the rules, and answers that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from conversations.models import Attempt, Stage, Turn
from ieim.pipeline import contract as contracts
from ieim.pipeline.evidence.pairing import placed
from ieim.pipeline.findings import Code, pointer
from ieim.pipeline.gate import strict_json
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages.triage import label_elements
from review.item.sections.hints import Hint, near
from review.item.sections.marking import Mark, numbered
from review.item.sections.said import LABEL_WORDS, found_by, label_name
from review.item.sections.triage import KEY_STATUSES

MOST_HINTS = 6
_KINDS = {
    "intents": "intent",
    "product_lines": "topic",
    "urgencies": "urgency",
    "risk_flags": "risk",
    "entity_types": "fact",
    "key_types": "key",
}
Named = tuple[str, str, str, str, list[dict[str, Any]], str]
"""``(label set, name, value, confidence, spans, what found it)``."""


def marks(turn: Turn, stages: Mapping[str, Stage], release: Release) -> tuple[Mark, ...]:
    """Return every place of the message that something was read from, numbered.

    Also of answers that failed the gate: their quotes that do stand in the message.
    """
    found = [
        _mark(turn.text, named, span)
        for contract, stage in stages.items()
        for named in _named(contract, stage, turn, release)
        for span in named[4]
    ]
    classify = stages.get("classify")
    if classify is None or not classify.result:
        found += list(_rules(turn, release))
    return numbered(dict.fromkeys(found))


def hints(text: str, attempts: Sequence[Attempt]) -> tuple[Hint, ...]:
    """Return near matches for quotes of the answers that do not stand in ``text``."""
    found: dict[str, Hint] = {}
    for attempt in attempts:
        lost = [f["path"] for f in attempt.findings if f["code"] == Code.EVIDENCE_NOT_FOUND]
        output = strict_json.parse(attempt.raw_text)[0] if lost else None
        for path in lost[:MOST_HINTS] if output else ():
            quote = at(output, path)
            hint = near(text, quote) if isinstance(quote, str) else None
            if hint:
                found.setdefault(hint.quote, hint)
    return tuple(found.values())[:MOST_HINTS]


def at(document: Any, path: str) -> Any:
    """Return what a JSON Pointer (RFC 6901) points at; None where there is nothing."""
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, Mapping):
            document = document.get(name)
        elif isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


def last_answer(stage: Stage) -> Mapping[str, Any] | None:
    """Return what the model said last for a stage, when it has the contract's shape."""
    attempts = list(stage.attempts.all())
    output = strict_json.parse(attempts[-1].raw_text)[0] if attempts else None
    valid = output is not None and contracts.load(stage.contract).validator.is_valid(output)
    return output if valid else None


def _rules(turn: Turn, release: Release) -> Iterator[Mark]:
    for risk in turn.risks:
        name = label_name(release, "risk_flags", risk["code"])
        span = {"start": risk["start"], "end": risk["end"]}
        named = ("risk_flags", name, "", "", [span], found_by(risk["source"]))
        yield _mark(turn.text, named, span)


def _mark(text: str, named: Named, span: Mapping[str, Any]) -> Mark:
    label_set, name, value, sure, _, finder = named
    return Mark(
        start=span["start"],
        end=span["end"],
        kind=_KINDS[label_set],
        what=gettext(LABEL_WORDS[label_set]),
        name=f"{name}: {value}" if value else name,
        quote=text[span["start"] : span["end"]],
        sure=sure,
        found_by=finder,
        occurrences=span.get("occurrences", 1),
        sha256=span.get("snippet_sha256", ""),
    )


def _named(contract: str, stage: Stage, turn: Turn, release: Release) -> Iterator[Named]:
    result = stage.result or _unjudged(contract, stage, turn.text)
    if not result:
        return
    if contract == "classify":
        for _, label_set, label in label_elements(result):
            name = label_name(release, label_set, label["label"])
            sure = "" if label["confidence"] is None else str(label["confidence"])
            yield (
                label_set,
                name,
                "",
                sure,
                label["spans"],
                found_by(label.get("source", "")),
            )
    elif contract == "extract":
        for entity in result["entities"]:
            name = label_name(release, "entity_types", entity["entity_type"])
            sure = str(entity["confidence"])
            yield "entity_types", name, entity["value_redacted"], sure, entity["spans"], ""
    elif contract == "identity_assist":
        for key in result["keys"]:
            name = label_name(release, "key_types", key["key_type"])
            status = KEY_STATUSES.get(key.get("status", ""), "")
            value = f"{key['key_value']} ({gettext(status)})" if status else key["key_value"]
            yield "key_types", name, value, "", key["spans"], ""


def _unjudged(contract: str, stage: Stage, text: str) -> dict[str, Any] | None:
    """Return an answer that failed as a result would be, with the spans that its quotes do have."""
    output = last_answer(stage) if contract in ("classify", "extract", "identity_assist") else None
    if output is None:
        return None
    places = {
        claim.path: [
            {"start": s.start, "end": s.end, "occurrences": s.occurrences}
            for s in spans
            if s is not None
        ]
        for claim, spans in placed(contracts.load(contract).stage.claims(output), text)
    }
    return {
        name: [{**each, "spans": places[pointer(name, i)]} for i, each in enumerate(value)]
        if isinstance(value, list)
        else {**value, "spans": places[pointer(name)]}
        if isinstance(value, dict)
        else value
        for name, value in output.items()
    }
