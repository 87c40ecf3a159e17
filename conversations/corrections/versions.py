"""The versions of a service: releases that say the same of it have the same one.

Values are rows of a release's content: dicts with the columns of a bundle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ieim.pipeline.canonical import digest

Row = Mapping[str, Any]


def content_of(service: Row, translations: Iterable[Row]) -> dict[str, Any]:
    """Return what a release says of a service, its translations (of any service) by language.

    Empty columns are left out: a column that is added later changes no version.
    """
    own = (service["agency"], service["key"])
    content = _said(service)
    texts = {
        words["language"]: _said(words)
        for words in translations
        if (words["agency"], words["service"]) == own
    }
    return {**content, "translations": texts} if texts else content


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the version's name: the lower-case hex SHA-256 over RFC 8785 of :func:`content_of`."""
    return digest(content)


def content_in(release: Mapping[str, Iterable[Row]], agency: str, service: str) -> dict[str, Any]:
    """Return what a release's content says of a service, empty where it does not have it."""
    for row in release["services"]:
        if (row["agency"], row["key"]) == (agency, service):
            return content_of(row, release.get("translations", ()))
    return {}


def _said(row: Row) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in row.items() if v}
