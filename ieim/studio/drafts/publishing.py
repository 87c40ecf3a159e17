"""Making the draft the current release: one transaction with its audit event."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge import selectors
from ieim.knowledge.audited import published
from ieim.knowledge.bundles.bundle import BundleError
from ieim.knowledge.models import Publication, Release
from ieim.people.models import User
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
    last = Release.objects.aggregate(last=Max("number"))["last"] or 0
    value = bundle.release(last + 1)
    current = selectors.current_number()
    if current is not None and Release.objects.get(number=current).sha256 == value.sha256:
        raise NothingToPublishError(current)
    release = Release(
        number=value.number,
        sha256=value.sha256,
        content=bundle.content,
        note=note,
        created_by=by,
    )
    release.save()
    publication = Publication.objects.create(release=release, published_by=by)
    record_system(
        kind="knowledge.published",
        payload={
            "release": release.number,
            "sha256": release.sha256,
            "agencies": len(bundle.agencies),
            "services": len(bundle.services),
        },
        actor="system" if by is None else by.actor,
        rows=published(release, publication),
    )
    return release
