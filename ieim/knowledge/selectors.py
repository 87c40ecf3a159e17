"""Reading the releases: which is current, and what is in it."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.models import Publication, Release
from ieim.pipeline import knowledge
from ieim.search.caching import Cache

_CACHE_SIZE = 4
"""Releases kept in a process: the current one and those of turns that began before it."""


_releases: Cache[tuple[int, str], knowledge.Release] = Cache(_CACHE_SIZE)
_PUBLISHED: Final = ("id", "release_id", "release__sha256", "published_at")


class Published(NamedTuple):
    """A publication: its id (the newest has the highest), of which release, and when."""

    id: int
    number: int
    sha256: str
    at: datetime


class UnknownReleaseError(LookupError):
    """There is no release of that number."""


class CorruptReleaseError(RuntimeError):
    """A stored release is not what its digest says: the database was changed behind its back."""


def current_number() -> int | None:
    """Return the number of the release that new turns are pinned to, None before the first."""
    return Publication.objects.order_by("-id").values_list("release_id", flat=True).first()


def current_release() -> knowledge.Release | None:
    """Return the current release, None before the first publication.

    A newer publication is noticed at once: each call asks for the newest with one small query.
    """
    publication = newest()
    return None if publication is None else loaded(publication)


def newest() -> Published | None:
    """Return the newest publication, whose release is the current one."""
    row = Publication.objects.order_by("-id").values_list(*_PUBLISHED).first()
    return None if row is None else Published(*row)


def published_since(first: Published | None) -> list[Published]:
    """Return ``first`` and every later publication, the newest last.

    Only the newest where ``first`` is None or not there (the database was replaced).
    """
    if first is not None:
        rows = Publication.objects.filter(pk__gte=first.id).order_by("id").values_list(*_PUBLISHED)
        publications = [Published(*row) for row in rows]
        if publications and publications[0] == first:
            return publications
    publication = newest()
    return [] if publication is None else [publication]


def loaded(publication: Published) -> knowledge.Release:
    """Return the published release, loaded once per process.

    Raises :class:`CorruptReleaseError`.
    """
    return _value(publication.number, publication.sha256)


def release(number: int) -> knowledge.Release:
    """Return release ``number``, loaded once per process.

    Raises :class:`UnknownReleaseError`, and :class:`CorruptReleaseError` when it does not have its
    digest.
    """
    sha256 = Release.objects.filter(number=number).values_list("sha256", flat=True).first()
    if sha256 is None:
        raise UnknownReleaseError(f"there is no release {number}")
    return _value(number, sha256)


def risk_examples(publication: Published) -> tuple[knowledge.RiskExample, ...]:
    """Return the examples of a published release, without loading all of it."""
    rows = Release.objects.filter(number=publication.number).values_list("content__risk_examples")
    return tuple(knowledge.RiskExample(**row) for row in rows.get()[0] or ())


def _value(number: int, sha256: str) -> knowledge.Release:
    # The digest is part of the key: another database may have another release of that number.
    return _releases.get((number, sha256), lambda: _load(number, sha256))


def _load(number: int, sha256: str) -> knowledge.Release:
    content = Release.objects.values_list("content", flat=True).get(number=number)
    value = Bundle.from_content(content).release(number)
    if value.sha256 != sha256:
        raise CorruptReleaseError(f"release {number} does not have the digest {sha256}")
    return value


forget_unused = _releases.forget_unused
