"""Writes: drawing samples, putting an answer in by hand, taking one to read, and scoring it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import BooleanField, Case, Exists, OuterRef, Q, Value, When
from django.utils import timezone
from django.utils.translation import gettext

from conversations.chat.reply_presenters import RATED_KINDS
from conversations.models import Correction, Reply, ReplyOrigin, Stage
from conversations.turns.locking import locked_session
from ieim.audit import services as audit
from ieim.audit.canonical import JSONValue
from ieim.people.models import User
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import REPLY
from review import scope, services
from review.metrics.selectors import WITHOUT_A_PERSON, Period, agency_of
from review.metrics.services import AFTER_MIDNIGHT
from review.models import Reading, ReviewItem, Sample
from review.quality import selectors
from review.quality.models import SKIPPED, Cause, Score

LOW_SCORE = 0.7
"""Below this score of its service an answer is flagged."""
TWICE = 5
"""One in so many answers of the sample is read by two people, for their agreement."""
MAX_REMARK = 1_000
_FLAGGED = (
    Q(rating__useful=False)
    | ~Q(turn__risks=[])
    | Q(origin=ReplyOrigin.STAFF_OVERRIDE.value)
    | Exists(Correction.objects.filter(turn=OuterRef("turn")))
    | Exists(
        Stage.objects.filter(turn=OuterRef("turn"), output__serviceSelection__score__lt=LOW_SCORE)
    )
)


class Refused(Exception):
    """Nothing was changed; the message says why and what to do."""


def sweep(*, now: datetime) -> None:
    """Draw from the answers of yesterday, once, where the settings ask for samples."""
    zone = timezone.get_default_timezone()
    day = timezone.localdate(now - AFTER_MIDNIGHT, zone) - timedelta(days=1)
    if settings.IEIM_SAMPLES and cache.add(f"ieim.samples.{day}", True, 3600):
        draw(day=day, number=settings.IEIM_SAMPLES)


@transaction.atomic
def draw(*, day: date, number: int) -> int:
    """Draw answers of a day; return how many, 0 where it was drawn from before.

    Of each agency, and apart for answers in which a person had a part: the ``number`` with the
    lowest SHA-256 of the day and the turn's id, then as many of the others that are flagged. So the
    same answers are drawn whenever and wherever it runs.
    """
    if Sample.objects.filter(day=day).exists():
        return 0
    begin, end = Period(day, day).midnights
    replies = Reply.objects.filter(created_at__gte=begin, created_at__lt=end, sample=None)
    rows = replies.filter(body__kind__in=sorted(RATED_KINDS)).values_list(
        "pk",
        "turn_id",
        "origin",
        agency_of("turn_id"),
        Case(When(_FLAGGED, then=True), default=Value(False), output_field=BooleanField()),
    )
    groups: dict[tuple[str, bool], list[tuple[str, int, bool]]] = defaultdict(list)
    for pk, turn_id, origin, agency, flagged in rows:
        key = hashlib.sha256(f"{day} {turn_id}".encode()).hexdigest()
        groups[agency, origin in WITHOUT_A_PERSON].append((key, pk, flagged))
    samples = []
    for group in groups.values():
        ordered = sorted(group)
        signs = [row for row in ordered[number:] if row[2]][:number]
        for cause, drawn in ((Cause.RANDOM, ordered[:number]), (Cause.FLAGGED, signs)):
            samples += [
                Sample(reply_id=pk, cause=cause, day=day, wanted=1 + (int(key, 16) % TWICE == 0))
                for key, pk, _flag in drawn
            ]
    Sample.objects.bulk_create(samples, ignore_conflicts=True)
    payload: dict[str, JSONValue] = {
        "day": day.isoformat(),
        "number": number,
        "samples": len(samples),
    }
    audit.record_system(kind="quality.drawn", actor="system", payload=payload)
    return len(samples)


@transaction.atomic
def add(*, item_id: UUID, by: User) -> Sample:
    """Put the answer of an item in the sample; one that is there stays as it is.

    Raises:
        Refused: the citizen has no answer yet.
        ReviewItem.DoesNotExist: also for an item that the person may not see.
    """
    item = scope.visible(by).select_related("turn__session").get(pk=item_id)
    locked_session(item.turn.session_id)
    reply = Reply.objects.filter(turn=item.turn_id, body__kind__in=sorted(RATED_KINDS)).first()
    if reply is None:
        raise Refused(gettext("There is no answer to read again. Decide the item first."))
    sample, new = Sample.objects.get_or_create(
        reply=reply, defaults={"cause": Cause.HAND, "added_by": by}
    )
    if new:
        payload: dict[str, JSONValue] = {
            "sample": str(sample.pk),
            "item": str(item_id),
            "turn": str(item.turn_id),
        }
        _audit(sample, "quality.added", by, payload)
    return sample


@transaction.atomic
def take_next(*, reader: User) -> Reading | None:
    """Give a reader the next answer for :data:`selectors.LEASE`; None where nothing waits."""
    while (sample := selectors.readable(reader).first()) is not None:
        # Locked, it is asked for again: somebody may have been faster.
        Sample.objects.select_for_update(no_key=True).get(pk=sample.pk)
        if selectors.readable(reader).filter(pk=sample.pk).exists():
            defaults = {"taken_at": timezone.now()}
            return Reading.objects.update_or_create(
                sample=sample, reader=reader, defaults=defaults
            )[0]
    return None


@transaction.atomic
def score(
    *, sample_id: UUID, reader: User, scores: Sequence[str], remark: str = "", skip: bool = False
) -> tuple[Reading, ReviewItem | None]:
    """End a reading with a score for each statement, or give it up with ``skip``.

    What is harmful opens an item for the answer's agency, which is returned too.

    Raises:
        Refused: for scores that are not whole, or where somebody else has read it meanwhile.
        Reading.DoesNotExist: for a reading that is not the reader's, or has ended.
        Session.DoesNotExist: for a conversation that was erased meanwhile.
    """
    locked_session(selectors.taken(sample_id, reader).sample.reply.turn.session_id)
    Sample.objects.select_for_update(no_key=True).get(pk=sample_id)
    reading = selectors.taken(sample_id, reader)  # as it is now that nobody else can end it
    reply, item = reading.sample.reply, None
    if not skip:
        if len(remark) > MAX_REMARK or "\0" in remark:
            text = gettext("The remark is too long. Use at most {number} characters.")
            raise Refused(text.format(number=MAX_REMARK))
        if len(scores) != len(selectors.statements(reply)) or not {*scores} <= {*Score.values}:
            raise Refused(gettext("Give each sentence one of the four scores, then save."))
        if not selectors.readable(reader).filter(pk=sample_id).exists():
            raise Refused(gettext("Somebody else has read this answer meanwhile. Skip it."))
    reading.verdict = SKIPPED if skip else max(scores, key=Score.values.index)
    reading.scores, reading.remark = [*scores] if not skip else [], "" if skip else remark.strip()
    reading.done_at = timezone.now()
    reading.save()
    if reading.verdict == Score.HARMFUL:
        codes = [Code.READER_HARMFUL.value]
        item = services.open_item(turn_id=reply.turn_id, stage=REPLY, codes=codes)
    payload: dict[str, JSONValue] = {
        "sample": str(sample_id),
        "turn": str(reply.turn_id),
        "verdict": reading.verdict,
        "remark_sha256": hashlib.sha256(reading.remark.encode()).hexdigest(),
    }
    _audit(reading.sample, "quality.scored", reader, payload)
    return reading, item


def _audit(sample: Sample, kind: str, by: User, payload: dict[str, JSONValue]) -> None:
    session_id = sample.reply.turn.session_id
    audit.record(chain=session_id, kind=kind, actor=by.actor, payload=payload)
