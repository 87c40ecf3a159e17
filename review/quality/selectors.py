"""Who may read which sample, what it says, and what readers said of people's own answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from conversations.chat.reply_presenters import CardView, FactView, SourceView
from conversations.chat.reply_views import reply_view
from conversations.models import Reply
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.sentences import sentences
from review.deciding.signing import PROPOSALS
from review.metrics.selectors import WITHOUT_A_PERSON
from review.models import Decision, Reading, ReviewItem, Sample, SignOff
from review.quality.models import Score
from review.scope import TRIAGE, visible

LEASE: Final = timedelta(minutes=30)
"""So long an answer is its reader's; then somebody else may have it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer, or a fact of it, with its source as the citizen read them.

    ``url`` is empty where no page is linked, ``language`` as in ``lang`` of HTML.
    """

    text: str
    source: str
    url: str
    language: str


def statements(reply: Reply) -> Sequence[Statement]:
    """Return what an answer says in the order of its scores; the same for ever of one reply."""
    view = reply_view(reply, reply.turn)
    one = view.sources[0] if len(view.sources) == 1 else None
    source = one or SourceView(", ".join(s.service or s.agency for s in view.sources), "", "")

    def said(text: str, source: SourceView) -> Statement:
        return Statement(text, source.service or source.agency, source.url, view.language)

    def facts(facts: Sequence[FactView], source: SourceView) -> Iterator[Statement]:
        texts = ("\n".join([f"{fact.heading}:", *fact.items]) for fact in facts)
        return (said(text, source) for text in texts)

    def card(card: CardView, condition: str = "") -> Iterator[Statement]:
        title = f"{card.title}: {condition}" if condition else card.title
        yield from (said(t, card.source) for t in (title, card.lead, card.deadline) if t)
        yield from facts(card.facts, card.source)

    result = [said(text, source) for text in (view.title, view.deadline, view.lead) if text]
    for text in view.paragraphs:
        result += [said(text[start:end], source) for start, end in sentences(text)]
    result += facts(view.facts, source)
    for shown in view.cards:
        result += card(shown)
    for step in view.situation.steps if view.situation else ():
        result += card(step.card, step.condition)
    return result or [said(reply.body["kind"], source)]


def samples_of(user: User) -> QuerySet[Sample]:
    """Return the samples of a user's agencies, but for answers that they had a part in.

    Where there are items, those of the answer say whose it is, else its sources.
    """
    turn, scope = OuterRef("reply__turn"), agencies_of(user)
    items, condition = ReviewItem.objects.filter(turn=turn), Q()
    if scope is not None:
        of_sources = Q(reply__citations__agency__in=scope)
        if user.has_perm(TRIAGE):
            of_sources |= Q(reply__citations=None)
        by_source = Q(pk__in=Sample.objects.filter(of_sources).values("pk"))
        condition = Q(Exists(items.filter(pk__in=visible(user)))) | (~Exists(items) & by_source)
    had_a_part = (
        Q(added_by=user)
        | Exists(Decision.objects.filter(item__turn=turn, actor=user))
        | Exists(SignOff.recorded.filter(item__turn=turn, by=user))
        | Exists(items.filter(claimed_by=user))
    )
    return Sample.objects.filter(condition).exclude(had_a_part)


def readable(user: User) -> QuerySet[Sample]:
    """Return the samples that a user may read now: the one that they are at, then the oldest."""
    since = timezone.now() - LEASE
    others = Q(readings__verdict__in=Score.values) | Q(
        readings__verdict="", readings__taken_at__gt=since
    )
    rows = samples_of(user).annotate(
        taken=Count("readings", filter=others & ~Q(readings__reader=user)),
        at=Exists(Reading.objects.filter(sample=OuterRef("pk"), reader=user, verdict="")),
    )
    own = Reading.objects.filter(sample=OuterRef("pk"), reader=user).exclude(verdict="")
    rows = rows.filter(taken__lt=F("wanted")).exclude(Exists(own))
    return rows.order_by("-at", "created_at", "pk")


def taken(sample_id: UUID, user: User) -> Reading:
    """Return a user's unfinished reading. Raises ``Reading.DoesNotExist``, also for a sample that
    they may not see any more."""
    readings = Reading.objects.select_related("sample__reply__turn__session")
    return readings.get(sample=sample_id, sample__in=samples_of(user), reader=user, verdict="")


def own_answers(user: User) -> QuerySet[Reply]:
    """Return the answers that a user decided and of which somebody has said something, the newest
    first, with their feedback and readings."""
    decided = Decision.objects.filter(
        item__turn=OuterRef("turn"), actor=user, action__in=[a.value for a in PROPOSALS]
    )
    rows = Reply.objects.exclude(origin__in=WITHOUT_A_PERSON).filter(Exists(decided))
    read = Reading.objects.filter(sample__reply=OuterRef("pk"), verdict__in=Score.values)
    rows = rows.filter(Exists(read) | Q(rating__isnull=False) | Q(feedback__isnull=False))
    related = rows.select_related("turn__session", "rating", "feedback")
    return related.prefetch_related("sample__readings").order_by("-created_at", "-pk")


def own_answer(reply: Reply) -> dict[str, Any]:
    """Return a row of one's own answers: readings without the names of their readers."""
    readings = reply.sample.readings.all() if hasattr(reply, "sample") else ()
    done = [reading for reading in readings if reading.verdict in Score.values]
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
                    {"text": text, "score": score, "label": Score(score).label}
                    for text, score in zip(texts, reading.scores, strict=True)
                    if score != Score.RIGHT
                ],
                "remark": reading.remark,
            }
            for reading in done
        ],
    }
