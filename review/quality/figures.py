"""Figures of the readings of a period: shares that are right, agreement, and reversals.

Of an answer that two people read, the first verdict counts; the second is there for agreement.
Shares are of what was drawn at random, but for those of people's own answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db.models import Case, CharField, F, OuterRef, Subquery, Value, When
from django.db.models.functions import Concat
from django.utils.translation import gettext as _

from conversations.models import Citation
from ieim.knowledge.selectors import current_release
from ieim.people.models import User
from ieim.people.scope import agencies_of, known_agencies
from ieim.studio.labels import stage_label
from review import finding_texts
from review.deciding.locking import SUPERVISE
from review.deciding.signing import PROPOSALS
from review.metrics.selectors import WITHOUT_A_PERSON, Period, Row, agency_of
from review.metrics.statistics import alpha, alpha_interval, wilson
from review.models import Decision, Reading
from review.quality.models import Cause, Score

TOO_FEW = 5
"""Of fewer answers no share is shown: it would tell of chance, or of one person."""
RIGHT, FAULTY = frozenset({Score.RIGHT.value}), frozenset({Score.WRONG.value, Score.HARMFUL.value})
Share = dict[str, Any]
"""``name``, ``part`` of ``whole`` and ``interval``; both are None where the whole is too few."""


def load(period: Period, agencies: frozenset[str] | None) -> list[Row]:
    """Return the readings that ended in a period, in that order, with whose answers they are of;
    ``agencies`` are ids, None for all."""
    begin, *_inner, end = period.midnights
    turn, actions = OuterRef("reply__turn"), [action.value for action in PROPOSALS]
    last = Decision.objects.filter(item__turn=turn, action__in=actions).order_by("-created_at")
    cited = Citation.objects.filter(reply=OuterRef("reply")).order_by("pk")
    alone = When(reply__origin__in=WITHOUT_A_PERSON, then=Value("alone"))
    rows = Reading.objects.filter(done_at__gte=begin, done_at__lt=end, verdict__in=Score.values)
    values: Any = rows.order_by("done_at", "pk").values(
        *("reply_id", "verdict", "cause"),
        origin=Case(alone, default=Value("person"), output_field=CharField()),
        agency=agency_of("reply__turn_id"),
        service=Subquery(cited.values(key=Concat("agency", Value("/"), "service"))[:1]),
        actor=Subquery(last.values("actor")[:1]),
        reason=Subquery(last.values(code=F("item__reason"))[:1]),
        stage=Subquery(last.values(step=F("item__stage"))[:1]),
    )
    return [row for row in values if agencies is None or row["agency"] in agencies]


def for_user(user: User, period: Period, agency: str) -> dict[str, Any]:
    """Return the figures of one agency that a user may see, of all where it is empty; by person
    only for who leads a team."""
    rows = load(period, frozenset({agency}) if agency else agencies_of(user))
    people: dict[int, str] = {}
    if user.has_perm(SUPERVISE):
        deciders = User.objects.in_bulk({row["actor"] for row in rows if row["actor"]})
        people = {key: person.display_name for key, person in deciders.items()}
    return quality(rows, people)


def quality(rows: Sequence[Row], people: Mapping[int, str]) -> dict[str, Any]:
    """Return figures as JSON values: shares by heading that are ``right`` and, of decided answers,
    ``reversed``, and the ``agreement``. ``people`` are the names of whom figures are shown."""
    by_reply: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_reply[row["reply_id"]].append(row)
    firsts = [group[0] for group in by_reply.values()]
    drawn = [row for row in firsts if row["cause"] == Cause.RANDOM]
    decided = [row for row in firsts if row["origin"] == "person" and row["actor"]]
    pairs = [(g[0]["verdict"], g[1]["verdict"]) for g in by_reply.values() if len(g) > 1]
    origins = {"alone": _("The assistant alone"), "person": _("With a person")}
    release = current_release()
    services = {f"{a}/{k}": s.name for (a, k), s in release.services.items()} if release else {}
    agencies = {"": _("No single agency"), **known_agencies()}
    return {
        "right": {
            _("How it was answered"): _shares(drawn, "origin", RIGHT, origins.get),
            _("Agency"): _shares(drawn, "agency", RIGHT, lambda id_: agencies.get(id_, id_)),
            _("Service"): _shares(drawn, "service", RIGHT, lambda key: services.get(key, key)),
        },
        "agreement": {
            **_share(_("Two readers"), [first == second for first, second in pairs]),
            "alpha": alpha(pairs) if len(pairs) >= TOO_FEW else None,
            "alpha_interval": alpha_interval(pairs) if len(pairs) >= TOO_FEW else None,
        },
        "reversed": {
            _("Who decided"): _shares(
                [row for row in decided if row["actor"] in people], "actor", FAULTY, people.get
            ),
            _("Reason"): _shares(
                decided, "reason", FAULTY, lambda c: c and finding_texts.sentence(c)
            ),
            _("Step"): _shares(decided, "stage", FAULTY, stage_label),
        },
    }


def own(user: User, period: Period) -> Share:
    """Return the share of a user's own answers that was found right."""
    firsts = {row["reply_id"]: row for row in reversed(load(period, None))}.values()
    mine = [row for row in firsts if (row["origin"], row["actor"]) == ("person", user.pk)]
    return _share("", [row["verdict"] in RIGHT for row in mine])


def _shares(
    rows: Sequence[Row], column: str, verdicts: frozenset[str], name: Callable[[Any], Any]
) -> list[Share]:
    """Return the shares by the values of a column; those of too few answers are one, the last."""
    groups: dict[Any, list[bool]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row["verdict"] in verdicts)
    shares = [_share(str(name(key) or "–"), g) for key, g in groups.items() if len(g) >= TOO_FEW]
    shares.sort(key=lambda share: (-share["whole"], share["name"]))
    rest = sum(len(group) for group in groups.values() if len(group) < TOO_FEW)
    others = {"name": _("Too few of each"), "part": None, "whole": rest, "interval": None}
    return [*shares, others] if rest else shares


def _share(name: str, counted: Sequence[bool]) -> Share:
    part, whole = sum(counted), len(counted)
    if whole < TOO_FEW:
        return {"name": name, "part": None, "whole": whole, "interval": None}
    return {"name": name, "part": part, "whole": whole, "interval": wilson(part, whole)}
