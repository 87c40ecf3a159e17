"""What replies are made from: their citations, and the versions of a service.

Releases that say the same of a service have the same version of it. Values are rows of the content
of a release: dicts with the columns of a bundle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from conversations.models import Citation, Reply
from ieim.pipeline.canonical import digest
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.cards import Source


def cite(*, reply: Reply, sources: Sequence[Source], release: Release) -> list[Citation]:
    """Store and return the citations of ``reply``, inside the caller's transaction.

    ``release`` is the turn's, as it was written: a version is the same in every language.
    """
    cited = dict.fromkeys((source.agency_id, source.service_key) for source in sources)
    return Citation.objects.bulk_create(
        Citation(
            reply=reply,
            agency=agency,
            service=service,
            service_sha256=version(release, agency, service),
        )
        for agency, service in cited
    )


def version(release: Release, agency: str, service: str) -> str:
    """Return the version of a service in a release: the lower-case hex SHA-256 over RFC 8785 of
    :func:`content_of`. Raises KeyError where it is not there."""
    key = (agency, service)
    words = (asdict(t) for t in release.translations if (t.agency, t.service) == key)
    return digest(content_of(asdict(release.services[key]), words))


Row = Mapping[str, Any]


def content_of(service: Row, translations: Iterable[Row]) -> dict[str, Any]:
    """Return what a release says of a service, its translations (of any service) by language.

    Empty columns are left out: a column that is added later changes no version.
    """
    key = (service["agency"], service["key"])
    content = _filled(service)
    texts = {
        words["language"]: _filled(words)
        for words in translations
        if (words["agency"], words["service"]) == key
    }
    return {**content, "translations": texts} if texts else content


def content_in(release: Mapping[str, Iterable[Row]], agency: str, service: str) -> dict[str, Any]:
    """Return what a release's content says of a service, empty where it does not have it."""
    for row in release["services"]:
        if (row["agency"], row["key"]) == (agency, service):
            return content_of(row, release.get("translations", ()))
    return {}


def _filled(row: Row) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in row.items() if v}
