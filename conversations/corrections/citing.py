"""Writing down what a reply was made from, with the reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from conversations.corrections.versions import content_of, digest_of
from conversations.models import Citation, Reply
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.cards import Source


def cite(*, reply: Reply, sources: Sequence[Source], release: Release) -> None:
    """Store the citations of ``reply``, inside the caller's transaction.

    ``release`` is the turn's, as it was written: a version is the same in every language.
    """
    cited = dict.fromkeys((source.agency_id, source.service_key) for source in sources)
    Citation.objects.bulk_create(
        Citation(
            reply=reply,
            agency=agency,
            service=service,
            service_sha256=version(release, agency, service),
        )
        for agency, service in cited
    )


def version(release: Release, agency: str, service: str) -> str:
    """Return the version of a service in a release; raises KeyError where it is not there."""
    own = (agency, service)
    words = (asdict(t) for t in release.translations if (t.agency, t.service) == own)
    return digest_of(content_of(asdict(release.services[own]), words))
