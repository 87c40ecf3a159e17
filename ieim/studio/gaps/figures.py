"""Figures of a period by service and by situation: what was asked, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.fields.json import KT

from conversations.models import Citation, Reply, ReplyOrigin
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.studio.models import Gap

Outcome = Gap.Outcome
_BADLY = {
    "asked_back": Count("pk", filter=Q(outcome__in=(Outcome.ASKED, Outcome.LEFT, Outcome.NONE))),
    "held": Count("pk", filter=Q(outcome__in=(Outcome.HELD, Outcome.STAFF))),
    "unanswered": Count("pk", filter=Q(turn__reply=None)),
}


@dataclass(slots=True)
class Figures:
    """Numbers of questions about a service or a situation; ``agency`` is empty of the latter.

    ``asked`` are the answered ones and those without an answer. Of the ``rated`` answers some are
    ``useful``. ``first`` is when the oldest answer was given that is still kept, None for none.
    """

    name: str
    agency: str
    asked: int = 0
    asked_back: int = 0
    rated: int = 0
    useful: int = 0
    first: datetime | None = None
    answered: int = 0
    held: int = 0


def by_service(user: User, since: datetime) -> list[Figures]:
    """Return the figures of the services of the user's agencies, those asked most first."""
    release, scope = knowledge.current_release(), agencies_of(user)
    answers, gaps = Citation.objects.all(), Gap.objects.exclude(service="")
    if scope is not None:
        answers, gaps = answers.filter(agency__in=scope), gaps.filter(group__agency__in=scope)

    def label(agency: str, key: str) -> tuple[str, str]:
        service = release.services.get((agency, key)) if release else None
        if release is None or service is None:
            return key, agency
        return service.name, release.agencies[agency].name

    badly = gaps.filter(asked_at__gte=since).order_by().values_list("group__agency", "service")
    return _figures(_answered(answers, since, "reply__", "agency", "service"), badly, label)


def by_situation(since: datetime) -> list[Figures]:
    """Return the figures of the situations whose checklist was open, those asked most first."""
    release = knowledge.current_release()

    def label(key: str) -> tuple[str, str]:
        situation = release.situations.get(key) if release else None
        return situation.name if situation else key, ""

    replies = Reply.objects.filter(body__situation__is_open=True)
    gaps = Gap.objects.exclude(situation="").filter(asked_at__gte=since)
    answered = _answered(replies.annotate(key=KT("body__situation__key")), since, "", "key")
    return _figures(answered, gaps.order_by().values_list("situation"), label)


def _answered(answers: QuerySet[Any], since: datetime, reply: str, *keys: str) -> QuerySet[Any]:
    """Return rows of ``keys`` and the numbers of :class:`Figures` up to ``first``."""
    recent = Q(**{f"{reply}created_at__gte": since})
    chosen = Q(**{f"{reply}origin": ReplyOrigin.CITIZEN_CHOICE})
    rows: QuerySet[Any] = answers.order_by().values_list(*keys)
    numbers = {
        "number": Count("pk", filter=recent),
        "chosen": Count("pk", filter=recent & chosen),
        "rated": Count("pk", filter=recent & Q(**{f"{reply}rating__isnull": False})),
        "useful": Count("pk", filter=recent & Q(**{f"{reply}rating__useful": True})),
        "first": Min(f"{reply}created_at"),
    }
    annotated: QuerySet[Any] = rows.annotate(**numbers)
    return annotated


def _figures(
    answered: QuerySet[Any], badly: QuerySet[Any], label: Callable[..., tuple[str, str]]
) -> list[Figures]:
    figures: dict[tuple[str, ...], Figures] = {}
    for *key, number, chosen, rated, useful, first in answered:
        figures[tuple(key)] = Figures(
            *label(*key), number, chosen, rated, useful, first, answered=number
        )
    for *key, asked_back, held, unanswered in badly.annotate(**_BADLY):
        row = figures.setdefault(tuple(key), Figures(*label(*key)))
        row.asked_back += asked_back
        row.held += held
        row.asked += unanswered
    rows = [row for row in figures.values() if row.asked]
    return sorted(rows, key=lambda row: (-row.asked, row.name))
