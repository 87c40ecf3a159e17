"""Making a release current: one transaction with its audit event."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext

from ieim.audit.canonical import JSONValue
from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge import selectors
from ieim.knowledge.audited import published
from ieim.knowledge.bundles.bundle import BundleError
from ieim.knowledge.models import Publication, Release
from ieim.people.models import User
from ieim.pipeline.canonical import digest
from ieim.studio.drafts import selectors as drafts
from ieim.studio.models import Service


class PublishError(Exception):
    """The draft cannot become a release; ``reasons`` says why, a sentence each."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = list(reasons)


class NothingToPublishError(PublishError):
    """The draft is the current release, ``number``, to the byte."""

    def __init__(self, number: int) -> None:
        message = gettext("The draft is the same as the current release, {current}.")
        super().__init__([message.format(current=number)])
        self.number = number


@transaction.atomic
def publish(*, note: str, by: User | None) -> Release:
    """Make a release of the draft and make it current.

    Raises :class:`PublishError` for an empty or faulty draft, and its
    :class:`NothingToPublishError` for one that is the current release already; then nothing has
    changed.
    """
    lock_head(SYSTEM_CHAIN)  # each change of draft or releases ends with an event of this chain
    if not Service.objects.exists():
        raise PublishError(
            ["The draft has no services: load a bundle (manage.py load_knowledge) or add some."]
        )
    try:
        bundle = drafts.draft()
    except BundleError as error:
        raise PublishError([str(problem) for problem in error.errors]) from error
    content = bundle.content
    current, sha256 = selectors.newest(), digest(content)
    if current is not None and current.sha256 == sha256:
        raise NothingToPublishError(current.number)
    release = Release(sha256=sha256, content=content, note=note, created_by=by)
    return make_current(release, by=by)


def make_current(release: Release, *, by: User | None, **fields: JSONValue) -> Release:
    """Store a release that has no number yet, and publish it; its event also has ``fields``.

    Runs inside the caller's transaction, which holds the chain of the system's events.
    """
    if release._state.adding:
        last = Release.objects.aggregate(last=Max("number"))["last"] or 0
        release.number = last + 1
        release.save()
    publication = Publication.objects.create(release=release, published_by=by)
    record_system(
        kind="knowledge.published",
        payload={
            "release": release.number,
            "sha256": release.sha256,
            "agencies": len(release.content["agencies"]),
            "services": len(release.content["services"]),
            **fields,
        },
        actor="system" if by is None else by.actor,
        rows=published(release, publication),
    )
    return release
