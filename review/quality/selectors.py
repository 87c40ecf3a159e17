"""Who may read which answer, what it says, and what was said of people's own answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Case, Count, Exists, Max, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from conversations.chat.reply_presenters import SourceView
from conversations.chat.reply_views import reply_view
from conversations.models import Citation, Reply, Takeover
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.sentences import sentences
from review.deciding.signing import PROPOSALS
from review.metrics.selectors import WITHOUT_A_PERSON, Period
from review.metrics.services import AFTER_MIDNIGHT
from review.models import Decision, Reading, ReviewItem, SignOff
from review.quality.models import SKIPPED, Score
from review.scope import TRIAGE, visible

LEASE: Final = timedelta(hours=2)
"""So long an answer is its reader's; then somebody else may have it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or fact of an answer with its source, in ``language``; ``url`` may be empty."""

    text: str
    source: str
    url: str
    language: str


def statements(reply: Reply) -> Sequence[Statement]:
    """Return what the citizen read, in the order of the scores; for ever the same of one reply."""
    view = reply_view(reply, reply.turn)
    every = SourceView(", ".join(s.service or s.agency for s in view.sources), "", "")
    source = view.sources[0] if len(view.sources) == 1 else every
    parts: list[tuple[Any, SourceView, str]] = [(view, source, "")]
    parts += [(card, card.source, "") for card in view.cards]
    steps = view.situation.steps if view.situation else ()
    parts += [(step.card, step.card.source, step.condition) for step in steps]
    result = []
    for part, source, condition in parts:
        free = [
            t[start:end] for t in getattr(part, "paragraphs", ()) for start, end in sentences(t)
        ]
        facts = ["\n".join([f"{fact.heading}:", *fact.items]) for fact in part.facts]
        name = source.service or source.agency
        texts = filter(None, (part.title, condition, part.deadline, part.lead, *free, *facts))
        result += [Statement(text, name, source.url, view.language) for text in texts]
    return result


def readings_of(user: User) -> QuerySet[Reading]:
    """Return the readings of a user's agencies, but of answers that they had a part in.

    Where there are items, those of the answer say whose it is, else its sources.
    """
    turn, scope = OuterRef("reply__turn"), agencies_of(user)
    items, condition = ReviewItem.objects.filter(turn=turn), Q()
    if scope is not None:
        cited = Citation.objects.filter(reply=OuterRef("reply"))
        condition = Q(Exists(cited.filter(agency__in=scope)))
        if user.has_perm(TRIAGE):
            condition |= Q(~Exists(cited))
        condition = Q(Exists(items.filter(pk__in=visible(user)))) | (Q(~Exists(items)) & condition)
    return Reading.objects.filter(condition).exclude(
        Exists(Decision.objects.filter(item__turn=turn, actor=user))
        | Exists(SignOff.recorded.filter(item__turn=turn, by=user))
        | Exists(items.filter(claimed_by=user))
        | Exists(Takeover.objects.filter(session=OuterRef("reply__turn__session"), by=user))
    )


def readable(user: User) -> QuerySet[Reading]:
    """Return the readings that a user may have now: the one that they are at, then the oldest."""
    free = Q(reader=None) | Q(reader=user) | Q(taken_at__lte=timezone.now() - LEASE)
    same = Reading.objects.filter(reply=OuterRef("reply"), reader=user).exclude(pk=OuterRef("pk"))
    rows = readings_of(user).filter(free, verdict="").exclude(Exists(same))
    own_first = Case(When(reader=user, then=Value(0)), default=Value(1))
    return rows.order_by(own_first, "created_at", "pk")


def open_day(now: datetime) -> date:
    """Return the day whose answers are drawn from at the next draw, :data:`AFTER_MIDNIGHT`."""
    return timezone.localdate(now - AFTER_MIDNIGHT, timezone.get_default_timezone())


def waiting(user: User, now: datetime) -> dict[str, Any]:
    """Return how many readings wait for a user (``left``), how many of the last ``day`` that was
    drawn from they may read (``drawn``) and somebody has ``read``, and the ``next`` draw, None
    where the settings ask for none."""
    rows = readings_of(user).exclude(day=None).exclude(verdict=SKIPPED)
    day, today = rows.aggregate(day=Max("day"))["day"], open_day(now)
    is_read = Count("pk", filter=Q(verdict__in=Score.values))
    return {
        "left": readable(user).count(),
        "day": day,
        **rows.filter(day=day).aggregate(drawn=Count("pk"), read=is_read),
        "next": Period(today, today).midnights[-1] + AFTER_MIDNIGHT
        if settings.IEIM_SAMPLES
        else None,
    }


def taken(reading_id: UUID, user: User) -> Reading:
    """Return a reading that a user is at. Raises ``Reading.DoesNotExist``."""
    rows = readings_of(user).select_related("reply__turn__session")
    return rows.get(pk=reading_id, reader=user, verdict="")


def own_answers(user: User) -> QuerySet[Reply]:
    """Return the answers that a user decided and of which somebody said something, newest first."""
    actions = [action.value for action in PROPOSALS]
    decided = Decision.objects.filter(item__turn=OuterRef("turn"), actor=user, action__in=actions)
    read = Exists(Reading.objects.filter(reply=OuterRef("pk"), verdict__in=Score.values))
    rows = Reply.objects.filter(read | Q(rating__isnull=False) | Q(feedback__isnull=False))
    rows = rows.filter(Exists(decided)).exclude(origin__in=WITHOUT_A_PERSON)
    rows = rows.select_related("turn__session", "rating", "feedback").order_by("-created_at", "-pk")
    return rows.prefetch_related("readings")


def own_answer(reply: Reply) -> dict[str, Any]:
    """Return one's own answer with what was said of it; readers have no names."""
    done = [reading for reading in reply.readings.all() if reading.verdict in Score.values]
    texts = [statement.text for statement in statements(reply)] if done else []
    return {
        "reply": reply,
        "turn": reply.turn,
        "answer": reply.body.get("title") or " ".join(reply.body["paragraphs"]),
        "useful": reply.useful,
        "feedback": getattr(reply, "feedback", None),
        "readings": [
            {
                "verdict": reading.verdict,
                "label": Score(reading.verdict).label,
                "faults": [
                    {"score": score, "label": Score(score).label, "text": text}
                    for text, score in zip(texts, reading.scores, strict=True)
                    if score != Score.RIGHT
                ],
                "remark": reading.remark,
            }
            for reading in done
        ],
    }
