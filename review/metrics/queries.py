"""What happened in a period, counted by the database: one query a question, whatever the period.

Days are days of the deployment's time zone. Everything about a turn counts for the turn's agency:
the one that its review item was given or handed to, else the one that was detected; ``""`` where
several were, or none. What a citizen erased is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Count,
    IntegerField,
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
from ieim.pipeline.topology import AWAITED
from review.facets import AGENCY_STAGE
from review.models import Action, Decision, ReviewItem
from review.states import UNDECIDED

WITHOUT_A_PERSON = frozenset(
    each.value
    for each in (
        *(ReplyOrigin.MODEL, ReplyOrigin.INDEX, ReplyOrigin.GUIDANCE, ReplyOrigin.RETOLD),
        ReplyOrigin.CITIZEN_CHOICE,
    )
)
"""How a reply came where no member of staff had a part in it."""


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
        """The moments (aware) at which its days begin, and the one at which the last has ended."""
        zone = timezone.get_default_timezone()
        days = (*self.days, self.last + timedelta(days=1))
        return tuple(datetime.combine(day, time(), zone) for day in days)


class Counted(NamedTuple):
    """How many of something there were on a day; each query says what ``what`` is."""

    day: date
    agency: str
    what: str | bool
    total: int


class Stopped(NamedTuple):
    """Review items by the day on which they were opened; ``reason`` is the first of theirs."""

    day: date
    agency: str
    stage: str
    reason: str
    total: int


class Chosen(NamedTuple):
    """Turns whose citizen was asked to choose, by the day of that.

    ``outcome`` is a choice's (empty: not yet); ``place`` is where the chosen service, the best one
    of several, stood among those offered, from 1, and 0 where none was chosen.
    """

    day: date
    agency: str
    outcome: str
    place: int
    total: int


class Answered(NamedTuple):
    """A reply that a person had a hand in, on its day.

    ``seconds`` is the time since the question; ``in_time`` whether it came by the due time of the
    item that was decided last, None where no item has one.
    """

    day: date
    agency: str
    seconds: float
    in_time: bool | None


class Decided(NamedTuple):
    """Decisions of a person (``actor``, a user's key) that took equally many seconds."""

    day: date
    agency: str
    actor: int
    action: str
    seconds: int
    total: int


class Spent(NamedTuple):
    """Tokens by the day of the call; ``cached`` are those of them that a prefix cache had."""

    day: date
    agency: str
    stage: str
    total: int
    cached: int


def questions(period: Period) -> Iterator[Counted]:
    """Yield the questions of a period by a reply's origin, else by the turn's state."""
    turns = within(Turn.objects.all(), period, "created_at", turn="pk")
    outcome = Coalesce("reply__origin", "state", output_field=CharField())
    return map(Counted._make, summed(turns, period, Count("pk"), outcome=outcome))


def stopped(period: Period) -> Iterator[Stopped]:
    """Yield what failed closed or was held, by stage and reason."""
    items = within(ReviewItem.objects.all(), period, "opened_at", turn="turn_id")
    return map(Stopped._make, summed(items, period, Count("pk"), "stage", "reason"))


def chosen(period: Period) -> Iterator[Chosen]:
    """Yield what citizens were asked to choose from, and what came of it."""
    choices = within(Choice.objects.all(), period, "asked_at", turn="turn_id")
    found: Counter[tuple[date, str, str, int]] = Counter()
    rows = choices.values_list("day_number", "of_agency", "outcome", "offered", "chosen")
    for number, agency, outcome, offered, service in rows.iterator():
        place = offered.index(service) + 1 if service else 0
        found[period.days[number], agency, outcome, place] += 1
    for key, turns in found.items():
        yield Chosen(*key, turns)


def answered(period: Period) -> Iterator[Answered]:
    """Yield every answer that a person had a hand in."""
    items = ReviewItem.objects.filter(
        turn_id=OuterRef("turn_id"), stage__in=AWAITED, decided_at__isnull=False
    )
    due = Subquery(items.order_by("-decided_at").values("due_at")[:1])
    replies = within(Reply.objects.all(), period, "created_at", turn="turn_id")
    rows = replies.exclude(origin__in=WITHOUT_A_PERSON).values_list(
        "day_number", "of_agency", "turn__created_at", "created_at", due
    )
    days = period.days
    for number, agency, begun, done, due_at in rows:
        in_time = None if due_at is None else done <= due_at
        yield Answered(days[number], agency, (done - begun).total_seconds(), in_time)


def rated(period: Period) -> Iterator[Counted]:
    """Yield the rated answers by whether they were useful, as the verdict is now."""
    ratings = within(Rating.objects.all(), period, "at", turn="reply__turn_id")
    return map(Counted._make, summed(ratings, period, Count("pk"), "useful"))


def feedback(period: Period) -> Iterator[Counted]:
    """Yield the answers with feedback by its reason, empty for words alone."""
    rows = Feedback.objects.exclude(reason="", text="")
    rows = within(rows, period, "at", turn="reply__turn_id")
    return map(Counted._make, summed(rows, period, Count("pk"), "reason"))


def went_on(period: Period) -> Iterator[Counted]:
    """Yield the answers that went on with the talk's service by whether they were turned away."""
    replies = Reply.objects.filter(body__has_key="still_about")
    replies = within(replies, period, "created_at", turn="turn_id")
    turned = Q(turn__replaced__isnull=False)
    flagged = Case(When(turned, then=True), default=False, output_field=BooleanField())
    return map(Counted._make, summed(replies, period, Count("pk"), turned_away=flagged))


def decided(period: Period) -> Iterator[Decided]:
    """Yield the decisions, without undoings."""
    decisions = within(Decision.objects.all(), period, "created_at", turn="item__turn_id")
    decisions = decisions.exclude(action=Action.UNDO.value)
    return map(
        Decided._make, summed(decisions, period, Count("pk"), "actor_id", "action", "seconds")
    )


def spent(period: Period) -> Iterator[Spent]:
    """Yield the tokens of every call, discarded ones too, as budgets count them."""
    attempts = within(Attempt.objects.all(), period, "created_at", turn="stage__turn_id")
    tokens = (Sum("tokens"), Coalesce(Sum("cached_tokens"), 0))
    yield from map(Spent._make, summed(attempts, period, tokens, "stage__contract"))
    unused = within(Unused.objects.all(), period, "created_at", turn="turn_id")
    in_vain = (Sum("tokens"), Value(0))
    yield from map(Spent._make, summed(unused, period, in_vain, "contract"))


def within(rows: QuerySet[Any], period: Period, moment: str, *, turn: str) -> QuerySet[Any]:
    """Return the rows of a period with ``day_number`` and ``of_agency``, in no order."""
    begin, *inner, end = period.midnights
    rows = rows.filter(**{f"{moment}__gte": begin, f"{moment}__lt": end}).order_by()
    number = _day_number(moment, inner, 0)
    annotated: QuerySet[Any] = rows.annotate(day_number=number, of_agency=_agency_of(turn))
    return annotated


def _day_number(moment: str, midnights: Sequence[datetime], first: int) -> Combinable:
    """Return which day of a period a moment is on, as a binary search through its midnights.

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


def summed(
    rows: QuerySet[Any],
    period: Period,
    total: Combinable | Sequence[Combinable],
    *columns: str,
    **named: Combinable,
) -> Iterator[tuple[Any, ...]]:
    """Yield ``(day, agency, *columns, *named, *totals)``, summed by the database."""
    by = ("day_number", "of_agency", *columns, *named)
    found = total if isinstance(total, Sequence) else (total,)
    totals = {f"total_{i}": each for i, each in enumerate(found)}
    grouped = rows.annotate(**named).values(*by).annotate(**totals)
    days = period.days
    for number, *others in grouped.values_list(*by, *totals).iterator():
        yield (days[number], *others)


def _agency_of(turn: str) -> Combinable:
    """Return the agency of the turn that a row's column names.

    Without a column for it: two look-ups by index and a small JSON text a row.
    """
    handled = ReviewItem.objects.filter(turn_id=OuterRef(turn)).exclude(agency="")
    found = KeyTransform("agencyInfo", KeyTransform(AGENCY_STAGE, "state_merge"))
    first = KeyTextTransform("agencyId", KeyTransform("0", found))
    several = Q(**{f"state_merge__{AGENCY_STAGE}__agencyInfo__1__isnull": False})
    detected = Stage.objects.filter(turn_id=OuterRef(turn), contract=AGENCY_STAGE).exclude(several)
    return Coalesce(
        Subquery(handled.order_by("-opened_at").values("agency")[:1]),
        Subquery(detected.values(first=first)[:1]),
        Value(""),
        output_field=CharField(),
    )


def overdue(period: Period) -> Iterator[Counted]:
    """Yield the items that were due in a period and are still open."""
    left = ReviewItem.objects.filter(
        stage__in=AWAITED, state__in=[state.value for state in UNDECIDED], due_at__lt=timezone.now()
    )
    items = within(left, period, "due_at", turn="turn_id")
    return map(Counted._make, summed(items, period, Count("pk"), what=Value("")))
