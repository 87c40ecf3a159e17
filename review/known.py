"""What is known of a turn when an item is opened: what the queue is filtered and sorted by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo

from django.conf import settings
from holidays import HolidayBase, country_holidays

from conversations.models import Stage, Turn
from conversations.states import DONE_STAGE_STATUSES
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.knowledge import Label
from review import due
from review.due import Calendar
from review.second import LABEL_SETS

AGENCY_STAGE = "agency_detect_v1"
_READ = (AGENCY_STAGE, "classify")


@dataclass(frozen=True, slots=True)
class Known:
    """An item's columns that follow from its turn.

    ``agency`` is set when exactly one was found. ``flags`` are the codes of its risk flags, each
    once; ``crisis`` says that one of them escalates.
    """

    agency: str
    urgency: str
    language: str
    flags: tuple[str, ...]
    crisis: bool


def of_turn(turn: Turn) -> Known:
    """Return what is known of a turn by now: triage may still be running."""
    done = [status.value for status in DONE_STAGE_STATUSES]
    rows = Stage.objects.filter(turn=turn, contract__in=_READ, status__in=done)
    stages = {stage.contract: stage for stage in rows.only("contract", "state_merge", "result")}
    classify = stages.get("classify")
    classified = (classify.result if classify else None) or {}
    flags = tuple(dict.fromkeys(risk["code"] for risk in turn.risks))
    return Known(
        agency=_agency(stages.get(AGENCY_STAGE)),
        urgency=classified.get("urgency", {}).get("label", ""),
        language=turn.language,
        flags=flags,
        crisis=any(label.escalates for label in _risk_labels(turn, flags)),
    )


def needs_second(known: Known, *, stage: str, agency: str) -> bool:
    """Return whether a second person has to agree: in a crisis, or where the deployment says so.

    ``IEIM_SECOND_OPINION`` names ``agencies``, whose items all need it, and ``label_sets``: items
    of the contract that gives their labels; for ``risk_flags`` every turn that has a flag.
    """
    wanted = settings.IEIM_SECOND_OPINION
    sets = frozenset(wanted["label_sets"])
    return (
        known.crisis
        or agency in wanted["agencies"]
        or not sets.isdisjoint(LABEL_SETS.get(stage, ()))
        or ("risk_flags" in sets and bool(known.flags))
    )


def due_at(turn: Turn, known: Known, *, priority: int, opened_at: datetime) -> datetime:
    """Return by when an item that was opened at ``opened_at`` should be decided."""
    urgencies: Mapping[str, Label] = {}
    if known.urgency or known.crisis:
        urgencies = knowledge.release(turn.release_number).labels.get("urgencies", {})
    wanted = due.target(
        urgency=known.urgency, priority=priority, crisis=known.crisis, urgencies=urgencies
    )
    hours, zone = settings.IEIM_BUSINESS_HOURS, settings.TIME_ZONE
    return due.due(opened_at, wanted, _calendar(zone, *hours, settings.IEIM_HOLIDAYS))


@cache
def _calendar(zone: str, opens: int, closes: int, place: str) -> Calendar:
    country, _, part = place.partition("-")
    days = country_holidays(country, subdiv=part or None) if country else HolidayBase()
    return Calendar(ZoneInfo(zone), opens, closes, days)


def _agency(stage: Stage | None) -> str:
    if stage is None or not stage.state_merge:
        return ""
    found = stage.state_merge[AGENCY_STAGE]["agencyInfo"]
    return found[0]["agencyId"] if len(found) == 1 else ""


def _risk_labels(turn: Turn, flags: tuple[str, ...]) -> list[Label]:
    if not flags:
        return []
    labels = knowledge.release(turn.release_number).labels.get("risk_flags", {})
    return [labels[code] for code in flags if code in labels]
