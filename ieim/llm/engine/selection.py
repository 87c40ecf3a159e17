"""category_select_v1, semantic_analysis_v1 and service_select_v1: choosing by words and rank."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ieim.llm.engine import envelope, is_new_subject, may_not_go_on, search_hints
from ieim.llm.engine.lexicon import lexicon
from ieim.llm.engine.question import Question, alone, only_complains, read_question, requests
from ieim.llm.engine.ranking import Choice, choose, order, relevance
from ieim.pipeline.gate.subject import about_before
from ieim.search.analysis import fold
from ieim.search.clauses import topic

Slot = Mapping[str, Any]

_NO_SERVICE: Slot = {
    **dict.fromkeys(("agencyId", "serviceKey", "name", "path"), ""),
    **dict.fromkeys(("overview", "applicability_summary"), ""),
    "categories": [],
    "rank": 1,
}
"""What is chosen from an empty index: nothing, and the gate says so."""

MINIMUM = 0.5
_COMPLAINT = 0.25
"""The most that a service gets for a message that only complains of an answer."""
_UNSURE = 0.79
"""The most that anything gets for a message that may not go on with the talk: the gate believes
what is above it, and wants evidence for the rest."""
_DOUBTED = 0.49
"""And the service that the talk was about, where the message may have left it, or any that is not
near enough: so the citizen is asked, or told so."""
_AGAIN = 0.95
"""What that service needs of the best evidence where the message has left the talk."""
_PARTS = 2
"""A question of the high branch asks for so many services at least."""
MOST_CATEGORIES = 3

_OF_AGENCY = ("agency_name", "agency_description", "agency_path")
_ABOUT, _ABOUT_BY_WORDS = 0.5, 0.6
"""An agency and its service have so many of the words that somebody asks it of: more where meaning
has not said that the service is near."""
_AGENCY_SURE = 0.8
"""And the agency is then right so often, whichever of its services is nearest."""

_FIELDS: Mapping[str, str] = {
    field: f"service_{field}"
    for field in (
        *("name", "overview", "applicability_summary", "requirements", "fees"),
        *("processing_time", "how_to_apply", "contact", "url"),
    )
}
"""The placeholder of each field that helps a citizen, in the order of a reply."""

_CATEGORY_WEIGHTS: Mapping[str, float] = {"value": 1.0, "keywords": 0.9}
_SERVICE_WEIGHTS: Mapping[str, float] = {
    "name": 1.0,
    "categories": 0.9,
    "overview": 0.8,
    "applicability_summary": 0.7,
}
_MATCHED_FIELD: Mapping[str, str] = {"categories": "key"}


def select_category(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer category_select_v1: every category that fits, else the closest with its low score."""
    candidates = _categories(payload["KnowledgeBase_Dictionary"], [read_question(payload)])
    return envelope(payload, "service_select_v1", categorySelection={"candidates": candidates})


