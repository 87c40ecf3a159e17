"""Compare two outcomes of a question: how its verdict changed, and which parts of the reply.

An outcome is a JSON object, stored with a run of the golden questions: ``verdict`` (right, wrong,
review or unlabelled), ``outcome``, ``agency``, ``service`` (names, empty where there is none),
``lead`` (the beginning of the reply), ``reply`` (its digest), ``parts`` (digests by heading),
``stage``, ``reason`` and ``codes`` where a person gets the question. Headings are stored
untranslated. ``unsaid``: the service's entry does not say what was asked, which is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_noop

from ieim.knowledge.headings import HEADINGS
from ieim.pipeline.canonical import digest
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.cards import Section
from ieim.pipeline.reply.reply import Reply
from ieim.studio.evaluation.outcomes import CaseResult

Outcome = Mapping[str, Any]

KINDS: Mapping[str, str] = {
    "worse": gettext_noop("Get worse"),
    "review": gettext_noop("Move to review"),
    "better": gettext_noop("Get better"),
    "other": gettext_noop("Answered differently, as right or wrong as before"),
    "same": gettext_noop("Unchanged"),
}
"""The kinds of change, worst first."""

_LOSSES = {("right", "wrong"), ("right", "review"), ("review", "wrong")}
_LEAD_CHARS = 300


def outcome_of(result: CaseResult, release: Release) -> dict[str, Any]:
    """Return a case's result as an outcome; it holds none of the citizen's words."""
    turn, reply = result.turn, result.turn.reply
    agency, key = turn.cited[0] if turn.cited else turn.service or ("", "")
    if not agency and len(turn.agencies) == 1:
        (agency,) = turn.agencies
    service = release.services.get((agency, key))
    parts = {} if reply is None else reply_parts(reply)
    unsaid = reply is not None and reply.unsaid
    return {
        "verdict": "wrong" if unsaid else result.verdict,
        "unsaid": unsaid,
        "outcome": turn.outcome,
        "agency": release.agencies[agency].name if agency in release.agencies else agency,
        "service": service.name if service else key,
        "lead": "" if reply is None else _lead(reply),
        "reply": "" if reply is None else digest(reply.as_dict()),
        "parts": {heading: digest(text)[:16] for heading, text in parts.items() if text},
        "stage": turn.stage,
        "reason": turn.reason,
        "codes": list(turn.codes),
    }


def _lead(reply: Reply) -> str:
    unfolded = (item for section in reply.sections if not section.folded for item in section.items)
    text = reply.lead or next(iter(reply.paragraphs), None) or next(unfolded, reply.title)
    return text if len(text) <= _LEAD_CHARS else f"{text[:_LEAD_CHARS]} …"


def reply_parts(reply: Reply) -> dict[str, str]:
    """Return the texts of a reply by their headings, empty ones too."""
    parts = {
        gettext_noop("Title"): reply.title,
        gettext_noop("What to do first"): reply.lead,
        gettext_noop("Text"): "\n".join(reply.paragraphs),
        **dict(_sections("", reply.sections)),
    }
    for card in reply.cards:
        parts |= {f"{card.title}: what to do first": card.lead}
        parts |= dict(_sections(f"{card.title}: ", card.sections))
    return parts


def _sections(prefix: str, sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    for section in sections:
        heading = HEADINGS.get(section.field, section.field.replace("_", " ").capitalize())
        yield f"{prefix}{heading}", "\n".join(section.items)


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the headings of two replies' parts that differ or that only one has."""
    return [
        heading
        for heading in dict.fromkeys([*before, *after])
        if before.get(heading, "") != after.get(heading, "")
    ]


def verdict_change(before: str, after: str) -> str:
    """Return how a verdict changed, one of :data:`KINDS`."""
    if before == after:
        return "same"
    if "not_run" in (before, after) or after == "unlabelled":
        return "other"
    return {"right": "better", "wrong": "worse", "review": "review"}[after]


def compare_outcomes(before: Outcome | None, after: Outcome) -> dict[str, Any]:
    """Return the ``kind`` of change, whether it is a ``loss``, and the headings that differ.

    ``before`` is None before the first release, which counts as a review. Publishing needs a
    written reason for a loss: the outcome was right and is no longer, or a person had the question
    and now the citizen gets a wrong answer.
    """
    if before is None:
        return {"kind": verdict_change("review", after["verdict"]), "loss": False, "differs": []}
    kind = verdict_change(before["verdict"], after["verdict"])
    if kind == "same" and before["reply"] != after["reply"]:
        kind = "other"
    both_replied = before["parts"] and after["parts"]
    return {
        "kind": kind,
        "loss": (before["verdict"], after["verdict"]) in _LOSSES,
        "differs": changed_parts(before["parts"], after["parts"]) if both_replied else [],
    }
