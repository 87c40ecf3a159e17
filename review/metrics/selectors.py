"""Figures of a period, counted by the database: one query for each kind of row.

Days that are over are counted once (:mod:`review.metrics.services`) and read from there; today, and
a day that has changed since, are counted when they are asked for.

Days are days of the deployment's time zone. Everything about a turn counts for the turn's agency:
the one that its review item was given or handed to, else the one that was detected; ``""`` where
several were detected, or none. Erased turns are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, time, timedelta
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Count,
    F,
    IntegerField,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce
from django.utils import timezone

from conversations.models import (
    Attempt,
    Choice,
    Feedback,
    Rating,
    Reply,
    ReplyOrigin,
    Stage,
    Turn,
    Unused,
)
from conversations.turns.models import ChoiceOutcome
from ieim.pipeline.topology import AWAITED
from review.facets import AGENCY_STAGE
from review.models import TAKEN_BACK, DailyFigures, Decision, LateChange, ReviewItem
from review.states import UNDECIDED

WITHOUT_A_PERSON = frozenset(
    {
        ReplyOrigin.MODEL.value,
        ReplyOrigin.INDEX.value,
        ReplyOrigin.GUIDANCE.value,
        ReplyOrigin.RETOLD.value,
        ReplyOrigin.CITIZEN_CHOICE.value,
    }
)
"""Origins of replies in which no member of staff had a part."""
OUTSIDE, UNSAID, LEFT = "outside", "unsaid", "left"
"""Outcomes of questions without an answer: no service is about them, the service's entry does not
say what was asked, or the citizen was asked back and left it at that."""
_ALONE = Q(reply__origin__in=WITHOUT_A_PERSON)
_OUTCOME = Case(
    When(_ALONE & Q(reply__body__kind="outside"), then=Value(OUTSIDE)),
    When(_ALONE & Q(reply__body__unsaid=True), then=Value(UNSAID)),
    When(
        reply=None,
        choice__outcome__in=(ChoiceOutcome.EXPIRED, ChoiceOutcome.REPLACED),
        then=Value(LEFT),
    ),
    default=Coalesce("reply__origin", "state"),
    output_field=CharField(),
)


@dataclass(frozen=True, slots=True)
class Period:
    """Days from ``first`` to ``last``, both included."""

    first: date
    last: date

    @property
    def days(self) -> tuple[date, ...]:
        """Every day, oldest first."""
        count = (self.last - self.first).days + 1
        return tuple(self.first + timedelta(days=number) for number in range(count))

    @property
    def midnights(self) -> tuple[datetime, ...]:
        """The start of each day and the end of the last one, as aware datetimes."""
        zone = timezone.get_default_timezone()
        days = (*self.days, self.last + timedelta(days=1))
        return tuple(datetime.combine(day, time(), zone) for day in days)


Row = dict[str, Any]
"""Columns by name: ``day``, ``agency``, ``total``, and those that the query names."""


@dataclass(frozen=True, slots=True)
class Figures:
    """All rows of a period, by the query of the same name."""

    period: Period
    questions: Sequence[Row] = ()
    stops: Sequence[Row] = ()
    choices: Sequence[Row] = ()
    answers: Sequence[Row] = ()
    overdue: Sequence[Row] = ()
    ratings: Sequence[Row] = ()
    feedback: Sequence[Row] = ()
    follow_ups: Sequence[Row] = ()
    decisions: Sequence[Row] = ()
    tokens: Sequence[Row] = ()

    @property
    def agencies(self) -> set[str]:
        """The ids of all agencies with a row."""
        return set(self.split("agency"))

    def of_agencies(self, agencies: Collection[str]) -> Figures:
        """Return the rows of some agencies."""
        rows = {
            name: [row for row in rows if row["agency"] in agencies]
            for name, rows in self._rows().items()
        }
        return Figures(self.period, **rows)

    def split(self, *columns: str) -> dict[Any, Figures]:
        """Return the figures by the value of a column, or by the values of several."""
        key = itemgetter(*columns)
        groups: dict[Any, dict[str, list[Row]]] = {}
        for name, rows in self._rows().items():
            for row in rows:
                groups.setdefault(key(row), {}).setdefault(name, []).append(row)
        return {group: Figures(self.period, **rows) for group, rows in groups.items()}

    def _rows(self) -> dict[str, Sequence[Row]]:
        names = (field.name for field in fields(self) if field.name != "period")
        return {name: getattr(self, name) for name in names}


def load(period: Period, agencies: frozenset[str] | None) -> Figures:
    """Return the figures of some agencies; None: of all, and of turns without a single agency."""
    stored = _stored(period)
    parts = [count(run) for run in _runs(day for day in period.days if day not in stored)]
    parts += [
        {name: [{**row, "day": day} for row in rows] for name, rows in of_day.items()}
        for day, of_day in stored.items()
    ]
    rows = {name: [row for part in parts for row in part[name]] for name in QUERIES}
    figures = Figures(period, **rows)
    return figures if agencies is None else figures.of_agencies(agencies)


def count(period: Period) -> dict[str, list[Row]]:
    """Return all rows of a period by the name of their query, counted now."""
    return {name: query(period) for name, query in QUERIES.items()}


def changed_moments(changes: Iterable[LateChange]) -> set[datetime]:
    """Return the moments that changes are about; of a change of a turn, of all that came of it."""
    changes = list(changes)
    moments = {change.moment for change in changes if change.moment is not None}
    # Listed: the planner takes a small table that it knows nothing of for a large one.
    if turns := {change.turn_id for change in changes if change.turn_id is not None}:
        first, *others = (
            model._default_manager.filter(**{f"{path}__in": turns}).order_by().values_list(column)
            for model, column, path in _MOMENTS
        )
        moments |= {moment for (moment,) in first.union(*others)}
    return moments


def _stored(period: Period) -> dict[date, dict[str, list[Row]]]:
    """Return the figures that are stored, without those of days that have changed since."""
    # Before the days: a change that is looked at meanwhile has then marked its day.
    moments = changed_moments(LateChange.objects.all())
    days = dict(zip(pairwise(period.midnights), period.days, strict=True))
    begin, *_, end = period.midnights
    return {
        days[row.begin, row.end]: row.figures
        for row in DailyFigures.objects.filter(begin__gte=begin, end__lte=end, is_stale=False)
        if (row.begin, row.end) in days
        # Otherwise a process of another release has counted it.
        and row.figures.keys() == QUERIES.keys()
        and not row.has_any(moments)
    }


def _runs(days: Iterable[date]) -> Iterator[Period]:
    """Yield the periods that days in a row make."""
    for _, run in groupby(enumerate(days), key=lambda pair: pair[1].toordinal() - pair[0]):
        in_a_row = [day for _, day in run]
        yield Period(in_a_row[0], in_a_row[-1])


def questions(period: Period) -> list[Row]:
    """Return the questions by ``outcome``: :data:`OUTSIDE`, :data:`UNSAID` or :data:`LEFT`, else
    the origin of their reply, else the turn's state."""
    rows = _within(Turn.objects.all(), period, "created_at", turn="pk")
    return _counted(rows, period, outcome=_OUTCOME)


