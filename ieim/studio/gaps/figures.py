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

Label = tuple[str, str]
"""Name of a service or a situation, and that of its agency, if any."""

_ASKED_BACK = Q(outcome__in=(Gap.Outcome.ASKED, Gap.Outcome.LEFT, Gap.Outcome.NONE))
_HELD = Q(outcome__in=(Gap.Outcome.HELD, Gap.Outcome.STAFF))


@dataclass(slots=True)
class Figures:
    """Numbers of questions about a service or a situation.

    ``asked`` are the answered ones and those without an answer. Of the ``rated`` answers some are
    ``useful``. ``first`` is when the oldest answer was given that is still kept, None for none.
    """

    label: Label
    answered: int = 0
    asked_back: int = 0
    rated: int = 0
    useful: int = 0
    first: datetime | None = None
    held: int = 0
    asked: int = 0


def by_service(user: User, since: datetime) -> list[Figures]:
    """Return the figures of the services of the user's agencies, those asked most first."""
    release, scope = knowledge.current_release(), agencies_of(user)
    answers, gaps = Citation.objects.all(), Gap.objects.exclude(service="")
    if scope is not None:
        answers, gaps = answers.filter(agency__in=scope), gaps.filter(group__agency__in=scope)

    def label(agency: str, key: str) -> Label:
        service = release.services.get((agency, key)) if release else None
        return (
            (service.name, release.agencies[agency].name) if release and service else (key, agency)
        )

    answered = _answered(answers, since, "reply__", "agency", "service")
    return _figures(answered, _badly(gaps, since, "group__agency", "service"), label)


def by_situation(since: datetime) -> list[Figures]:
    """Return the figures of the situations whose checklist was open, those asked most first."""
    release = knowledge.current_release()

    def label(key: str) -> Label:
        situation = release.situations.get(key) if release else None
        return situation.name if situation else key, ""

    replies = Reply.objects.filter(body__situation__is_open=True)
    answered = _answered(replies.annotate(key=KT("body__situation__key")), since, "", "key")
    gaps = Gap.objects.exclude(situation="")
    return _figures(answered, _badly(gaps, since, "situation"), label)


def _answered(answers: QuerySet[Any], since: datetime, reply: str, *keys: str) -> QuerySet[Any]:
    """Return rows of ``keys`` and the numbers of :class:`Figures` up to ``first``."""
    recent = Q(**{f"{reply}created_at__gte": since})
    chosen = Q(**{f"{reply}origin": ReplyOrigin.CITIZEN_CHOICE})
    rows: QuerySet[Any] = answers.order_by().values_list(*keys)
    rows = rows.annotate(
        number=Count("pk", filter=recent),
        chosen=Count("pk", filter=recent & chosen),
        rated=Count("pk", filter=recent & Q(**{f"{reply}rating__isnull": False})),
        useful=Count("pk", filter=recent & Q(**{f"{reply}rating__useful": True})),
        first=Min(f"{reply}created_at"),
    )
    return rows


def _badly(gaps: QuerySet[Gap], since: datetime, *keys: str) -> QuerySet[Any]:
    """Return rows of ``keys`` and the numbers asked back, held, and without an answer."""
    rows = gaps.filter(asked_at__gte=since).order_by().values_list(*keys)
    return rows.annotate(
        asked_back=Count("pk", filter=_ASKED_BACK),
        held=Count("pk", filter=_HELD),
        unanswered=Count("pk", filter=Q(turn__reply=None)),
    )


def _figures(
    answered: QuerySet[Any], badly: QuerySet[Any], label: Callable[..., Label]
) -> list[Figures]:
    figures: dict[tuple[str, ...], Figures] = {}
    for *key, number, chosen, rated, useful, first in answered:
        figures[tuple(key)] = Figures(
            label(*key), number, chosen, rated, useful, first, asked=number
        )
    for *key, asked_back, held, unanswered in badly:
        row = figures.setdefault(tuple(key), Figures(label(*key)))
        row.asked_back += asked_back
        row.held += held
        row.asked += unanswered
    rows = [row for row in figures.values() if row.asked]
    return sorted(rows, key=lambda row: (-row.asked, row.label))
