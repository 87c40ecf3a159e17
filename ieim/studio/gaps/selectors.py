"""Reads: the groups that an editor sees, and one of them with what can be done about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import Any, Final, TypeAlias

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext_noop

from conversations.chat.reply_views import reply_view
from conversations.models import Citation, Reply
from conversations.page_languages import current
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.vectors import shortlist_for
from ieim.llm.engine.thresholds import SURE_ENOUGH
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.pipeline.message.risk import find
from ieim.pipeline.ports import Query
from ieim.studio.drafts.selectors import agency_names
from ieim.studio.editor.addresses import edit_url
from ieim.studio.gaps.collecting import BAD_ANSWERS
from ieim.studio.labels import language_label
from ieim.studio.models import Gap, GapAction, GapGroup, Situation
from ieim.studio.pages.selectors import draft_services, service_names

LISTED: Final = "gaps.listed"
"""The event that somebody is shown questions that ended badly: they were citizens' messages."""
NOBODY: Final = "*nobody"
"""The filter for the groups of no agency."""
EXAMPLES: Final = 3
OFFERED: Final = 5
"""Services and situations that are offered for a group."""

_MAY_SEE: Final = "studio.change_service"
MAY_CORRECT: Final = "studio.add_riskexample"
"""The permission to make a question a near miss of a sign of danger."""

Option: TypeAlias = dict[str, Any]
"""A service that a question may belong to, for the template."""

