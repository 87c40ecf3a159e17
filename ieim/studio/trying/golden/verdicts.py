"""What a golden question's two outcomes say together.

An outcome is a JSON object: ``verdict`` (right, wrong, review or unlabelled), ``outcome``,
``agency``, ``service`` (names, empty where there is none), ``lead`` (how the reply begins),
``reply`` (its digest), ``parts`` (digests by heading), ``stage``, ``reason`` and ``codes`` where a
person gets the question.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from ieim.pipeline.canonical import digest
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.reply import Reply
from ieim.studio.evaluation.outcomes import CaseResult
from ieim.studio.trying.words import parts_of

Outcome = Mapping[str, Any]

KINDS: Mapping[str, str] = {
    "worse": gettext_noop("Get worse"),
    "review": gettext_noop("Move to review"),
    "better": gettext_noop("Get better"),
    "other": gettext_noop("Answered differently, as right or wrong as before"),
    "same": gettext_noop("Unchanged"),
}
"""The kinds of change, worst first."""

_LEAD_CHARS = 300


def outcome_of(result: CaseResult, release: Release) -> dict[str, Any]:
    """Return a case's result as an outcome; no word of the question is in it."""
    told = result.told
    agency, key = told.cited[0] if told.cited else told.service or ("", "")
    if not agency and len(told.agencies) == 1:
        (agency,) = told.agencies
    service = release.services.get((agency, key))
    return {
        "verdict": result.verdict,
        "outcome": told.outcome,
        "agency": release.agencies[agency].name if agency in release.agencies else agency,
        "service": service.name if service else key,
        "lead": "" if told.reply is None else _lead(told.reply),
        "reply": "" if told.reply is None else digest(told.reply.as_dict()),
        "parts": {} if told.reply is None else _parts(told.reply),
        "stage": told.stage,
        "reason": told.reason,
        "codes": list(told.codes),
    }


def _lead(said: Reply) -> str:
    opened = (item for section in said.sections if not section.folded for item in section.items)
    text = said.lead or next(iter(said.paragraphs), None) or next(opened, said.title)
    return text if len(text) <= _LEAD_CHARS else f"{text[:_LEAD_CHARS]} …"


def _parts(said: Reply) -> dict[str, str]:
    return {heading: digest(text)[:16] for heading, text in parts_of(said) if text}


def differs(before: Outcome | None, after: Outcome) -> list[str]:
    """Return the headings of the parts that only one reply has or that read differently.

    Empty where one side has no reply: there is nothing to compare.
    """
    if before is None or not before["parts"] or not after["parts"]:
        return []
    old, new = before["parts"], after["parts"]
    return [part for part in dict.fromkeys([*old, *new]) if old.get(part) != new.get(part)]


def kind_of(before: Outcome | None, after: Outcome) -> str:
    """Return the kind of change; None before the first release: it counts as nothing answered."""
    old, new = "review" if before is None else before["verdict"], after["verdict"]
    if old == new:
        same = before is None or before["reply"] == after["reply"]
        return "same" if same else "other"
    if new == "review":
        return "review"
    if new == "unlabelled":
        return "other"
    return "better" if new == "right" else "worse"


def is_loss(before: Outcome | None, after: Outcome) -> bool:
    """Whether somebody has to say why this is published all the same.

    It was right and is not any more; or a person had it, and now the citizen gets a wrong answer.
    """
    if before is None:
        return False
    change = (before["verdict"], after["verdict"])
    return change in {("right", "wrong"), ("right", "review"), ("review", "wrong")}
