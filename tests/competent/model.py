"""A competent model that is scripted: what a careful person would understand, and JSON made of it.

For each message the script says what is understood of it (conversations/README.md). The answer to a
call is made from the call alone, as its prompt says: ids, keys, names and paths are copied from
what is offered, what is not offered cannot be chosen, and a second attempt mends what the findings
name.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Understood = Mapping[str, Any]
"""A message of the script: ``categories``, ``services``, ``intents``, ..."""

UNFIT = 0.3
"""How sure it is of the closest candidate where what it looks for is not offered."""
LONGEST_QUOTE = 200
SHOWN = "overview how_to_apply applicability_summary requirements fees processing_time contact"
MATCHED = ("name", "overview", "applicability_summary")
RULES = (("{}", " "), ("{}", ", "), ("Open with {}.", ", then "))


@dataclass(frozen=True)
class Call:
    """One call as it came: the bytes of its messages, without and with the schema, and what had
    been found before it where it is a second attempt."""

    contract: str
    attempt: int
    bytes: int
    bytes_with_schema: int
    findings: tuple[str, ...]


@dataclass
class CompetentModel:
    """Answers each call as somebody who understood the message as ``understood`` says.

    Set ``understood`` before a message is run; ``calls`` are all that came, in order.
    """

    understood: Understood = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: Mapping[str, Any]) -> tuple[int, str]:
        """Return status 200 and the content for the body of a chat completion."""
        call = json.loads(body["messages"][-1]["content"])
        results = tuple(entry["code"] for entry in call.get("previous_findings", ()))
        with self._lock:
            size = sum(len(entry["content"].encode()) for entry in body["messages"])
            schema = len(json.dumps(body.get("response_format")).encode())
            self.calls.append(Call(call["contract"], call["attempt"], size, size + schema, results))
        result = _ANSWERS[call["contract"]](call, self.understood)
        if "cached_state" in call:
            result |= {"session_id": call["cached_state"]["session_id"]}
            result |= {"response_id": call["request_id"], "stage": call["contract"]}
            result |= {"telemetry": {"notes": None}}
        if call["attempt"] == 2:
            _mend(result, call)
        return 200, json.dumps(_in_its_order(result, _chance(call, 2)), ensure_ascii=False)


def _chance(call: Json, of: int) -> int:
    """Return a number below ``of`` that varies from call to call and not from run to run."""
    return zlib.crc32(f"{call['contract']} {call['user_prompt']}".encode()) % of


def _in_its_order(value: Any, turned: int) -> Any:
    """Return the value with its objects' keys the other way round where ``turned``."""
    if isinstance(value, Mapping):
        items = [(key, _in_its_order(result, turned)) for key, result in value.items()]
        return dict(reversed(items) if turned else items)
    return [_in_its_order(result, turned) for result in value] if isinstance(value, list) else value


def _judgement(call: Json, understood: Understood) -> Json:
    case = understood.get("inquiry")
    reply = None
    if case:
        texts, likely = call["guidance"]["texts"], call["guidance"].get("case")
        text = texts.get(case) or texts.get(likely) or next(iter(texts.values()))
        # Now and then shorter, as the prompt allows.
        reply = text if _chance(call, 2) else re.split(r"(?<=[.。؟?]) ?", text)[0]
    return {
        "stage": "judgement_v1",
        "stageStatus": "ready",
        "judgements": {"inquiry": not case},
        "assistantReply": reply,
        "nextStep": "session_end" if case else "agency_detect_v1",
        "telemetry": {"notes": None},
    }


def _agency_detect(call: Json, understood: Understood) -> Json:
    offered = {entry["agencyId"]: entry for entry in call["agencies"]}
    results = [offered[agency] for agency in understood["categories"] if agency in offered]
    names = ("agencyId", "name", "path", "description")
    several = len(results) > 1
    steps = ["session_end", "category_select_v1", "semantic_analysis_v1"]
    return {
        "judgements": {
            "agencyDetected": [entry["agencyId"] for entry in results],
            "agencyInfo": [{name: entry[name] for name in names} for entry in results],
            "agencyCount": len(results),
            "complexity": "high" if several else "low",
        },
        "nextStep": steps[min(len(results), 2)],
    }


