"""Items that failed alike: the same step, first reason, answer of the model and release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet
from django.utils import timezone

from conversations.models import Turn
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.pipeline.stages import service_select
from ieim.pipeline.topology import REPLY
from review.deciding import answers
from review.finding_texts import resolve
from review.models import REFUSED, Decision, ReviewItem
from review.queue.filters import ItemFilter, is_away
from review.queue.selectors import Listing
from review.scope import visible
from review.states import ReviewState

MIN_ALIKE = 5
"""From so many alike items on they are one row."""
TABS = ("open", "triage")
"""The lists in which alike items are one row."""
HOUR = timedelta(hours=1)
MAX_SUBJECT = 100
_ANSWERED = {
    service_select.STAGE.id: "/serviceSelection/serviceKey",
    "category_select_v1": "/categorySelection/candidates",
    "agency_detect_v1": "/judgements/agencyDetected",
    "classify": "/primary_intent",
}
"""By stage, where its answer names what it is about."""


@dataclass(frozen=True, slots=True)
class Group:
    """Open items that failed alike: how many, of which opened in the last hour (``recent``) and in
    the one before (``earlier``), and since when. ``key`` is that of :func:`key_of`."""

    key: str
    number: int
    recent: int
    earlier: int
    since: datetime


def key_of(turn: Turn, *, stage: str, reason: str) -> str:
    """Return what the items of a group have in common: step, reason, codes and release.

    The codes are those that the model answered, as far as the release has them; a reply has those
    of the chosen service.
    """
    contract = service_select.STAGE.id if stage == REPLY else stage
    answer = answers.last_readable(answers.stage_of(turn, contract)) or {}
    value = resolve(answer, _ANSWERED[contract]) if contract in _ANSWERED else None
    codes = [value] if isinstance(value, str) else value or ()
    release = knowledge.release(turn.release_number) if codes else None
    names = sorted({code for code in codes if isinstance(code, str) and _name(release, code)})
    return "|".join((stage, reason, ",".join(names)[:MAX_SUBJECT], str(turn.release_number)))


def subject_name(release: Release | None, codes: str) -> str:
    """Return the names of the codes of a key; empty for none."""
    return ", ".join(filter(None, (_name(release, code) for code in codes.split(","))))


def _name(release: Release | None, code: str) -> str:
    """Return the name of a code of the release, empty where it has none: a model wrote the code."""
    if release is None:
        return ""
    if code in release.agencies:
        return release.agencies[code].name
    services = (service.name for (_, key), service in release.services.items() if key == code)
    topics = (topic.value for (_, key), topic in release.categories.items() if key == code)
    labels = (values[code].name for values in release.labels.values() if code in values)
    return next((name for names in (services, topics, labels) for name in names), "")


def groups(items: QuerySet[ReviewItem], now: datetime, *, least: int = MIN_ALIKE) -> list[Group]:
    """Return the groups of ``least`` and more among open items, the largest first; one query."""
    earlier = Q(opened_at__gt=now - 2 * HOUR, opened_at__lte=now - HOUR)
    rows = _groupable(items).order_by().values("alike").annotate(number=Count("pk"))
    rows = rows.annotate(
        recent=Count("pk", filter=Q(opened_at__gt=now - HOUR)),
        earlier=Count("pk", filter=earlier),
        since=Min("opened_at"),
    )
    largest = rows.filter(number__gte=least).order_by("-number", "alike")
    columns = ("alike", "number", "recent", "earlier", "since")
    return [Group(*row) for row in largest.values_list(*columns)]


def of_list(listed: Listing, filters: ItemFilter, now: datetime) -> tuple[Listing, list[Group]]:
    """Return a list without the items of its groups, and the groups; none where the list is of one
    conversation or group, or asks for single items."""
    values = filters.values
    shows_all = values["alike"] or values["single"] or values["tab"] not in TABS
    if shows_all or listed.session is not None:
        return listed, []
    free, *others = listed.branches
    alike = groups(free, now)
    rest = free.exclude(alike__in=[group.key for group in alike], rank__gt=REFUSED)
    return replace(listed, branches=(rest, *others)), alike


def members(user: User, filters: ItemFilter, key: str) -> QuerySet[ReviewItem]:
    """Return the items of a group within a list's filters that are free or the user's and not put
    away, in the order of the queue. Raises :class:`~review.queue.filters.BadAddress`."""
    free = Q(state=ReviewState.CLAIMED, claimed_by=user.pk) | Q(state=ReviewState.OPEN)
    items = visible(user).filter(free, ~is_away(timezone.now()), rank__gt=REFUSED)
    items = items.order_by("rank", "due_at", "pk")
    within = ItemFilter.parse({**filters.values, "alike": key})
    return items.filter(pk__in=within.filter_queryset(visible(user)).values("pk"))


def decision_of(user: User, pk: str) -> Decision | None:
    """Return a decision of the user's that stands, None for none."""
    try:
        return Decision.objects.filter(pk=UUID(pk), actor=user.pk, answers=None).first()
    except ValueError:
        return None


def _groupable(items: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
    """Leave out what is in crisis, and what a model refused to read: it is looked at singly."""
    return items.filter(state=ReviewState.OPEN, alike__isnull=False, rank__gt=REFUSED)
