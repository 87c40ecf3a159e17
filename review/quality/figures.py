"""Figures of the readings of a period: shares that are right, agreement, and reversals.

Of an answer that two people read, the first verdict counts; the second is there for agreement.
Shares are of what was drawn at random: flagged answers and those put in by hand are counted apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Case, CharField, F, OuterRef, Subquery, Value, When
from django.utils.translation import gettext as _

from conversations.models import Citation
from ieim.people.models import User
from ieim.people.scope import agencies_of, known_agencies
from ieim.studio.labels import stage_label
from review import finding_texts
from review.deciding.locking import SUPERVISE
from review.deciding.signing import PROPOSALS
from review.metrics.selectors import WITHOUT_A_PERSON, Period, agency_of
from review.metrics.statistics import Interval, alpha, alpha_interval, wilson
from review.models import Decision, Reading
from review.quality.models import Cause, Score

TOO_FEW = 5
"""Of fewer answers no share is shown: it would say more about chance, or about one person."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Share:
    """``part`` of ``whole`` answers; the interval is None where they are too few to be shown."""

    name: str
    part: int | None
    whole: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two readers gave the same verdict; None where there are too few, or no other."""

    same: Share
    alpha: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares by heading: right ones, and of people's own answers those found wrong."""

    right: Mapping[str, Sequence[Share]]
    agreement: Agreement
    reversed: Mapping[str, Sequence[Share]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read in the period."""
        return not any(self.right.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)


def load(period: Period, agencies: frozenset[str] | None) -> list[Row]:
    """Return the readings of a period in the order in which they ended, of some agencies (None: of
    all): their ``verdict``, and whose answer it was."""
    begin, *_inner, end = period.midnights
    turn = OuterRef("sample__reply__turn")
    decisions = Decision.objects.filter(item__turn=turn, action__in=[a.value for a in PROPOSALS])
    last = decisions.order_by("-created_at", "-pk")
    cited = Citation.objects.filter(reply=OuterRef("sample__reply")).order_by("pk")
    rows = Reading.objects.filter(done_at__gte=begin, done_at__lt=end, verdict__in=Score.values)
    values: Any = rows.order_by("done_at", "pk").values(
        "sample_id",
        "verdict",
        cause=F("sample__cause"),
        alone=Case(
            When(sample__reply__origin__in=WITHOUT_A_PERSON, then=Value("alone")),
            default=Value("person"),
            output_field=CharField(),
        ),
        agency=agency_of("sample__reply__turn_id"),
        service=Subquery(cited.values("service")[:1]),
        actor=Subquery(last.values("actor")[:1]),
        reason=Subquery(last.values("item__reason")[:1]),
        stage=Subquery(last.values("item__stage")[:1]),
    )
    return [row for row in values if agencies is None or row["agency"] in agencies]


def for_user(user: User, period: Period, agency: str) -> Quality:
    """Return the figures of one agency that a user may see, of all where it is empty; by person
    only for who leads a team."""
    rows = load(period, frozenset({agency}) if agency else agencies_of(user))
    people: dict[int, str] = {}
    if user.has_perm(SUPERVISE):
        deciders = User.objects.in_bulk({row["actor"] for row in rows if row["actor"]})
        people = {key: person.display_name for key, person in deciders.items()}
    return quality(rows, known_agencies(), people)


def quality(rows: Sequence[Row], agencies: Mapping[str, str], people: Mapping[int, str]) -> Quality:
    """Return the figures of readings; ``agencies`` are names by id, ``people`` those by key of whom
    the figures are shown."""
    by_sample: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        by_sample[row["sample_id"]].append(row)
    firsts = [group[0] for group in by_sample.values()]
    drawn = [row for row in firsts if row["cause"] == Cause.RANDOM]
    decided = [row for row in firsts if row["alone"] == "person" and row["actor"] is not None]
    of_people = [row for row in decided if row["actor"] in people]
    origins = {"alone": _("The assistant alone"), "person": _("With a person")}
    causes = dict(Cause.choices)
    pairs = [(g[0]["verdict"], g[1]["verdict"]) for g in by_sample.values() if len(g) > 1]
    enough = len(pairs) >= TOO_FEW
    return Quality(
        right={
            _("How it was answered"): _shares(drawn, "alone", is_right, origins.get),
            _("Agency"): _shares(
                drawn,
                "agency",
                is_right,
                lambda id_: agencies.get(id_, id_) or _("No single agency"),
            ),
            _("Service"): _shares(drawn, "service", is_right, lambda key: key or _("None")),
            _("Why it was read"): _shares(firsts, "cause", is_right, causes.get),
        },
        agreement=Agreement(
            same=_share(_("Two readers"), [a == b for a, b in pairs]),
            alpha=alpha(pairs) if enough else None,
            interval=alpha_interval(pairs) if enough else None,
        ),
        reversed={
            _("Who decided"): _shares(of_people, "actor", is_wrong, people.get),
            _("Reason"): _shares(
                decided, "reason", is_wrong, lambda c: finding_texts.sentence(c) if c else _("None")
            ),
            _("Step"): _shares(decided, "stage", is_wrong, stage_label),
        },
    )


def is_right(row: Row) -> bool:
    """Whether an answer was found right."""
    return bool(row["verdict"] == Score.RIGHT)


def is_wrong(row: Row) -> bool:
    """Whether an answer was found wrong or harmful."""
    return row["verdict"] in (Score.WRONG, Score.HARMFUL)


def own(rows: Sequence[Row], user_id: int) -> Share:
    """Return the share of somebody's own answers that was found right."""
    firsts = {row["sample_id"]: row for row in reversed(rows)}.values()
    mine = [is_right(row) for row in firsts if (row["alone"], row["actor"]) == ("person", user_id)]
    return _share(_("Your answers"), mine)


def _shares(
    rows: Sequence[Row], column: str, counts: Callable[[Row], bool], name: Callable[[Any], Any]
) -> list[Share]:
    groups: dict[Any, list[bool]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(counts(row))
    shares = [_share(str(name(value)), group) for value, group in groups.items()]
    return sorted(shares, key=lambda share: (-share.whole, share.name))


def _share(name: str, counted: Sequence[bool]) -> Share:
    part, whole = sum(counted), len(counted)
    if whole < TOO_FEW:
        return Share(name, None, whole, None)
    return Share(name, part, whole, wilson(part, whole))