def _category_select(call: Json, understood: Understood) -> Json:
    entries = call["KnowledgeBase_Dictionary"]
    agency = call["cached_state"]["agency_detect_v1"]["agencyDetected"][0]
    result = _fitting(entries, understood["categories"].get(agency, {}))
    best = min(entries, key=lambda each: each.get("rank", 0))
    closest = {best["key"]: {"value": best["value"], "score": UNFIT}}
    return {"categorySelection": {"candidates": result or closest}, "nextStep": "service_select_v1"}


def _fitting(entries: Sequence[Json], wanted: Mapping[str, float]) -> Json:
    offered = {entry["key"]: entry for entry in entries}
    return {
        key: {"value": offered[key]["value"], "score": score}
        for key, score in wanted.items()
        if key in offered
    }


def _semantic_analysis(call: Json, understood: Understood) -> Json:
    def candidates(agency: str) -> Json:
        entries = [e for e in call["KnowledgeBase_Dictionary"] if e["agencyId"] == agency]
        return {"candidates": _fitting(entries, understood["categories"].get(agency, {}))}

    agencies = [
        {
            "agencyId": entry["agencyId"],
            "agencyName": entry["name"],
            "categorySelection": candidates(entry["agencyId"]),
        }
        for entry in call["agencies"]
    ]
    most = max(agencies, key=_relevance)["agencyId"]
    return {
        "semanticAnalysis": {
            "agencies": agencies,
            "primaryAgency": {"agencyId": most, "reason": "Most of the message is about this."},
        },
        "nextStep": "service_select_v1",
    }


def _relevance(agency: Json) -> float:
    candidates = agency["categorySelection"]["candidates"].values()
    return float(sum(candidate["score"] for candidate in candidates))


def _service_select(call: Json, understood: Understood) -> Json:
    offered = {each["serviceKey"]: each for each in call["service_index"]}
    fitting = {key: score for key, score in understood["services"].items() if key in offered}
    closest = call["service_index"][0]["serviceKey"]
    key = max(fitting, key=lambda each: fitting[each]) if fitting else closest
    entry, opens = offered[key], understood.get("opens", ["overview"])
    blank = entry.get("blank", ())
    result = dict.fromkeys(["name", *opens, *(name for name in SHOWN.split() if name not in blank)])
    keys = [f"service_{name}" for name in result]
    keys += [f"entity_{name}" for name in understood.get("repeats", ())]
    rules, between = RULES[_chance(call, len(RULES))]
    complexity = call["cached_state"]["agency_detect_v1"]["complexity"]
    return {
        "serviceSelection": {
            "serviceKey": key,
            "name": entry["name"],
            "path": entry["path"],
            "matchedField": MATCHED[_chance(call, len(MATCHED))],
            "score": fitting.get(key, UNFIT),
        },
        "template": {
            "placeholders": {each: f"{{{each}}}" for each in keys},
            "rules": rules.format(between.join(f"{{service_{name}}}" for name in opens)),
        },
        "nextStep": "session_end" if complexity == "low" else "multi_agency_service_answer_v1",
    }


def _several(call: Json, understood: Understood) -> Json:
    return _said_of(call, understood.get("text", ()))


def _said_of(call: Json, sentences: Iterable[Sequence[str]]) -> Json:
    """Return the answer that says those sentences whose service is offered, and of an agency of
    which none is said how its first entry begins."""
    offered = {each["serviceKey"]: each for each in call["service_index"]}
    names = {each["agencyId"]: each["name"] for each in call["agencies"]}
    results = [(offered[key], text) for key, text in sentences if key in offered]
    for agency in names.keys() - {entry["agencyId"] for entry, _ in results}:
        results += [
            (e, _first(e["overview"])) for e in offered.values() if e["agencyId"] == agency
        ][:1]
    by_agency: dict[str, str] = {}
    for entry, text in results:
        agency = entry["agencyId"]
        head = by_agency.get(agency) or ("" if "{agency}" in text else "{agency}:")
        by_agency[agency] = f"{head} {text}".strip()
    parts = [text.replace("{agency}", names[agency]) for agency, text in by_agency.items()]
    cited = {entry["serviceKey"]: entry for entry, _ in results}.values()
    source = ("agencyId", "serviceKey", "path")
    return {
        "assistantReply": "\n\n".join(parts),
        "sourcesUsed": [{name: entry[name] for name in source} for entry in cited],
        "nextStep": "session_end",
    }


