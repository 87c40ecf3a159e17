"""Candidates as a stage is given them: enough to choose from, and nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ieim.pipeline.knowledge import Category, Service
from ieim.pipeline.ports import Ranked
from ieim.pipeline.sentences import sentences
from ieim.pipeline.stages.base import Context, Inputs


def agency_names(context: Context, ids: Iterable[str]) -> list[dict[str, str]]:
    """Return the agencies of these ids as ``[{agencyId, name}]``."""
    agencies = context.release.agencies
    return [{"agencyId": a, "name": agencies[a].name} for a in ids if a in agencies]


def dictionary_slot(inputs: Inputs) -> list[dict[str, Any]]:
    """Return ``KnowledgeBase_Dictionary``: the ranked entries of the detected agencies, those of
    each agency on their own, so that none is crowded out.

    An agency with few entries has all of them there, any other those of its best services too,
    which have no keywords: who writes in other words than the dictionary's has the right one far
    down.
    """
    agencies = inputs.context.detected
    limit = max(LEAST_CATEGORIES, inputs.limits["categories"] // max(1, len(agencies)))
    slots = []
    for agency in agencies:
        ranked = inputs.ranking_of(agency).categories(agencies=[agency], limit=FEW + 1)
        small = len(ranked) <= FEW
        offered = ranked if small else _with_services(inputs, agency, ranked[:limit])
        of = {"agencyId": agency} if len(agencies) > 1 else {}
        slots += [of | _entry(r, whole=small or i < limit) for i, r in enumerate(offered)]
    return slots


def _with_services(
    inputs: Inputs, agency: str, ranked: Sequence[Ranked[Category]]
) -> list[Ranked[Category]]:
    """Return ``ranked`` and behind them the entries of the agency's best services."""
    limit = inputs.limits["services"]
    best = inputs.ranking_of(agency).services(agencies=[agency], limit=limit)
    keys = dict.fromkeys((agency, key) for hit in best for key in hit.item.categories)
    ranked_keys = {(hit.item.agency, hit.item.key) for hit in ranked}
    categories = inputs.context.release.categories
    more = [categories[key] for key in keys if key in categories and key not in ranked_keys]
    return [
        *ranked,
        *(Ranked(hit, rank, 0.0) for rank, hit in enumerate(more, len(ranked) + 1)),
    ]


def _entry(ranked: Ranked[Category], *, whole: bool) -> dict[str, Any]:
    entry = ranked.item
    keywords = {"keywords": list(entry.keywords)} if whole and entry.keywords else {}
    return {"key": entry.key, "value": entry.value, **keywords, "rank": ranked.rank}


