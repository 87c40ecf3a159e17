"""The stages of a turn: what each said, every attempt, and what the model could choose from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from typing import Any

from django.utils.translation import gettext, gettext_noop

from conversations.models import Attempt, Stage
from conversations.record import calls
from conversations.states import PENDING_TURN_STATES, StageStatus, TurnState
from ieim.knowledge.vectors import shortlist_for
from ieim.pipeline import contract as contracts
from ieim.pipeline import policy
from ieim.pipeline.canonical import shown_score
from ieim.pipeline.findings import pointer
from ieim.pipeline.gate.strict_json import MAX_DEPTH
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query
from ieim.pipeline.reply.fallback import shown_text
from ieim.pipeline.stages.slots import with_agencies
from ieim.pipeline.stages.triage import label_elements
from ieim.pipeline.topology import ANSWERING, STAGES
from ieim.studio.labels import stage_label
from review import finding_texts, labels
from review.labels import agency_name, label_name, service_name

Output = Mapping[str, Any]

DETECTED_BY: Mapping[str, str] = {
    "rule": gettext_noop("found by a rule"),
    "meaning": gettext_noop("found by its meaning"),
    "hint": gettext_noop("may be meant, by its meaning"),
    "faint": gettext_noop("may be meant, by its meaning: the model saw no danger"),
    "unsure": gettext_noop("may be meant: the model was not sure"),
    "refusal": gettext_noop("may be meant: the model would not read the message"),
}
"""By source: how a label was detected that no model gave."""

LABEL_WORDS: Mapping[str, str] = {
    "intents": gettext_noop("Wants to"),
    "product_lines": gettext_noop("About"),
    "urgencies": gettext_noop("Urgency"),
    "risk_flags": gettext_noop("Risk"),
    "entity_types": gettext_noop("Fact"),
    "key_types": gettext_noop("Number"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that an answer says; heading and remark may be empty."""

    heading: str
    what: str
    remark: str = ""


def statements(contract: str, output: Any, release: Release) -> tuple[Statement, ...]:
    """Return what an answer says; nothing for one that has not the contract's shape."""
    if not isinstance(output, Mapping) or not contracts.load(contract).validator.is_valid(output):
        return ()
    return tuple(_OUTPUTS[contract](output, release))


def detected_by(source: str) -> str:
    """Return how a label was detected, in words; empty for a model."""
    return gettext(DETECTED_BY[source]) if source in DETECTED_BY else ""


def confidence(sure: Decimal | float, release: Release, label_set: str, code: str) -> str:
    """Return how sure a model was of a label, in words, and whether its threshold wants more."""
    words = gettext("confidence {number}").format(number=shown_score(sure))
    if policy.is_unsure(release.labels.get(label_set, {}).get(code), sure):
        return gettext("unsure, {confidence}").format(confidence=words)
    return words


def _judgement(output: Output, _release: Release) -> Iterator[Statement]:
    if output["judgements"]["inquiry"]:
        yield Statement("", gettext("Yes, a question for a public service"))
    else:
        yield Statement("", gettext("No, not a question for a public service"))
        yield Statement(gettext("It would say"), str(output["assistantReply"] or ""))


def _agencies(output: Output, release: Release) -> Iterator[Statement]:
    for agency in output["judgements"]["agencyDetected"]:
        remark = "" if agency in release.agencies else gettext("not in the service index")
        yield Statement("", agency_name(release, agency), remark)
    if not output["judgements"]["agencyDetected"]:
        yield Statement("", gettext("No agency"))


def _topics(candidates: Mapping[str, Any]) -> str:
    return ", ".join(f"{c['value']} ({shown_score(c['score'])})" for c in candidates.values())


def _category(output: Output, _release: Release) -> Iterator[Statement]:
    yield Statement("", _topics(output["categorySelection"]["candidates"]))


def _semantic(output: Output, release: Release) -> Iterator[Statement]:
    analysis = output["semanticAnalysis"]
    for entry in analysis["agencies"]:
        name = agency_name(release, entry["agencyId"])
        topics = _topics(entry["categorySelection"]["candidates"])
        yield Statement(name, topics or gettext("nothing fits: not answered"))
    yield Statement(
        gettext("Answers first"), agency_name(release, analysis["primaryAgency"]["agencyId"])
    )


def _service(output: Output, _release: Release) -> Iterator[Statement]:
    selection = output["serviceSelection"]
    yield Statement(
        "",
        selection["name"] or selection["serviceKey"],
        gettext("score {number}").format(number=shown_score(selection["score"])),
    )


