"""Writes: a correction is confirmed once, and delivered to the answers in batches.

Each batch is one transaction with its audit events. A delivery that was cut off can be resumed: no
answer gets the same words twice.
"""

from __future__ import annotations

import hashlib
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from conversations.models import Citation, Correction, CorrectionNotice, Session
from conversations.queueing import queue_after_commit
from conversations.record.audited import CORRECTION, NOTICE
from conversations.turns import moves
from conversations.turns.locking import locked
from ieim.audit import services as audit
from ieim.knowledge.notices.services import BadText, plain_text
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.studio.recall import selectors

SEND = "ieim.studio.tasks.send_corrections"
MAX_TEXT = 1_000
BATCH = 100
"""Answers in one transaction: other writers wait for it, on SQLite all of them."""


class Refused(Exception):
    """A correction that cannot be sent; the message is for its author."""


def text_of(typed: str) -> str:
    """Return a correction's text as citizens will read it.

    Raises:
        Refused: An empty or too long text.
    """
    try:
        return plain_text(typed, limit=MAX_TEXT, lines=True)
    except BadText as bad:
        raise Refused(bad.args[0]) from bad


@transaction.atomic
def confirm(
    *, agency: str, service: str, version: str = "", other: str = "", text: str, by: User
) -> CorrectionNotice:
    """Store a correction for the answers that cite a service, and queue its sending.

    It goes to the answers from ``version`` (blank: any), and to none from ``other``.

    Raises:
        Refused: An unusable text, or no answer to correct.
        Citation.DoesNotExist: An agency that the person does not work for.
    """
    if not works_for(by, agency):
        raise Citation.DoesNotExist
    text = text_of(text)
    notice = CorrectionNotice.objects.create(
        agency=agency,
        service=service,
        service_sha256=version,
        other_than_sha256=other,
        text=text,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        total=selectors.answers(agency, service, version, other).count(),
        created_by=by,
    )
    if notice.total == 0:
        raise Refused(gettext("There is no answer to correct any more."))
    audit.record_system(
        kind="correction.confirmed",
        payload={
            "correction": str(notice.pk),
            "agency": agency,
            "service": service,
            "service_sha256": version,
            "other_than_sha256": other,
            "answers": notice.total,
            "text_sha256": notice.text_sha256,
        },
        actor=by.actor,
        rows=[NOTICE.row(notice)],
    )
    queue(notice_id=notice.pk)
    return notice


def queue(*, notice_id: UUID) -> None:
    """Queue the sending of a correction, or the rest of it, on commit."""
    # By name: the tasks import this module.
    queue_after_commit(SEND, str(notice_id), queue=moves.QUEUE)


def deliver(*, notice_id: UUID) -> CorrectionNotice:
    """Put a correction under every answer that it is for and that does not have it yet."""
    last: int | None = 0
    while last is not None:
        last = _deliver_batch(notice_id, last)
    return CorrectionNotice.objects.get(pk=notice_id)


@transaction.atomic
def _deliver_batch(notice_id: UUID, last: int) -> int | None:
    """Deliver the batch after the citation ``last``; return its last one, None at the end."""
    notice = CorrectionNotice.objects.select_for_update().get(pk=notice_id)
    if notice.sent_at is not None:
        return None
    same = Correction.objects.filter(turn=OuterRef("reply__turn"), text_sha256=notice.text_sha256)
    pending = _citations(notice).filter(~Exists(same))
    batch = list(pending.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH])
    if not batch:
        _finish(notice)
        return None
    # Whoever erases a session locks it first: what is still there then stays for this batch.
    sessions = Session.objects.filter(turns__reply__citations__in=batch).values("pk")
    list(locked(Session.objects.all()).filter(pk__in=sessions).order_by("pk"))
    for citation in pending.filter(pk__in=batch).select_related("reply__turn"):
        turn = citation.reply.turn
        correction = Correction(
            session_id=turn.session_id, turn=turn, notice=notice, text_sha256=notice.text_sha256
        )
        correction.save()
        audit.record(
            chain=turn.session_id,
            kind="turn.corrected",
            payload={
                "turn": str(turn.pk),
                "correction": str(notice.pk),
                "agency": notice.agency,
                "service": notice.service,
                "text_sha256": notice.text_sha256,
            },
            actor=notice.created_by.actor,
            rows=[CORRECTION.row(correction)],
        )
        moves.notify_pages(turn)
    return batch[-1]


def _finish(notice: CorrectionNotice) -> None:
    notice.sent = notice.corrections.count()
    notice.repeated = max(0, _citations(notice).count() - notice.sent)
    notice.gone = max(0, notice.total - notice.sent - notice.repeated)
    notice.sent_at = timezone.now()
    notice.save(update_fields=["sent", "repeated", "gone", "sent_at"])


def _citations(notice: CorrectionNotice) -> QuerySet[Citation]:
    """Return the answers that a correction is for, without erased ones."""
    citations = selectors.answers(
        notice.agency, notice.service, notice.service_sha256, notice.other_than_sha256
    ).filter(reply__created_at__lte=notice.created_at)
    # Notices of earlier versions could be for some turns only.
    return citations if notice.turns is None else citations.filter(reply__turn__in=notice.turns)
