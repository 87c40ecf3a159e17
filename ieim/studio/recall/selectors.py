"""Reads: the services that answers were made from, their versions, and those answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count, Exists, Max, Min, OuterRef, QuerySet

from conversations import corrections
from conversations.corrections import content_in
from conversations.models import Citation, Correction
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.formats import csv_lines
from ieim.knowledge.models import Release
from ieim.knowledge.vectors import shortlist_for
from ieim.people.scope import agencies_of
from ieim.pipeline.ports import Query
from ieim.studio.labels import column_name

User = AbstractBaseUser | AnonymousUser

FOUND = 20
"""How many services a search shows."""
LEAST = 0.01
"""A service that is less likely than this is not what the words are about."""
COMPARED = 20
"""Of so many versions, the newest, is shown what changed: each costs the reading of a release."""


@dataclass(frozen=True, slots=True)
class Found:
    """A service to choose; ``in_force`` says whether the current release has it."""

    agency: str
    agency_name: str
    service: str
    name: str
    in_force: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a service that one version changed; texts are empty where there was nothing."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a service: the releases that answers were made from it in, and how many.

    ``first`` and ``last`` are the moments of those answers, None without one. ``differences`` are
    against the version before, None where that was not looked at.
    """

    sha256: str
    releases: tuple[int, ...]
    answers: int
    sessions: int
    first: datetime | None
    last: datetime | None
    in_force: bool
    differences: tuple[Difference, ...] | None


def search(user: User, words: str) -> list[Found]:
    """Return services of the user's agencies that fit ``words`` best, those that are gone last."""
    release = knowledge.current_release()
    scope = agencies_of(user)
    found: list[Found] = []
    if release is not None:
        # All agencies for an unlimited user: the search expects None for that.
        ids = None if scope is None else sorted(scope & release.agencies.keys())
        ranking = shortlist_for(release).rank(Query(words))
        ranked = ranking.services(agencies=ids, limit=FOUND)
        for service in (each.item for each in ranked if each.probability >= LEAST):
            name = release.agencies[service.agency].name
            found.append(Found(service.agency, name, service.key, service.name))
    return found + _gone(scope, words, set(release.services) if release else set())


def _gone(scope: frozenset[str] | None, words: str, existing: set[tuple[str, str]]) -> list[Found]:
    """Return services that answers were made from and that the current release has no more."""
    cited = Citation.objects.order_by("agency", "service").values_list("agency", "service")
    if scope is not None:
        cited = cited.filter(agency__in=scope)
    terms = words.casefold().split()
    return [
        Found(agency, agency, service, service, in_force=False)
        for agency, service in cited.distinct()
        if (agency, service) not in existing
        and all(word in f"{agency} {service}".casefold() for word in terms)
    ][:FOUND]


def name_of(agency: str, service: str) -> Found:
    """Return what a service is called now; its ids where the current release does not have it."""
    release = knowledge.current_release()
    entry = release.services.get((agency, service)) if release else None
    if release is None or entry is None:
        return Found(agency, agency, service, service, in_force=False)
    return Found(agency, release.agencies[agency].name, service, entry.name)


def answers(agency: str, service: str, version: str = "", other: str = "") -> QuerySet[Citation]:
    """Return the answers made from a service: from one version of it or from any.

    Never from the version ``other``, where that is given.
    """
    found = Citation.objects.filter(agency=agency, service=service)
    found = found.filter(service_sha256=version) if version else found
    return found.exclude(service_sha256=other) if other else found


def listed(agency: str, service: str, version: str = "", other: str = "") -> QuerySet[Citation]:
    """Return :func:`answers` for a list, the newest first; ``corrected`` says whether it was."""
    sent = Correction.objects.filter(turn=OuterRef("reply__turn"))
    found = answers(agency, service, version, other).annotate(corrected=Exists(sent))
    found = found.select_related("reply__turn__session")
    # No word of the citizen's or of the answer's is needed here, so none is read.
    return found.defer("reply__body", "reply__marked", "reply__turn__text").order_by("-reply_id")


_HEADER = ("reference", "question", "answered_at", "language", "origin", "release", "version")


def as_csv(found: Iterable[Citation]) -> Iterator[str]:
    """Yield answers as CSV, line by line, with a header; times are UTC (ISO 8601)."""
    rows = (
        (
            each.reply.turn.session.reference,
            each.reply.turn.number,
            each.reply.created_at.isoformat(),
            each.reply.turn.language,
            each.reply.origin,
            each.reply.turn.release_number,
            each.service_sha256,
        )
        for each in found
    )
    return csv_lines(_HEADER, rows)