def _answer(output: Output, release: Release) -> Iterator[Statement]:
    yield Statement(gettext("It would say"), output["assistantReply"])
    for source in output["sourcesUsed"]:
        key, agency = source["serviceKey"], source["agencyId"]
        listed = (agency, key) in release.services
        remark = agency_name(release, agency) if listed else gettext("not in the service index")
        yield Statement(gettext("Source"), service_name(release, agency, key), remark)


def _classify(output: Output, release: Release) -> Iterator[Statement]:
    for _, label_set, element in label_elements(output):
        name = label_name(release, label_set, element["label"])
        sure = confidence(element["confidence"], release, label_set, element["label"])
        yield Statement(gettext(LABEL_WORDS[label_set]), name, sure)


def _extract(output: Output, release: Release) -> Iterator[Statement]:
    for entity in output["entities"]:
        kind = label_name(release, "entity_types", entity["entity_type"])
        yield Statement(kind, entity["value_redacted"])
    if not output["entities"]:
        yield Statement("", gettext("No facts"))


def _identity(output: Output, release: Release) -> Iterator[Statement]:
    for key in output["keys"]:
        yield Statement(label_name(release, "key_types", key["key_type"]), key["key_value"])
    if not output["keys"]:
        yield Statement("", gettext("No numbers or names"))


_OUTPUTS: Mapping[str, Callable[[Output, Release], Iterator[Statement]]] = {
    "judgement_v1": _judgement,
    "agency_detect_v1": _agencies,
    "category_select_v1": _category,
    "semantic_analysis_v1": _semantic,
    "service_select_v1": _service,
    "multi_agency_service_answer_v1": _answer,
    "classify": _classify,
    "extract": _extract,
    "identity_assist": _identity,
}


KEY_STATUSES: Mapping[str, str] = {
    "valid": gettext_noop("valid"),
    "invalid": gettext_noop("not valid"),
    "unverified": gettext_noop("not verified"),
}
REMARKS: Mapping[str, str] = {
    "valid": gettext_noop("valid"),
    "invalid": gettext_noop("not valid: do not rely on it"),
    "unverified": gettext_noop("not verified: do not rely on it"),
}


def shown_statements(stage: Stage) -> tuple[Statement, ...]:
    """Return what the citizen reads in place of a model's free text; nothing where they read it."""
    text = None if STAGES[stage.contract].reply is None else shown_text(stage.result)
    if text is None:
        return ()
    services = gettext("The services that it names, as they stand in the service list")
    return (Statement(gettext("The citizen reads"), text or services),)


def triage_statements(stage: Stage, release: Release) -> tuple[Statement, ...]:
    """Return what a stage of triage found out; nothing before its answer passed the gate.

    Urgency comes first, then what is wanted, the topic and the risks; keys say whether they hold.
    """
    if not stage.result or stage.contract not in _RESULTS:
        return ()
    return tuple(_RESULTS[stage.contract](stage.result, release))


def _triage_labels(result: Mapping[str, Any], release: Release) -> Iterator[Statement]:
    labels = [
        ("urgencies", [result["urgency"]]),
        ("intents", result["intents"]),
        ("product_lines", [result["product_line"]]),
        ("risk_flags", result["risk_flags"]),
    ]
    for label_set, elements in labels:
        for element in elements:
            name = label_name(release, label_set, element["label"])
            primary = label_set == "intents" and element["label"] == result["primary_intent"]
            remark = detected_by(element["source"])
            if element["confidence"] is not None and not remark:
                remark = confidence(element["confidence"], release, label_set, element["label"])
            if primary and len(result["intents"]) > 1:
                remark = gettext("the main one, {remark}").format(remark=remark)
            yield Statement(gettext(LABEL_WORDS[label_set]), name, remark)


def _triage_facts(result: Mapping[str, Any], release: Release) -> Iterator[Statement]:
    for entity in result["entities"]:
        kind = label_name(release, "entity_types", entity["entity_type"])
        sure = confidence(entity["confidence"], release, "entity_types", entity["entity_type"])
        yield Statement(kind, entity["value_redacted"], sure)


def _triage_keys(result: Mapping[str, Any], release: Release) -> Iterator[Statement]:
    for key in result["keys"]:
        kind = label_name(release, "key_types", key["key_type"])
        remark = gettext(REMARKS[key["status"]])
        if key["check"]:
            remark = gettext("{remark}; checked as {kind}").format(remark=remark, kind=key["check"])
        yield Statement(kind, key["key_value"], remark)


_RESULTS = {"classify": _triage_labels, "extract": _triage_facts, "identity_assist": _triage_keys}