def _first(text: str) -> str:
    return re.split(r"(?<=[.。]) ?", text)[0]


def _classify(call: Json, understood: Understood) -> Json:
    def labelled(of: str, name: str) -> list[Json]:
        known = call["labels"][name]
        return [
            {"label": label, "confidence": sure, "evidence_snippets": [_copied(call, quote)]}
            for label, (sure, quote) in understood.get(of, {}).items()
            if label in known
        ]

    intents = labelled("intents", "intents")
    return {
        "intents": intents,
        "primary_intent": max(intents, key=lambda each: each["confidence"])["label"],
        "product_line": labelled("about", "product_lines")[0],
        "urgency": labelled("urgency", "urgencies")[0],
        "risk_flags": labelled("risks", "risk_flags"),
    }


def _extract(call: Json, understood: Understood) -> Json:
    names = ("entity_type", "value_redacted", "confidence")
    return {"entities": _found(call, understood.get("entities", ()), names)}


def _identity_assist(call: Json, understood: Understood) -> Json:
    return {"keys": _found(call, understood.get("keys", ()), ("key_type", "key_value"))}


def _found(call: Json, listed: Iterable[Sequence[Any]], names: Sequence[str]) -> list[Json]:
    return [
        {**dict(zip(names, entry, strict=False)), "evidence_snippets": [_copied(call, entry[-1])]}
        for entry in listed
        if entry[-1] in call["user_prompt"]
    ]


def _copied(call: Json, quote: str) -> str:
    """Return a quote as people copy: with other apostrophes, another case or in quotation marks."""
    ways: Sequence[Callable[[str], str]] = (
        str,
        lambda text: text[0].swapcase() + text[1:],
        lambda text: text.replace("'", "’"),
        lambda text: f"“{text}”",
        lambda text: text.rstrip("?!.") or text,
    )
    return ways[zlib.crc32(f"{call['contract']} {quote}".encode()) % len(ways)](quote)


def _mend(said: Json, call: Json) -> None:
    """Change an answer as the findings of the first attempt ask for."""
    findings = call.get("previous_findings", ())
    for finding in findings:
        *steps, last = [step for step in finding["path"].split("/") if step] or [""]
        if finding["code"] == "score.minimum" and last == "score" and "candidates" in steps:
            _at(said, steps[:-1]).pop(steps[-1], None)
        elif finding["code"].startswith("evidence.") and last.isdigit():
            _at(said, steps)[int(last)] = call["user_prompt"][:LONGEST_QUOTE]
        elif finding["code"] == "template.unresolved":
            said["template"]["placeholders"].pop(last, None)
        elif finding["code"].startswith(("reply.", "sources.")) and "sourcesUsed" in said:
            entries = {result["serviceKey"]: result["overview"] for result in call["service_index"]}
            cited = [result["serviceKey"] for result in said["sourcesUsed"]]
            said |= _said_of(call, [(key, _first(entries[key])) for key in cited])
    if "telemetry" in said and _chance(call, 3):
        codes = ", ".join(result["code"] for result in findings)
        said["telemetry"] = {"notes": f"Mended what was found: {codes}."}


def _at(value: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


_ANSWERS: Mapping[str, Callable[[Json, Understood], Json]] = {
    "judgement_v1": _judgement,
    "agency_detect_v1": _agency_detect,
    "category_select_v1": _category_select,
    "semantic_analysis_v1": _semantic_analysis,
    "service_select_v1": _service_select,
    "multi_agency_service_answer_v1": _several,
    "classify": _classify,
    "extract": _extract,
    "identity_assist": _identity_assist,
}


def quotes(understood: Understood) -> Iterator[str]:
    """Yield every quote that the script has of a message."""
    for of in ("intents", "about", "urgency", "risks"):
        yield from (quote for _, quote in understood.get(of, {}).values())
    yield from (entry[-1] for of in ("entities", "keys") for entry in understood.get(of, ()))
