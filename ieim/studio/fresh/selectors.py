"""Reads: services with their owners and dates, due reminders, and links with what is wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from ieim.knowledge.bundles.rows import TABLES
from ieim.knowledge.models import Publication
from ieim.people.models import EVERY_AGENCY, User
from ieim.pipeline.facts import facts
from ieim.studio.checks import Remark, Severity
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts.history import agency_of
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.models import ContentReview, LinkRun, Service

AGAIN = timedelta(days=7)
"""Between two reminders of one date."""
_WEB = ("http://", "https://")


def reviewed_services(*, owner: User | None = None) -> list[tuple[Service, ContentReview]]:
    """Return the draft's services, of ``owner`` or all, with their reviews, the earliest first; a
    review that nobody planned is blank and not stored."""
    stored = ContentReview.objects.filter(table="services").select_related("owner")
    reviews = {review.entry: review for review in stored}
    services = Service.objects.select_related("agency").only("key", "name", "agency__name")
    pairs = [(s, reviews.get(f"{s.agency_id} {s.key}") or ContentReview()) for s in services]
    pairs = [pair for pair in pairs if owner is None or pair[1].owner == owner]
    return sorted(pairs, key=lambda pair: pair[1].review_by or date.max)


def owners(agency: str) -> QuerySet[User]:
    """Return the active accounts that may change the services of an agency."""
    editors = User.objects.with_perm(
        "studio.change_service", backend="django.contrib.auth.backends.ModelBackend"
    )
    scope = Q(agency_scopes__agency__in=[agency, EVERY_AGENCY]) | Q(is_superuser=True)
    return editors.filter(scope).distinct().order_by("first_name", "last_name", "username")


def due(now: datetime) -> QuerySet[ContentReview]:
    """Return the reviews of which their owners are to be reminded now."""
    reviews = ContentReview.objects.filter(review_by__lte=timezone.localdate(now))
    reviews = reviews.filter(owner__is_active=True).exclude(owner__email="")
    return reviews.filter(Q(reminded_at=None) | Q(reminded_at__lte=now - AGAIN))


def links() -> dict[str, list[Remark]]:
    """Return every link of the draft and of the current release, with the entries that have it."""
    contents: list[Mapping[str, Any]] = [drafts.draft().bundle.content]
    if newest := Publication.objects.select_related("release").first():
        contents.append(newest.release.content)
    result: dict[str, dict[Remark, None]] = defaultdict(dict)
    for content in contents:
        for table in TABLES:
            for values in content.get(table, ()):
                for link in [link for value in values.values() for link in _links(value)]:
                    entry, agency = entry_name(table, values), agency_of(table, values)
                    result[link][Remark("", Severity.WARNING, table, entry, agency, "")] = None
    return {link: list(remarks) for link, remarks in result.items()}


def _links(value: object) -> Iterator[str]:
    for text in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(text, str) or "://" not in text:
            continue
        is_link = text.lower().startswith(_WEB) and not any(map(str.isspace, text))
        urls = [text] if is_link else [fact.text for fact in facts(text) if fact.kind == "url"]
        yield from (url for url in urls if url.lower().startswith(_WEB))


def faults(run: LinkRun | None) -> list[tuple[str, LinkRun.Outcome, str, list[Remark]]]:
    """Return ``(link, outcome, target, entries)`` of a run, without links that are there no more
    and sites that were not reached only once."""
    entries = links() if run else {}
    rows = [
        (link, LinkRun.Outcome(fault["outcome"]), fault["failures"], fault["target"])
        for link, fault in sorted(run.faults.items() if run else ())
    ]
    return [
        (link, outcome, target, entries[link])
        for link, outcome, failures, target in rows
        if link in entries and (outcome != LinkRun.Outcome.UNREACHABLE or failures > 1)
    ]