MAX_CHARACTERS = 20_000
"""Characters of an answer that are shown."""
MAX_LINES = 1_000
LIKELY = 0.25
"""From this probability on a service fits a message."""


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
    if len(raw) > MAX_CHARACTERS:
        return AnswerView(before=raw[:MAX_CHARACTERS], cut=True)
    try:
        tree = _DECODER.decode(raw)
    except json.JSONDecodeError as error:
        return AnswerView(before=raw[: error.pos], after=raw[error.pos :])
    except RecursionError:
        return AnswerView(before=raw)
    lines = list(_lines(tree))
    if not lines:
        return AnswerView(before=raw)
    return AnswerView(lines=_marked(lines[:MAX_LINES], paths), cut=len(lines) > MAX_LINES)


def pretty(text: str) -> str:
    """Return JSON with line breaks and indents; text that is no JSON as it is."""
    view = answer_view(text, ())
    return "\n".join(line.text for line in view.lines) if view.lines else text


def _lines(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield ``(pointer, line)``; nothing for a tree that nobody would read to its end."""
    lines = list(_written(tree, "", 0, "", ""))
    if all(depth <= MAX_DEPTH for depth, _, _ in lines):
        for depth, path, text in lines:
            yield path, "  " * depth + text


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
"""So many of the best matches of the whole release are compared with what was offered."""

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
            "offers": [_offer(slot, entry, release) for entry in first[slot]],
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
    matches = [hit for hit in ranking.services(limit=LOOKED_AT) if hit.probability >= LIKELY]
    if not matches:
        return []
    below = gettext("It ranked below what was sent.")
    other = gettext("It belongs to an agency that was not chosen.")
    if "service_index" in payload:
        keys = {(s["agencyId"], s["serviceKey"]) for s in payload["service_index"]}
        agencies = {agency for agency, _ in keys}
        best = takewhile(lambda hit: (hit.item.agency, hit.item.key) not in keys, matches)
        return [
            {
                "name": hit.item.name,
                "agency": agency_name(release, hit.item.agency),
                "why": below if hit.item.agency in agencies else other,
            }
            for hit in best
        ]
    if payload.get("contract") == "agency_detect_v1":
        ids = {agency["agencyId"] for agency in payload["agencies"]}
        ranked = takewhile(
            lambda hit: hit.probability >= LIKELY and hit.item.id not in ids,
            ranking.agencies(limit=LOOKED_AT),
        )
        return [{"name": hit.item.name, "agency": "", "why": below} for hit in ranked]
    return []


def _offer(slot: str, entry: Mapping[str, Any], release: Release) -> dict[str, Any]:
    """Return one candidate with its rank (1 is best; 0 for none)."""
    _, name, key = _SLOTS[slot]
    return {
        "name": entry.get(name, ""),
        "key": entry.get(key, ""),
        "agency": "" if slot == "agencies" else agency_name(release, entry["agencyId"]),
        "rank": entry.get("rank", 0),
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
    is_running = stage.status == StageStatus.RUNNING.value
    left = is_running and TurnState(stage.turn.state) not in PENDING_TURN_STATES
    return {
        "contract": stage.contract,
        "words": stage_label(stage.contract),
        "status": gettext(labels.NOT_FINISHED if left else labels.STAGE_STATUSES[stage.status]),
        "mark": _MARKS.get(stage.status, "waiting"),
        "stopped": stage.contract == stopped_at,
        "answering": stage.contract in ANSWERING,
        "statements": (
            triage_statements(stage, release)
            or (*statements(stage.contract, stage.output, release), *shown_statements(stage))
        ),
        "seconds": _seconds(sum(attempt.duration_ms for attempt in attempts)),
        "tokens": sum(attempt.tokens for attempt in attempts),
        "findings": _findings(outside, ""),
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
        "findings": _findings(attempt.findings, attempt.raw_text),
        "answer": answer_view(_readable(attempt.raw_text), paths),
        "refusal": _readable(bytes(attempt.refusal).decode("utf-8", "replace")),
        "request": pretty(attempt.asked_text),
        "attempt": attempt,
        "seconds": _seconds(attempt.duration_ms),
        "hashes": (
            (gettext("Request"), attempt.request_sha256),
            (gettext("Contract"), attempt.contract_sha256),
            (gettext("Prompt"), attempt.prompt_sha256),
            (gettext("Answer"), hashlib.sha256(bytes(attempt.raw)).hexdigest()),
        ),
    }


def _findings(findings: Sequence[Mapping[str, Any]], raw: str) -> list[dict[str, Any]]:
    """Return findings on the answer ``raw`` with their number, from 1, and their sentence."""
    return [
        {**finding, "number": number, "sentence": finding_texts.explain(finding, raw)}
        for number, finding in enumerate(findings, 1)
    ]


def _seconds(milliseconds: int) -> str:
    return gettext("{number} s").format(number=f"{milliseconds / 1000:.1f}")


def _readable(text: str) -> str:
    # A browser replaces NUL by itself; here it is shown where it stood.
    return text.replace("\0", "\N{SYMBOL FOR NULL}")
