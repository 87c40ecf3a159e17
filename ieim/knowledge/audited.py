"""The rows of the knowledge that audit events vouch for (see :mod:`ieim.audit.audited`)."""

from __future__ import annotations

from ieim.audit.audited import AuditedModel
from ieim.audit.canonical import Row
from ieim.audit.models import VECTORS_CHAIN
from ieim.knowledge.models import Publication, Release, Vector
from ieim.pipeline.canonical import digest

RELEASE = AuditedModel(
    "release",
    Release.objects.all,
    ("number", "sha256", "note", "created_at", "created_by_id"),
    related=lambda release: {"content_sha256": digest(release.content)},
    is_immutable=True,
    chunk_size=1,
)
PUBLICATION = AuditedModel(
    "publication",
    Publication.objects.all,
    ("id", "release_id", "published_at", "published_by_id"),
    is_immutable=True,
)
VECTOR = AuditedModel(
    "vector",
    Vector.objects.all,
    ("embedder", "sha256", "value"),
    # Whoever deletes them loses nothing but time; one that is made again is another row.
    is_removable=True,
    is_backfilled=True,
    default_chain=VECTORS_CHAIN,
)
KINDS = (RELEASE, PUBLICATION, VECTOR)


def published(release: Release, publication: Publication) -> list[Row]:
    """Return the rows of a publication, whose release's digest is known to be its content's."""
    return [RELEASE.row(release, content_sha256=release.sha256), PUBLICATION.row(publication)]