def versions(agency: str, service: str) -> list[Version]:
    """Return the versions that answers were made from and the one in force, the newest first."""
    rows = answers(agency, service).order_by().values("service_sha256")
    counted: dict[str, Any] = {
        row["service_sha256"]: row
        for row in rows.annotate(
            answers=Count("pk"),
            sessions=Count("reply__turn__session", distinct=True),
            first=Min("reply__created_at"),
            last=Max("reply__created_at"),
        )
    }
    releases: dict[str, set[int]] = {version: set() for version in counted}
    numbers = rows.values_list("service_sha256", "reply__turn__release_number").distinct()
    for version, number in numbers:
        releases[version].add(number)
    current = _in_force(agency, service)
    if current is not None:
        releases.setdefault(current[0], set()).add(current[1])
    ordered = sorted(releases, key=lambda version: max(releases[version]))
    contents = {
        version: _content(agency, service, max(releases[version]))
        for version in ordered[-COMPARED:]
    }
    none = {"answers": 0, "sessions": 0, "first": None, "last": None}
    found = [
        Version(
            sha256=version,
            releases=tuple(sorted(releases[version])),
            in_force=current is not None and version == current[0],
            differences=_differences(contents.get(before), contents.get(version)),
            **{name: counted.get(version, none)[name] for name in none},
        )
        for before, version in zip(["", *ordered], ordered, strict=False)
    ]
    return found[::-1]


def replaced_by(agency: str, service: str) -> str:
    """Return the version in force where answers were made from others as well, else blank."""
    current = _in_force(agency, service)
    replaced = current is not None and answers(agency, service, other=current[0]).exists()
    return current[0] if current is not None and replaced else ""


def by_version(found: QuerySet[Citation]) -> list[tuple[tuple[int, ...], int]]:
    """Return of which releases' versions some answers are and how many, the newest last."""
    versions: dict[str, tuple[set[int], int]] = {}
    rows = found.order_by().values_list("service_sha256", "reply__turn__release_number")
    for version, release, count in rows.annotate(Count("pk")):
        releases, so_far = versions.get(version, (set(), 0))
        versions[version] = (releases | {release}, so_far + count)
    ordered = sorted(versions.values(), key=lambda version: max(version[0]))
    return [(tuple(sorted(releases)), count) for releases, count in ordered]


def version_in(agency: str, service: str, number: int) -> str | None:
    """Return the version of a service in a release, None where that does not have it.

    Raises :class:`ieim.knowledge.selectors.UnknownReleaseError`.
    """
    release = knowledge.release(number)
    exists = (agency, service) in release.services
    return corrections.version(release, agency, service) if exists else None


def was_ever(agency: str, service: str) -> bool:
    """Whether any release has, or had, a service."""
    contents = Release.objects.order_by("-number").values_list("content", flat=True)
    return any(content_in(each, agency, service) for each in contents.iterator(chunk_size=1))


def _in_force(agency: str, service: str) -> tuple[str, int] | None:
    release = knowledge.current_release()
    if release is None or (agency, service) not in release.services:
        return None
    return corrections.version(release, agency, service), release.number


def _content(agency: str, service: str, number: int) -> dict[str, Any]:
    # Not through the cache of releases: turns need those in it, and this one is not needed again.
    content = Release.objects.values_list("content", flat=True).get(number=number)
    return content_in(content, agency, service)


def _differences(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> tuple[Difference, ...] | None:
    if before is None or after is None:
        return None
    old, new = _flat(before), _flat(after)
    return tuple(
        Difference(_label(*each), old.get(each, ""), new.get(each, ""))
        for each in dict.fromkeys((*old, *new))
        if old.get(each) != new.get(each)
    )


def _label(name: str, language: str) -> str:
    return f"{column_name(name)} ({language})" if language else column_name(name)


def _flat(content: Mapping[str, Any], language: str = "") -> dict[tuple[str, str], str]:
    """Return a service's content as texts by the column, and the language of a translation."""
    found: dict[tuple[str, str], str] = {}
    for name, value in content.items():
        if name == "translations":
            for code, texts in value.items():
                found |= _flat(texts, code)
        elif not language or name not in ("agency", "service", "language"):
            found[name, language] = "\n".join(value) if isinstance(value, list) else str(value)
    return found