def with_agencies(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request's payload for people: each topic with its agency, which a model is given
    once where only one was found."""
    detected = payload.get("cached_state", {}).get("agency_detect_v1", {}).get("agencyDetected", ())
    alone = detected[0] if detected else ""
    topics = payload.get("KnowledgeBase_Dictionary", ())
    named = {"KnowledgeBase_Dictionary": [{"agencyId": alone, **topic} for topic in topics]}
    return {**payload, **(named if topics else {})}


def dictionary_keys(payload: Mapping[str, Any]) -> list[str]:
    """Return the keys of ``KnowledgeBase_Dictionary``, for the schema sent to the server."""
    return [entry["key"] for entry in payload["KnowledgeBase_Dictionary"]]


LEAST_CATEGORIES = 4
"""So many entries of each agency are offered at least."""

FEW = 12
"""An agency that has at most so many entries has all of them offered."""

LONGEST_SUMMARY = 160
"""Characters of a text by which a service is chosen; one that is answered from is never cut."""

SUMMARY_FIELDS = ("name", "path", "overview", "applicability_summary")
DETAIL_FIELDS = (
    "requirements",
    "fees",
    "processing_time",
    "how_to_apply",
    "contact",
    "url",
)


def service_slot(ranked: Ranked[Service], *, detail: bool) -> dict[str, Any]:
    """Return one candidate of ``service_index``; ``detail`` adds the fields of an answer.

    Without ``detail`` blank fields and what repeats the name are left out, and long texts cut: they
    only help to choose. ``fields`` are then the others that have a text, figures with theirs.
    """
    service = ranked.item
    slot: dict[str, Any] = {"agencyId": service.agency, "serviceKey": service.key}
    names = SUMMARY_FIELDS + DETAIL_FIELDS if detail else SUMMARY_FIELDS
    for name in names:
        value = getattr(service, name)
        if not detail and name not in ("name", "path"):
            if not value or value == service.name:
                continue
            value = cut_at_sentence(value, LONGEST_SUMMARY)
        slot[name] = list(value) if isinstance(value, tuple) else value
    if not detail:
        texts = (_field(service, name) for name in FIELDS if getattr(service, name))
        slot["fields"] = "; ".join(texts)
    return slot | {"rank": ranked.rank}


FIELDS = ("requirements", "fees", "processing_time", "deadline_days", "how_to_apply", "contact")
FIGURES = frozenset({"fees", "processing_time", "deadline_days"})
LONGEST_FIGURES = 30
"""Characters of a field that says how much or how long."""


def _field(service: Service, name: str) -> str:
    """Return the name of a field, with the beginning of its text where that has figures."""
    return f"{name}: {cut(getattr(service, name), LONGEST_FIGURES)}" if name in FIGURES else name


_MOST_KEYWORDS = 3
"""So many of the words that only show what a topic is about, of the :data:`_BEST` ones."""
SMALL_DICTIONARY = 30
"""A dictionary with at most so many keywords has all of them sent."""
_BEST = 3
_SUMMARIES = frozenset({"overview", "applicability_summary"})
BRIEF_SUMMARY = 100
LONGEST_SENTENCE = 300
"""Characters: the first sentence of a summary is whole up to here."""
LONGEST_WORD = 40
"""Characters: what has no space for so long is in a script without them, and is cut anywhere."""


def in_brief(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the candidates of a slot as a model is given them: with the beginning of what is only
    to choose by."""
    keywords = sum(len(candidate.get("keywords", ())) for candidate in candidates)
    small = keywords <= SMALL_DICTIONARY
    return [_brief(candidate, small=small) for candidate in candidates]


def _brief(candidate: Mapping[str, Any], *, small: bool) -> dict[str, Any]:
    brief = dict(candidate)
    if "keywords" in brief and not small:
        brief["keywords"] = brief["keywords"][: _MOST_KEYWORDS if brief["rank"] <= _BEST else 0]
    if "requirements" not in brief:  # what is answered from is never cut
        if brief.get("rank", 1) > _BEST:
            brief.pop("overview", None)  # its name and whom it is for have to do
        summaries = _SUMMARIES & brief.keys()
        brief |= {name: cut_at_sentence(brief[name], BRIEF_SUMMARY) for name in summaries}
    return {name: value for name, value in brief.items() if name != "keywords" or value}


def cut_at_sentence(text: str, longest: int) -> str:
    """Return the first sentences of ``text``, at most ``longest`` characters, with a "…" behind
    where others are left out. The first is whole up to :data:`LONGEST_SENTENCE`; a longer one is
    cut after a word."""
    ends = [sentence.end for sentence in sentences(text)]
    if len(text) <= longest or not ends:
        return cut(text, longest)
    end = max((end for end in ends if end <= longest), default=ends[0])
    if end > LONGEST_SENTENCE:
        return cut(text, longest)
    return text if end == ends[-1] else f"{text[:end]} …"


def cut(text: str, longest: int) -> str:
    """Return ``text``, cut after a word so that it is at most ``longest`` characters with the "…"
    that then ends it."""
    if len(text) <= longest:
        return text
    beginning = text[: longest - 1]
    words = beginning if text[longest - 1].isspace() else beginning.rpartition(" ")[0]
    spaced = words and len(beginning) - len(words) <= LONGEST_WORD
    return f"{words.rstrip() if spaced else beginning}…"
