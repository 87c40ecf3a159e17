"""The worker's part: reading turns into gaps, and measuring the groups by the current release."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db import transaction
from django.db.models import Case, CharField, F, Min, Model, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from conversations import ports
from conversations.citations import version
from conversations.models import Citation, Rating, Reply, ReplyOrigin, Turn
from conversations.queueing import queue_after_commit
from conversations.states import TurnState
from conversations.turns.models import ChoiceOutcome
from ieim.knowledge import selectors as knowledge
from ieim.knowledge import vectors
from ieim.llm.engine.thresholds import SURE_ENOUGH
from ieim.pipeline.choosing import near
from ieim.pipeline.knowledge import Release
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import EmbedderUnavailable, Query, Ranking
from ieim.pipeline.stages.base import OUTSIDE
from ieim.search.ranking import LONGEST_MESSAGE
from ieim.studio.gaps.grouping import Leader, nearest
from ieim.studio.models import Gap, GapGroup

COLLECT: Final = "ieim.studio.tasks.collect_gaps"
EVERY: Final = 300
"""Seconds between two looks at the turns."""
SOON: Final = 5
"""Seconds from a bad ending to the look at it, and at the others until then."""
_SOON_KEY: Final = "ieim.gaps.soon"
_LOOKED_KEY: Final = "ieim.gaps.looked"
WINDOW: Final = timedelta(days=28)
"""How long after it was asked a question is looked at again: it may be rated or answered late."""
RECENT: Final = timedelta(days=3)
"""How long ago something happened to it at most: workers may be away for a while."""
BATCH: Final = 200
"""Questions, and groups, of one task: citizens' turns wait for the same workers."""

BAD_ANSWERS = (Gap.Outcome.NOT_USEFUL, Gap.Outcome.REPLACED, Gap.Outcome.UNSAID)
"""Outcomes of questions that were answered: the same answer again is no repair."""
_BY_PERSON = (ReplyOrigin.STAFF, ReplyOrigin.STAFF_OVERRIDE)
_OUTCOME = Case(
    When(reply__rating__useful=False, then=Value(Gap.Outcome.NOT_USEFUL.value)),
    When(replaced__isnull=False, then=Value(Gap.Outcome.REPLACED.value)),
    When(choice__outcome=ChoiceOutcome.NONE, then=Value(Gap.Outcome.NONE.value)),
    When(
        choice__outcome__in=(ChoiceOutcome.EXPIRED, ChoiceOutcome.REPLACED),
        then=Value(Gap.Outcome.LEFT.value),
    ),
    When(reply__origin__in=_BY_PERSON, then=Value(Gap.Outcome.STAFF.value)),
    When(reply__body__kind="outside", then=Value(Gap.Outcome.OUTSIDE.value)),
    When(reply__body__unsaid=True, then=Value(Gap.Outcome.UNSAID.value)),
    When(
        Q(state=TurnState.NEEDS_REVIEW.value) | Q(reply__origin=ReplyOrigin.MODEL_APPROVED),
        then=Value(Gap.Outcome.HELD.value),
    ),
    When(state=TurnState.ASKING.value, then=Value(Gap.Outcome.ASKED.value)),
    default=Value(""),
    output_field=CharField(),
)


def sweep(*, at_start: bool) -> None:
    """Queue a look at the turns where the last one is :data:`EVERY` seconds ago."""
    if cache.add("ieim.gaps.swept", True, EVERY) or at_start:
        queue_after_commit(COLLECT)


def after_ending(*, instance: Model, **_signal: Any) -> None:
    """Queue a look where what was just stored is a bad ending, once for those near in time."""
    match instance:
        case Rating(useful=True):
            return
        case Reply(body=body) if body.get("kind") != "outside" and not body.get("unsaid"):
            return
    # Robust: without the cache the sweep looks, and the citizen's turn goes on.
    transaction.on_commit(_look_soon, robust=True)


def _look_soon() -> None:
    if cache.add(_SOON_KEY, True, SOON):
        queue_after_commit(COLLECT, countdown=SOON)


def looked_at() -> datetime | None:
    """Return when the turns were last looked at, None where that is not known."""
    looked: datetime | None = cache.get(_LOOKED_KEY)
    return looked


def collect() -> None:
    """Bring gaps and groups up to date; queue another task where there is more to do."""
    release = knowledge.current_release()
    if release is None:
        return
    now = timezone.now()
    # Signs of danger may be found late, or a decision be asked for anew.
    decided = ports.reviews().decided_turns()
    _delete(Gap.objects.exclude(turn__risks=[]).exclude(turn__in=decided))
    turns = list(_changed(now)[:BATCH])
    _store(turns, release)
    GapGroup.objects.filter(gaps=None).delete()
    stale = list(GapGroup.objects.exclude(release_number=release.number).order_by("pk")[:BATCH])
    for group in stale:
        _measure(group, release)
    cache.set(_LOOKED_KEY, now, None)
    if BATCH in (len(turns), len(stale)):
        queue_after_commit(COLLECT)


def _readable() -> Q:
    """Return the condition for turns that editors may read: with a sign of danger only those about
    which a person has decided."""
    return Q(risks=[]) | Q(pk__in=ports.reviews().decided_turns())