_ACTIONS = GapAction.objects.filter(group=OuterRef("pk"))
_IS_NO_GAP = Q(Exists(_ACTIONS.filter(kind=GapAction.Kind.NO_GAP)))
_IS_NOT_OURS = Q(Exists(_ACTIONS.filter(kind=GapAction.Kind.NOT_OURS)))
_IS_CLOSED = _IS_NO_GAP | _IS_NOT_OURS
_UNREPAIRED = Gap.objects.filter(is_repaired=False)
_IS_REPAIRED = ~_IS_CLOSED & ~Q(Exists(_UNREPAIRED.filter(group=OuterRef("pk"))))
_FAILED_AGAIN = _UNREPAIRED.filter(
    group=OuterRef("group"), turn__release_number__gt=OuterRef("release_number")
)
_IS_HANDLED = (
    Q(Exists(_ACTIONS.filter(~Exists(_FAILED_AGAIN), failing=None))) & ~_IS_CLOSED & ~_IS_REPAIRED
)
STATES: Mapping[str, tuple[str, Q]] = {
    "": (gettext_noop("To do"), ~_IS_CLOSED & ~_IS_REPAIRED & ~_IS_HANDLED),
    "handled": (gettext_noop("Something was done"), _IS_HANDLED),
    "repaired": (gettext_noop("Would be answered now"), _IS_REPAIRED),
    "no_gap": (gettext_noop("No gap"), _IS_NO_GAP),
    "not_ours": (gettext_noop("Not ours"), _IS_NOT_OURS),
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
    open_groups = set(gaps.filter(is_repaired=False).order_by().values_list("group", flat=True))
    names = agency_names()
    return [
        {
            "group": group,
            "is_repaired": group.pk not in open_groups,
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

    ``search`` are words of a service of the draft, in any of its languages, looked for in place of
    the ranking. ``sure`` is the service that the ranking is sure of, "" for none: never one whose
    answer was of no use.
    """
    scope, release = agencies_of(user), knowledge.current_release()
    keys: list[tuple[str, str]] = []
    situations: list[str] = []
    is_sure = False
    if release is not None:
        view = release.in_language(group.language)
        ranking = shortlist_for(view).rank(Query(text))
        ranked = ranking.services(agencies=scope, limit=OFFERED)
        keys = [(hit.item.agency, hit.item.key) for hit in ranked]
        situations = [hit.item.key for hit in ranking.situations(limit=OFFERED)]
        is_sure = bool(ranked) and ranked[0].probability >= SURE_ENOUGH
    if search.strip():
        matches = draft_services(search, "")
        if scope is not None:
            matches = matches.filter(agency__in=scope)
        keys, is_sure = [(row["agency"], row["key"]) for row in matches[:OFFERED]], False
    useless = _useless(group)
    drafts = service_names(key for _, key in keys)
    names = agency_names()
    services: list[Option] = [
        {
            **_option(key, drafts, group.language),
            "agency": names.get(key[0], key[0]),
            "useless": key in useless,
        }
        for key in keys
    ]
    drafted = Situation.objects.filter(key__in=situations) if works_for(user, "") else ()
    return {
        "services": services,
        "sure": " ".join(keys[0]) if is_sure and keys[0] not in useless else "",
        "situations": sorted(drafted, key=lambda situation: situations.index(situation.key)),
    }


def _useless(group: GapGroup) -> set[tuple[str, str]]:
    """Return the services with which the questions of a group were answered badly."""
    gaps = group.gaps.filter(outcome__in=BAD_ANSWERS)
    cited = Citation.objects.filter(reply__turn__in=gaps.values("turn"))
    return set(cited.values_list("agency", "service"))


def _option(key: tuple[str, str], drafted: Mapping[tuple[str, str], str], language: str) -> Option:
    """Return a service with its name in the language of the page, and in that of the question where
    that is another."""
    release = knowledge.current_release()
    views = [release.in_language(code) for code in (current(), language)] if release else []
    written = drafted.get(key, key[1])
    names = [v.services[key].name if key in v.services else written for v in views] or [written]
    return {
        "value": " ".join(key),
        "name": names[0],
        "other": names[-1] if names[-1] != names[0] else "",
        "url": edit_url("services", key) if key in drafted else "",
    }


def failing(group: GapGroup) -> Gap | None:
    """Return the question that is to be repaired: the first that would still not be answered."""
    action = group.actions.select_related("failing").last()
    order = group.gaps.order_by("is_repaired", "would_answer", "asked_at", "pk")
    return (action and action.failing) or order.first()


def answers(group: GapGroup) -> list[dict[str, Any]]:
    """Return the newest answers that were of no use, with the citizen's reason."""
    gaps = group.gaps.filter(outcome__in=BAD_ANSWERS)
    replies = Reply.objects.filter(turn__in=gaps.values("turn")).order_by("-created_at")[:EXAMPLES]
    rows = []
    for reply in replies.select_related("turn", "feedback"):
        feedback = getattr(reply, "feedback", None)
        # What tells of danger is for people who decide.
        text = feedback.text if feedback is not None and not find(feedback.text) else ""
        reason = feedback.get_reason_display() if feedback is not None else ""
        view = reply_view(reply, reply.turn)
        rows.append({"turn": reply.turn_id, "reply": view, "reason": reason, "text": text})
    return rows


def flag_of(group: GapGroup) -> str:
    """Return the code of the first sign of danger in the questions of a group, "" for none."""
    gap = group.gaps.exclude(turn__risks=[]).select_related("turn").first()
    return str(gap.turn.risks[0]["code"]) if gap is not None else ""


def not_ours(user: User, since: datetime) -> int:
    """Return how many of the questions since then are in groups that are not ours."""
    groups = visible(user).filter(STATES["not_ours"][1])
    return Gap.objects.filter(group__in=groups, asked_at__gte=since).count()


def next_group(group: GapGroup, user: User) -> int | None:
    """Return the next group to do, None for none."""
    filters = dict.fromkeys(("agency", "language", "outcome", "week", "state"), "")
    return listed(user, **filters).exclude(pk=group.pk).values_list("pk", flat=True).first()


def gap_of(group_id: str, user: User) -> Gap | None:
    """Return the question that is to be repaired of a group as an address names it; None without
    such a group, and for a user who may not see gaps."""
    if not user.has_perm(_MAY_SEE):
        return None
    groups = visible(user).filter(pk=group_id) if group_id.isdecimal() else GapGroup.objects.none()
    group = groups.first()
    return failing(group) if group is not None else None