def stops(period: Period) -> list[Row]:
    """Return the review items that were opened, by ``stage`` and ``reason``, the first of each."""
    rows = _within(ReviewItem.objects.all(), period, "opened_at", turn="turn_id")
    return _counted(rows, period, "stage", "reason")


def choices(period: Period) -> list[Row]:
    """Return the choices that citizens were offered, by ``outcome``, empty while open.

    ``position`` is the rank of the chosen service among those offered, from 1, or 0.
    """
    rows = _within(Choice.objects.all(), period, "asked_at", turn="turn_id")
    rows = rows.values(*_GROUP, "outcome", "offered", "chosen").annotate(total=Value(1))
    choices = _with_days(rows, period)
    for row in choices:
        offered, service = row.pop("offered"), row.pop("chosen")
        row["position"] = offered.index(service) + 1 if service else 0
    return choices


def answers(period: Period) -> list[Row]:
    """Return each answer in which a person had a part, with the ``seconds`` since the question.

    ``in_time`` compares with the due time of the item that was decided last, None without one.
    """
    items = ReviewItem.objects.filter(
        turn_id=OuterRef("turn_id"), stage__in=AWAITED, decided_at__isnull=False
    )
    due = Subquery(items.order_by("-decided_at").values("due_at")[:1])
    rows = _within(Reply.objects.all(), period, "created_at", turn="turn_id")
    rows = rows.exclude(origin__in=WITHOUT_A_PERSON)
    rows = rows.values(*_GROUP, "turn__created_at", "created_at", due_at=due)
    answers = _with_days(rows, period)
    for row in answers:
        asked_at, answered_at = row.pop("turn__created_at"), row.pop("created_at")
        due_at = row.pop("due_at")
        row["seconds"] = (answered_at - asked_at).total_seconds()
        row["in_time"] = None if due_at is None else answered_at <= due_at
    return answers


def overdue(period: Period) -> list[Row]:
    """Return the items that were due in the period and are still open."""
    items = ReviewItem.objects.filter(
        stage__in=AWAITED, state__in=[state.value for state in UNDECIDED], due_at__lt=timezone.now()
    )
    return _counted(_within(items, period, "due_at", turn="turn_id"), period)


def ratings(period: Period) -> list[Row]:
    """Return the rated answers by whether they were ``useful``, as the rating is now."""
    rows = _within(Rating.objects.all(), period, "at", turn="reply__turn_id")
    return _counted(rows, period, "useful")


def feedback(period: Period) -> list[Row]:
    """Return the answers with feedback by its ``reason``, empty for words alone."""
    rows = Feedback.objects.exclude(reason="", text="")
    return _counted(_within(rows, period, "at", turn="reply__turn_id"), period, "reason")