def analyse(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer semantic_analysis_v1: the categories of each agency by the part that is its own."""
    found = questions(payload)
    agencies = []
    totals: dict[str, float] = {}
    for agency in payload["agencies"]:
        dictionary = payload["KnowledgeBase_Dictionary"]
        entries = [entry for entry in dictionary if entry["agencyId"] == agency["agencyId"]]
        candidates = _categories(entries, found)
        if may_not_go_on(payload):
            for candidate in candidates.values():
                candidate["score"] = min(candidate["score"], _UNSURE)
        totals[agency["agencyId"]] = sum(c["score"] for c in candidates.values())
        agencies.append(
            {
                "agencyId": agency["agencyId"],
                "agencyName": agency["name"],
                "categorySelection": {"candidates": candidates},
            }
        )
    primary = max(totals, key=lambda agency_id: totals[agency_id])
    return envelope(
        payload,
        "service_select_v1",
        semanticAnalysis={
            "agencies": agencies,
            "primaryAgency": {"agencyId": primary, "reason": "highest cumulative relevance"},
        },
    )


def select_service(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer service_select_v1; a score under 0.50 says that no service fits well.

    So it does for a complaint about the answer before: that is not mended by the same answer again.
    """
    high = payload["cached_state"]["agency_detect_v1"]["complexity"] == "high"
    services = payload["service_index"] or [_NO_SERVICE]
    choice = best_service(payload, services, questions(payload))
    service = choice.slot
    placeholders = [name for field, name in _FIELDS.items() if field not in _blank(service)]
    placeholders = placeholders or ["service_name"]
    score = min(choice.score, _most(payload, service))
    if not high and _asks_for_agency(payload, service):
        placeholders, score = [*_OF_AGENCY, *({"service_contact"} & {*placeholders})], _AGENCY_SURE
    return envelope(
        payload,
        "multi_agency_service_answer_v1" if high else "session_end",
        serviceSelection={
            "serviceKey": service["serviceKey"],
            "name": service["name"],
            "path": service["path"],
            "matchedField": _MATCHED_FIELD.get(choice.field, choice.field),
            "score": score,
        },
        template={
            "placeholders": {name: f"{{{name}}}" for name in placeholders},
            "rules": " ".join(f"{{{name}}}" for name in placeholders),
        },
    )


def _asks_for_agency(payload: Mapping[str, Any], service: Slot) -> bool:
    """Whether the message asks which agency is responsible for something that stands in the texts
    of the agency or of its nearest service: which service is meant does not matter then."""
    form = lexicon().for_an_agency
    text = fold(payload["user_prompt"])
    near = search_hints(payload).get("near_enough", True)
    if not near or form.search(text) is None:
        return False
    asked = topic(form.sub(" ", text))
    agency = payload["cached_state"]["agency_detect_v1"].get("agencyInfo", ())
    texts = [str(service.get(name, "")) for name in _SERVICE_WEIGHTS]
    texts += [f"{info['name']}\n{info.get('description', '')}" for info in agency]
    about = set(topic("\n".join(texts)))
    least = _ABOUT if "meaning" in service else _ABOUT_BY_WORDS
    return bool(asked) and sum(word in about for word in asked) >= least * len(asked)


def _most(payload: Mapping[str, Any], service: Slot) -> float:
    """Return the highest score that a service may have in this talk."""
    talk = payload["chat_context_summary"]
    if talk and only_complains(payload["user_prompt"]):
        return _COMPLAINT
    if not search_hints(payload).get("near_enough", True):
        return _DOUBTED
    if not may_not_go_on(payload):
        return 1.0
    if (service["agencyId"], service["serviceKey"]) != about_before(talk):
        return _UNSURE
    # Who corrects an answer, or narrows a question, mostly says some of its words again.
    named_anew = is_new_subject(payload) and service["own"] >= _AGAIN * payload["best_own"]
    return _UNSURE if named_anew else _DOUBTED


def _blank(service: Slot) -> Collection[str]:
    """Return the fields that a service has nothing in."""
    return tuple(_FIELDS) if service is _NO_SERVICE else service.get("blank", ())


def questions(payload: Mapping[str, Any]) -> list[Question]:
    """Return what is asked: the message as a whole and, on the high branch, each request in it."""
    whole = read_question(payload)
    if payload["cached_state"]["agency_detect_v1"]["complexity"] == "low":
        return [whole]
    return [whole, *(alone(words) for words, _ in requests(payload["user_prompt"]))]


def best_service(
    payload: Mapping[str, Any], services: Sequence[Slot], found: Iterable[Question]
) -> Choice:
    """Return the best of one or more ``services``, for that question which suits it best."""
    dictionary = {
        (entry["agencyId"], entry["key"]): f"{entry['value']}\n" + "\n".join(entry["keywords"])
        for entry in payload.get("KnowledgeBase_Dictionary", ())
    }

    def fields(service: Slot) -> dict[str, str]:
        keys = service.get("categories", ())
        about = [dictionary.get((service["agencyId"], key), key.replace("-", " ")) for key in keys]
        return {
            "name": service["name"],
            "overview": service.get("overview", ""),
            "applicability_summary": service.get("applicability_summary", ""),
            "categories": "\n".join(about),
        }

    parts = 1 if payload["cached_state"]["agency_detect_v1"]["complexity"] == "low" else _PARTS
    chosen = [
        choose(
            question,
            services,
            fields,
            _SERVICE_WEIGHTS,
            name="name",
            key="serviceKey",
            parts=parts,
        )
        for question in found
    ]
    return max(chosen, key=lambda choice: choice.score)


def _categories(slots: Sequence[Slot], found: Iterable[Question]) -> dict[str, Any]:
    """Return ``{key: {value, score}}``: the best that fit, or the one that comes closest."""
    scores: dict[str, float] = {}
    for question in found:
        for entry, matched in order(question, slots, _category_fields, _CATEGORY_WEIGHTS, "value"):
            score = relevance(matched, entry["rank"])
            scores[entry["key"]] = max(score, scores.get(entry["key"], 0.0))
    values = {entry["key"]: entry["value"] for entry in slots}
    best = sorted(scores, key=lambda key: -scores[key])[:MOST_CATEGORIES]
    selected = [key for key in best if scores[key] >= MINIMUM] or best[:1]
    return {key: {"value": values[key], "score": scores[key]} for key in selected}


def _category_fields(entry: Slot) -> dict[str, str]:
    return {"value": entry["value"], "keywords": "\n".join(entry.get("keywords", ()))}
