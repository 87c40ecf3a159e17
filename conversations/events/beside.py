"""What is told of a turn whatever has been told of it: corrections, and what a person writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from conversations.api.reply_serializers import CorrectionSerializer
from conversations.chat.presenters import CorrectionView
from conversations.models import Correction, SessionEvent, Turn
from conversations.person.selectors import line_views
from conversations.person.serializers import LineSerializer


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to tell once: ``key`` is its name within the session."""

    key: str
    kind: str
    body: Mapping[str, Any]


def untold(session_id: UUID) -> list[tuple[Turn | None, Fact]]:
    """Return the corrections and the lines of a takeover that nobody has told yet."""
    found = [*_corrections(session_id), *_lines(session_id)]
    events = SessionEvent.objects.filter(session_id=session_id, kind__in=("correction", "line"))
    told = set(events.values_list("key", flat=True)) if found else set()
    return [(turn, fact) for turn, fact in found if fact.key not in told]


def _corrections(session_id: UUID) -> list[tuple[Turn | None, Fact]]:
    sent = Correction.objects.filter(session_id=session_id).select_related("turn", "notice")
    return [(each.turn, _correction(each)) for each in sent]


def _correction(sent: Correction) -> Fact:
    view = CorrectionView(sent.notice.text, sent.created_at)
    body = {"correction": CorrectionSerializer(view).data}
    return Fact(f"{sent.turn.number}:correction:{sent.pk}", "correction", body)


def _lines(session_id: UUID) -> list[tuple[Turn | None, Fact]]:
    lines = line_views(session_id)
    if not lines:
        return []
    turns = {turn.number: turn for turn in Turn.objects.filter(session_id=session_id)}
    return [
        (
            turns.get(line.after),
            Fact(f"line:{line.pk}", "line", {"line": dict(LineSerializer(view).data)}),
        )
        for line, view in lines
    ]
