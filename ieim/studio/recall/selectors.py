"""Reads: services with their versions, and the answers that cite them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, QuerySet

from conversations import citations
from conversations.models import Citation, Correction
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.formats import csv_lines
from ieim.people.models import User
from ieim.people.scope import agencies_of

MAX_MATCHES = 20
CSV_COLUMNS = {
    "reference": "reply__turn__session__reference",
    "question": "reply__turn__number",
    "answered_at": "reply__created_at",
    "language": "reply__turn__language",
    "origin": "reply__origin",
    "release": "reply__turn__release_number",
    "version": "service_sha256",
}


@dataclass(frozen=True, slots=True)
class Service:
    """A service; ``in_force`` says whether the current release has it."""

    agency: str
    agency_name: str
    key: str
    name: str
    in_force: bool


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a service, and the number of answers that cite it.

    ``releases`` are those in which such answers were made, and the current one; ``first`` and
    ``last`` the moments of those answers, None without one.
    """

    sha256: str
    releases: tuple[int, ...]
    in_force: bool
    answers: int
    sessions: int
    first: datetime | None
    last: datetime | None


def search(user: User, words: str) -> list[Service]:
    """Return the services of the user's agencies that answers cite and whose name has the words."""
    cited = Citation.objects.order_by("agency", "service").values_list("agency", "service")
    scope = agencies_of(user)
    if scope is not None:
        cited = cited.filter(agency__in=scope)
    matches = []
    for service in (current_service(agency, key) for agency, key in cited.distinct()):
        searched = f"{service.name} {service.agency_name} {service.agency} {service.key}".casefold()
        if all(word in searched for word in words.casefold().split()):
            matches.append(service)
    return matches[:MAX_MATCHES]


def current_service(agency: str, key: str) -> Service:
    """Return a service with its name in the current release, else with its ids."""
    release = knowledge.current_release()
    entry = release.services.get((agency, key)) if release else None
    if release is None or entry is None:
        return Service(agency, agency, key, key, in_force=False)
    return Service(agency, release.agencies[agency].name, key, entry.name, in_force=True)


def answers(agency: str, service: str, version: str = "", other: str = "") -> QuerySet[Citation]:
    """Return the answers that cite a ``version`` of a service (blank: any), but never ``other``."""
    citations = Citation.objects.filter(agency=agency, service=service)
    if version:
        citations = citations.filter(service_sha256=version)
    return citations.exclude(service_sha256=other) if other else citations


def listed(agency: str, service: str, version: str = "", other: str = "") -> QuerySet[Citation]:
    """Return :func:`answers` for a list, the newest first, with ``corrected``."""
    corrections = Correction.objects.filter(turn=OuterRef("reply__turn"))
    citations = answers(agency, service, version, other).annotate(corrected=Exists(corrections))
    citations = citations.select_related("reply__turn__session").order_by("-reply_id")
    # No word of the citizen's or of the answer's is needed here, so none is read.
    return citations.defer("reply__body", "reply__marked", "reply__turn__text")


def as_csv(citations: QuerySet[Citation]) -> Iterator[str]:
    """Yield answers as CSV, line by line, with a header; times are UTC (ISO 8601)."""
    rows = citations.values_list(*CSV_COLUMNS.values()).iterator(chunk_size=1000)
    cells = ([c.isoformat() if isinstance(c, datetime) else c for c in row] for row in rows)
    return csv_lines(tuple(CSV_COLUMNS), cells)


def versions(agency: str, service: str) -> list[Version]:
    """Return the versions that answers cite and the one in force, the newest first."""
    rows = answers(agency, service).order_by().values("service_sha256")
    totals = rows.annotate(
        answers=Count("pk"),
        sessions=Count("reply__turn__session", distinct=True),
        first=Min("reply__created_at"),
        last=Max("reply__created_at"),
    )
    counts: dict[str, Any] = {row["service_sha256"]: row for row in totals}
    releases: dict[str, set[int]] = defaultdict(set)
    numbers = rows.values_list("service_sha256", "reply__turn__release_number").distinct()
    for version, number in numbers:
        releases[version].add(number)
    current, in_force = current_version(agency, service), knowledge.current_number()
    if current and in_force:
        releases[current].add(in_force)
    none = {"answers": 0, "sessions": 0, "first": None, "last": None}
    return [
        Version(
            sha256=version,
            releases=tuple(sorted(releases[version])),
            in_force=version == current,
            **{name: counts.get(version, none)[name] for name in none},
        )
        for version in sorted(releases, key=lambda version: max(releases[version]), reverse=True)
    ]


def current_version(agency: str, service: str) -> str:
    """Return the version of a service in the current release, blank without one."""
    release = knowledge.current_release()
    if release is None or (agency, service) not in release.services:
        return ""
    return citations.version(release, agency, service)