def follow_ups(period: Period) -> list[Row]:
    """Return the answers about the service of the talk so far, by whether they were ``replaced``.

    That is what becomes of them when the citizen asked about something else.
    """
    rows = Reply.objects.filter(body__has_key="still_about")
    rows = _within(rows, period, "created_at", turn="turn_id")
    replaced = Case(
        When(turn__replaced__isnull=False, then=True), default=False, output_field=BooleanField()
    )
    return _counted(rows, period, replaced=replaced)


def decisions(period: Period) -> list[Row]:
    """Return the decisions that were not taken back by ``actor_id``, ``action`` and ``seconds``."""
    rows = _within(Decision.objects.all(), period, "created_at", turn="item__turn_id")
    rows = rows.exclude(TAKEN_BACK)
    return _counted(rows, period, "actor_id", "action", "seconds")


def tokens(period: Period) -> list[Row]:
    """Return the tokens of every call, unused ones too, by ``stage``, as budgets count them.

    ``cached`` of them came out of a prefix cache.
    """
    calls = _within(Attempt.objects.all(), period, "created_at", turn="stage__turn_id")
    calls = calls.values(*_GROUP, contract=F("stage__contract"))
    calls = calls.annotate(total=Sum("tokens"), cached=Coalesce(Sum("cached_tokens"), 0))
    unused = _within(Unused.objects.all(), period, "created_at", turn="turn_id")
    unused = unused.values(*_GROUP, "contract").annotate(total=Sum("tokens"), cached=Value(0))
    rows = _with_days(calls, period) + _with_days(unused, period)
    return [{"stage": row["contract"], **row} for row in rows]


_COUNTS = (questions, stops, choices, answers, overdue, ratings, feedback, follow_ups, decisions)
QUERIES: Mapping[str, Callable[[Period], list[Row]]] = {
    query.__name__: query for query in (*_COUNTS, tokens)
}
"""By the name of their rows in :class:`Figures`."""

_MOMENTS: tuple[tuple[type[Model], str, str], ...] = (
    (Turn, "created_at", "pk"),
    (ReviewItem, "opened_at", "turn"),
    (ReviewItem, "due_at", "turn"),
    (Choice, "asked_at", "turn"),
    (Reply, "created_at", "turn"),
    (Rating, "at", "reply__turn"),
    (Feedback, "at", "reply__turn"),
    (Decision, "created_at", "item__turn"),
    (Attempt, "created_at", "stage__turn"),
    (Unused, "created_at", "turn"),
)
"""What counts on a day by which moment, and what leads from it to its turn."""

_GROUP = ("day_number", "of_agency")


def _within(rows: QuerySet[Any], period: Period, moment: str, *, turn: str) -> QuerySet[Any]:
    """Return the rows of a period, unordered, with ``day_number`` and ``of_agency``."""
    begin, *inner, end = period.midnights
    rows = rows.filter(**{f"{moment}__gte": begin, f"{moment}__lt": end}).order_by()
    number = _day_number(moment, inner, 0)
    annotated: QuerySet[Any] = rows.annotate(day_number=number, of_agency=agency_of(turn))
    return annotated


def _day_number(moment: str, midnights: Sequence[datetime], first: int) -> Combinable:
    """Return the index of a moment's day in a period, as a binary search through its midnights.

    On SQLite, Django's TruncDate calls Python for every row, and takes three times as long.
    """
    if not midnights:
        return Value(first)
    middle = len(midnights) // 2
    return Case(
        When(
            **{f"{moment}__lt": midnights[middle]},
            then=_day_number(moment, midnights[:middle], first),
        ),
        default=_day_number(moment, midnights[middle + 1 :], first + middle + 1),
        output_field=IntegerField(),
    )


def _counted(
    rows: QuerySet[Any], period: Period, *columns: str, **annotations: Combinable
) -> list[Row]:
    """Return the number of rows for each day, agency, and value of the columns."""
    counts = rows.values(*_GROUP, *columns, **annotations).annotate(total=Count("pk"))
    return _with_days(counts, period)


def _with_days(rows: QuerySet[Any], period: Period) -> list[Row]:
    days = period.days
    return [
        {"day": days[row.pop("day_number")], "agency": row.pop("of_agency"), **row} for row in rows
    ]


def agency_of(turn: str) -> Combinable:
    """Return the agency of the turn whose key is in the column ``turn``.

    Without a column for it: two look-ups by index and a small JSON text a row.
    """
    handled = ReviewItem.objects.filter(turn_id=OuterRef(turn)).exclude(agency="")
    agencies = KeyTransform("agencyInfo", KeyTransform(AGENCY_STAGE, "state_merge"))
    first = KeyTextTransform("agencyId", KeyTransform("0", agencies))
    several = Q(**{f"state_merge__{AGENCY_STAGE}__agencyInfo__1__isnull": False})
    detected = Stage.objects.filter(turn_id=OuterRef(turn), contract=AGENCY_STAGE).exclude(several)
    return Coalesce(
        Subquery(handled.order_by("-opened_at").values("agency")[:1]),
        Subquery(detected.values(first=first)[:1]),
        Value(""),
        output_field=CharField(),
    )
