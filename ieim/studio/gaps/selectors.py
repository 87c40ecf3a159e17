"""Reads: the groups that an editor sees, and one of them with what can be done about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any, Final

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext_noop

from ieim.knowledge import selectors as knowledge
from ieim.knowledge.vectors import shortlist_for
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.pipeline.ports import Query
from ieim.studio.drafts.selectors import agency_names
from ieim.studio.labels import language_label
from ieim.studio.models import Gap, GapAction, GapGroup, Situation
from ieim.studio.pages.selectors import draft_services

LISTED: Final = "gaps.listed"
"""The event that somebody is shown questions that ended badly: they were citizens' messages."""
NOBODY: Final = "*nobody"
"""The filter for the groups of no agency."""
EXAMPLES: Final = 3
OFFERED: Final = 5
"""Services and situations that are offered for a group."""

_HANDLED = GapAction.objects.filter(group=OuterRef("pk"))
_IS_HANDLED = Q(Exists(_HANDLED))
_IS_NO_GAP = Q(Exists(_HANDLED.filter(kind=GapAction.Kind.NO_GAP)))
STATES: Mapping[str, tuple[str, Q]] = {
    "": (gettext_noop("To do"), ~_IS_HANDLED),
    "handled": (gettext_noop("Something was done"), _IS_HANDLED & ~_IS_NO_GAP),
    "no_gap": (gettext_noop("No gap"), _IS_NO_GAP),
}
"""What was done about a group, in words and as a condition."""


def visible(user: User) -> QuerySet[GapGroup]:
    """Return the groups likely of the user's agencies, and those of nobody."""
    scope = agencies_of(user)
    groups = GapGroup.objects.filter(Exists(Gap.objects.filter(group=OuterRef("pk"))))
    return groups if scope is None else groups.filter(agency__in=["", *scope])


def listed(
    user: User, *, agency: str, language: str, outcome: str, week: str, state: str
) -> QuerySet[GapGroup]:
    """Return the groups of some filters, those with the most matching questions first.

    ``number`` counts these. Blank filters leave nothing out; ``week`` is a day (ISO 8601).
    """
    groups = visible(user).filter(STATES[state][1])
    if agency:
        groups = groups.filter(agency="" if agency == NOBODY else agency)
    if language:
        groups = groups.filter(language=language)
    gaps = Q(gaps__outcome=outcome) if outcome else Q()
    if week:
        gaps &= Q(gaps__week=week)
    number = Count("gaps", filter=gaps) if gaps else Count("gaps")
    return groups.annotate(number=number).filter(number__gt=0).order_by("-number", "pk")


def weeks(user: User) -> list[date]:
    """Return the weeks with questions of the user's groups, the newest first."""
    gaps = Gap.objects.filter(group__in=visible(user)).order_by("-week")
    return list(gaps.values_list("week", flat=True).distinct())


def rows(groups: Collection[GapGroup]) -> list[dict[str, Any]]:
    """Return groups with what is shown of them: examples, numbers by outcome, and actions."""
    gaps = Gap.objects.filter(group__in=groups)
    position = Window(RowNumber(), partition_by=F("group"), order_by=["asked_at", "pk"])
    examples = defaultdict(list)
    for gap in gaps.annotate(position=position).filter(position__lte=EXAMPLES).defer("vector"):
        examples[gap.group_id].append(gap)
    outcomes: dict[int, dict[Gap.Outcome, int]] = defaultdict(dict)
    counted = gaps.order_by().values_list("group", "outcome").annotate(number=Count("pk"))
    for group_id, outcome, number in counted.order_by("-number", "outcome"):
        outcomes[group_id][Gap.Outcome(outcome)] = number
    actions = defaultdict(list)
    for action in GapAction.objects.filter(group__in=groups).select_related("by"):
        actions[action.group_id].append(action)
    names = agency_names()
    return [
        {
            "group": group,
            "agency": names.get(group.agency, group.agency),
            "language": language_label(group.language),
            "examples": examples[group.pk],
            "outcomes": outcomes[group.pk],
            "total": sum(outcomes[group.pk].values()),
            "actions": actions[group.pk],
        }
        for group in groups
        if examples[group.pk]
    ]


def options(group: GapGroup, user: User, text: str, search: str) -> dict[str, Any]:
    """Return the services and situations that a question may belong to, the likeliest first.

    ``search`` are words of a service of the draft, looked for in place of the ranking.
    """
    scope, names = agencies_of(user), agency_names()
    release = knowledge.current_release()
    services: list[tuple[str, str, str]] = []
    situations: list[str] = []
    if release is not None:
        view = release.in_language(group.language)
        ranking = shortlist_for(view).rank(Query(text))
        ranked = ranking.services(agencies=scope, limit=OFFERED)
        services = [(hit.item.agency, hit.item.key, hit.item.name) for hit in ranked]
        situations = [hit.item.key for hit in ranking.situations(limit=OFFERED)]
    if search.strip():
        matches = draft_services(search, "")
        if scope is not None:
            matches = matches.filter(agency__in=scope)
        services = [(row["agency"], row["key"], row["name"]) for row in matches[:OFFERED]]
    drafted = Situation.objects.filter(key__in=situations) if works_for(user, "") else ()
    return {
        "services": [
            (f"{agency} {key}", name, names.get(agency, agency)) for agency, key, name in services
        ],
        "situations": sorted(drafted, key=lambda situation: situations.index(situation.key)),
    }


def first_gap(group_id: str, user: User) -> Gap | None:
    """Return the first question of a group as an address names it; None without such a group."""
    groups = visible(user).filter(pk=group_id) if group_id.isdecimal() else GapGroup.objects.none()
    return Gap.objects.filter(group__in=groups).select_related("group").first()