def _changed(now: datetime) -> QuerySet[Turn]:
    """Return the turns whose gap is not what it should be, in the order of their questions.

    Each has ``outcome``, empty where nothing is wrong with it, and ``stored``, that of its gap.
    """
    since = now - RECENT
    happened = Q(updated_at__gte=since) | Q(reply__rating__at__gte=since)
    happened |= Q(replaced__by__created_at__gte=since)
    # A decision about a sign of danger need not touch its turn; there are few.
    happened |= ~Q(risks=[])
    turns = Turn.objects.filter(happened, _readable(), created_at__gte=now - WINDOW)
    turns = turns.exclude(text="")
    turns = turns.annotate(outcome=_OUTCOME, stored=Coalesce("gap__outcome", Value("")))
    return turns.exclude(outcome=F("stored")).order_by("created_at", "pk")


def _store(turns: Sequence[Any], release: Release) -> None:
    leaders = functools.cache(_leaders)
    for turn in turns:
        if not turn.stored:
            _add(_gap(turn, release), leaders)
        elif turn.outcome:
            Gap.objects.filter(turn=turn).update(outcome=turn.outcome)
            GapGroup.objects.filter(gaps__turn=turn).update(release_number=None)
        else:
            _delete(Gap.objects.filter(turn=turn))


def _leaders(agency: str, language: str) -> list[Leader]:
    groups = GapGroup.objects.filter(agency=agency, language=language)
    first = groups.annotate(first=Min("gaps__pk")).values("first")
    return [Leader.of(gap) for gap in Gap.objects.filter(pk__in=first).order_by("pk")]


def _gap(turn: Any, release: Release) -> Gap:
    """Return the gap of a turn in a group of its own; neither is stored."""
    text, day = prepare(turn.text).text, timezone.localdate(turn.created_at)
    ranking = rank(text, turn.language, release)
    best = ranking.services(limit=1) if ranking.outside < OUTSIDE else ()
    situations = near(ranking, OUTSIDE)
    gap = Gap(
        turn=turn,
        group=GapGroup(agency=best[0].item.agency if best else "", language=turn.language),
        text=text,
        outcome=turn.outcome,
        asked_at=turn.created_at,
        week=day - timedelta(days=day.weekday()),
        service=best[0].item.key if best else "",
        situation=situations[0].key if situations else "",
    )
    if (embedder := vectors.configured_embedder()) is not None:
        with suppress(EmbedderUnavailable):  # it has logged why; words are compared
            (vector,) = embedder.queries([text[:LONGEST_MESSAGE]])
            gap.embedder, gap.vector = embedder.id, vector.astype("<f4").tobytes()
    return gap


@transaction.atomic
def _add(gap: Gap, leaders: Callable[[str, str], list[Leader]]) -> None:
    """Store a gap in the nearest group or its own, unless its words were erased meanwhile."""
    # Erasing locks the turns first, so it finds whatever is stored before.
    turn = Turn.objects.select_for_update().filter(_readable(), pk=gap.turn_id).exclude(text="")
    if not turn or Gap.objects.filter(turn=gap.turn_id).exists():
        return
    others = leaders(gap.group.agency, gap.group.language)
    if (group_id := nearest(gap, others)) is not None:
        GapGroup.objects.filter(pk=group_id).update(release_number=None)
        gap.group_id = group_id
        gap.save()
    else:
        gap.group.save()
        gap.group_id = gap.group.pk
        gap.save()
        others.append(Leader.of(gap))


def _measure(group: GapGroup, release: Release) -> None:
    """Count the questions of a group that a release would answer, and those that it would ask back
    about, by its search alone."""
    gaps = list(group.gaps.select_related("turn"))
    rankings = {gap.pk: rank(gap.text, group.language, release) for gap in gaps}
    for gap in gaps:
        ranking = rankings[gap.pk]
        gap.would_answer = ranking.first >= SURE_ENOUGH
        gap.is_repaired = (
            gap.would_answer
            and not gap.turn.risks
            and gap.turn.release_number != release.number
            and not (gap.outcome in BAD_ANSWERS and _is_answer(gap, ranking, release))
        )
    Gap.objects.bulk_update(gaps, ["would_answer", "is_repaired"])
    group.would_answer = sum(gap.would_answer for gap in gaps)
    asked = sum(ranking.outside < OUTSIDE for ranking in rankings.values())
    group.would_ask = asked - group.would_answer
    group.release_number = release.number
    group.save(update_fields=["would_answer", "would_ask", "release_number"])


def _is_answer(gap: Gap, ranking: Ranking, release: Release) -> bool:
    """Whether the first service says what the citizen was answered."""
    service = ranking.services(limit=1)[0].item
    key = service.agency, service.key
    answers = Citation.objects.filter(reply__turn=gap.turn_id)
    return answers.filter(
        agency=service.agency, service=service.key, service_sha256=version(release, *key)
    ).exists()


def rank(text: str, language: str, release: Release) -> Ranking:
    """Return what the search over a release makes of a question in a language."""
    return vectors.prepared_shortlist(release.in_language(language)).rank(Query(text))


def forget(*, session_id: UUID) -> None:
    """Delete the gaps of a session that is being erased. Runs inside the caller's transaction."""
    _delete(Gap.objects.filter(turn__session=session_id))


def _delete(gaps: QuerySet[Gap]) -> None:
    GapGroup.objects.filter(pk__in=gaps.values("group")).update(release_number=None)
    gaps.delete()
