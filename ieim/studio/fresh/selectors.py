"""Reads: services with their owners and dates, due reminders, and links with what is wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Row:
    """A service of the draft; ``review`` is not stored where nothing is planned."""

    agency: str
    agency_name: str
    key: str
    name: str
    review: ContentReview

    @property
    def is_overdue(self) -> bool:
        return self.review.review_by is not None and self.review.review_by <= timezone.localdate()


def rows(*, owner: User | None = None) -> list[Row]:
    """Return the services of the draft, the earliest date first; with ``owner`` only theirs."""
    reviews = ContentReview.objects.filter(table="services").select_related("owner")
    plans = {review.entry: review for review in reviews}
    services = Service.objects.values_list("agency_id", "agency__name", "key", "name")
    result = [
        Row(agency, agency_name, key, name, plans.get(f"{agency} {key}") or ContentReview())
        for agency, agency_name, key, name in services
    ]
    if owner is not None:
        result = [row for row in result if row.review.owner == owner]
    return sorted(result, key=lambda row: row.review.review_by or date.max)


def owners(agency: str) -> QuerySet[User]:
    """Return the active accounts that may change the services of an agency."""
    editors = User.objects.with_perm(
        "studio.change_service", backend="django.contrib.auth.backends.ModelBackend"
    )
    scope = Q(agency_scopes__agency__in=[agency, EVERY_AGENCY]) | Q(is_superuser=True)
    return editors.filter(scope).distinct().order_by("first_name", "last_name", "username")


def due(now: datetime) -> QuerySet[ContentReview]:
    """Return the dates that have come of which their owners are to be reminded now."""
    reviews = ContentReview.objects.filter(review_by__lte=timezone.localdate(now))
    reviews = reviews.filter(owner__is_active=True).exclude(owner__email="")
    return reviews.filter(Q(reminded_at=None) | Q(reminded_at__lte=now - AGAIN))


def links() -> dict[str, list[Remark]]:
    """Return every link of the draft and of the current release, with the entries that have it."""
    contents: list[Mapping[str, Any]] = [drafts.draft().bundle.content]
    newest = Publication.objects.select_related("release").first()
    if newest is not None:
        contents.append(newest.release.content)
    result: dict[str, dict[Remark, None]] = defaultdict(dict)
    for content in contents:
        for table in TABLES:
            for values in content.get(table, ()):
                texts = [v for value in values.values() for v in _texts(value) if "://" in v]
                if not texts:
                    continue
                name, agency = entry_name(table, values), agency_of(table, values)
                remark = Remark("", Severity.WARNING, table, name, agency, "")
                for link in [link for text in texts for link in _links(text)]:
                    result[link][remark] = None
    return {link: list(remarks) for link, remarks in result.items()}


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [item for item in values if isinstance(item, str)]


def _links(text: str) -> list[str]:
    if text.lower().startswith(_WEB) and not any(map(str.isspace, text)):
        return [text]
    urls = [fact.text for fact in facts(text) if fact.kind == "url"]
    return [url for url in urls if url.lower().startswith(_WEB)]


def faults(run: LinkRun | None) -> list[tuple[str, LinkRun.Outcome, str, list[Remark]]]:
    """Return ``(link, outcome, target, entries)`` of a run: what still stands in the knowledge, and
    of sites that did not answer only what did not twice in a row."""
    if run is None:
        return []
    entries = links()
    return [
        (link, LinkRun.Outcome(fault["outcome"]), fault["target"], entries[link])
        for link, fault in sorted(run.faults.items())
        if link in entries
        and (fault["outcome"] != LinkRun.Outcome.UNREACHABLE or fault["failures"] > 1)
    ]
