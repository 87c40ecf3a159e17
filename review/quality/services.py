"""Writes: drawing answers to be read again, putting one in by hand, taking and scoring one."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
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
from ieim.people.scope import agencies_of
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import REPLY
from review import scope, services
from review.deciding.locking import SUPERVISE
from review.metrics.selectors import WITHOUT_A_PERSON, Period, agency_of
from review.models import Reading, ReviewItem
from review.quality import selectors
from review.quality.models import SKIPPED, Cause, Score
from review.replies import translating
from review.replies.models import MessageTranslation

LOW_SCORE = 0.7
"""Below this score of its service an answer is flagged."""
TWICE = 5
"""One in so many answers is read by two people, for their agreement."""
BY_HAND = 10
"""Answers that one draw by hand has at most."""
MAX_REMARK = 1_000
_UNSURE = Stage.objects.filter(turn=OuterRef("turn"), output__serviceSelection__score__lt=LOW_SCORE)
_FLAGGED = (
    Q(rating__useful=False)
    | ~Q(turn__risks=[])
    | Q(origin=ReplyOrigin.STAFF_OVERRIDE.value)
    | Exists(Correction.objects.filter(turn=OuterRef("turn")))
    | Exists(_UNSURE)
)
_IS_FLAGGED = Case(When(_FLAGGED, then=True), default=Value(False), output_field=BooleanField())


class Refused(Exception):
    """Nothing was changed; the message says why and what to do."""


def sweep(*, now: datetime) -> None:
    """Draw from yesterday's answers, once, where the settings ask for it."""
    day = selectors.open_day(now) - timedelta(days=1)
    if settings.IEIM_SAMPLES and cache.add(f"ieim.samples.{day}", True, 3600):
        draw(day=day, number=settings.IEIM_SAMPLES)


@transaction.atomic
def draw(*, day: date, number: int) -> None:
    """Draw answers of a day, unless it was drawn from before.

    Of each agency, and apart for answers in which a person had a part: the ``number`` with the
    lowest SHA-256 of the day and the turn's id, then as many of the others that are flagged. So it
    draws the same answers wherever it runs.
    """
    if Reading.objects.filter(day=day).exists():
        return
    groups: dict[tuple[str, bool], list[tuple[str, int, bool]]] = defaultdict(list)
    for key, pk, agency, origin, is_flagged in _never_read(Period(day, day), day):
        groups[agency, origin in WITHOUT_A_PERSON].append((key, pk, is_flagged))
    readings = []
    for group in map(sorted, groups.values()):
        flagged = [row for row in group[number:] if row[2]][:number]
        for cause, drawn in ((Cause.RANDOM, group[:number]), (Cause.FLAGGED, flagged)):
            for key, pk, _ in drawn:
                numbers = (1,) if int(key, 16) % TWICE else (1, 2)
                readings += [Reading(reply_id=pk, number=n, cause=cause, day=day) for n in numbers]
    _store_drawn(readings, day, number, "system")


@transaction.atomic
def draw_by_hand(*, by: User) -> int:
    """Draw up to :data:`BY_HAND` answers of the last week and of the agencies of who leads a team.

    They count as put in by hand: what is left after other draws is no random sample. Returns how
    many there are. Raises ``PermissionDenied``.
    """
    if not by.has_perm(SUPERVISE):
        raise PermissionDenied
    today, agencies = timezone.localdate(), agencies_of(by)
    week = Period(today - timedelta(days=6), today)
    rows = [row for row in _never_read(week, today) if agencies is None or row[2] in agencies]
    drawn = [Reading(reply_id=pk, cause=Cause.HAND) for _, pk, *_ in sorted(rows)[:BY_HAND]]
    _store_drawn(drawn, today, BY_HAND, by.actor)
    return len(drawn)


def _never_read(period: Period, day: date) -> list[tuple[str, int, str, str, bool]]:
    """Return the answers of a period that were never drawn: the SHA-256 of ``day`` and the turn's
    id, key, agency, origin, and whether there is a sign that they may be wrong."""
    begin, *_, end = period.midnights
    rows = Reply.objects.filter(created_at__gte=begin, created_at__lt=end, readings=None)
    rows = rows.filter(body__kind__in=sorted(RATED_KINDS))
    values = rows.values_list("turn_id", "pk", agency_of("turn_id"), "origin", _IS_FLAGGED)
    return [
        (hashlib.sha256(f"{day} {turn_id}".encode()).hexdigest(), *rest)
        for turn_id, *rest in values
    ]


def _store_drawn(readings: list[Reading], day: date, number: int, actor: str) -> None:
    Reading.objects.bulk_create(readings, ignore_conflicts=True)
    payload: dict[str, JSONValue] = {"day": str(day), "number": number, "readings": len(readings)}
    audit.record_system(kind="quality.drawn", actor=actor, payload=payload)


@transaction.atomic
def add(*, item_id: UUID, by: User) -> None:
    """Have the answer of an item read by somebody else; nothing where it is or was to be read.

    Raises:
        Refused: the citizen has no answer yet.
        ReviewItem.DoesNotExist: also for an item that the person may not see.
        Session.DoesNotExist: a conversation that was erased meanwhile.
    """
    item = scope.visible(by).select_related("turn").get(pk=item_id)
    locked_session(item.turn.session_id)
    reply = Reply.objects.filter(turn=item.turn_id, body__kind__in=sorted(RATED_KINDS)).first()
    if reply is None:
        raise Refused(gettext("There is no answer to read again. Decide the item first."))
    if not reply.readings.exists():
        # Who puts it in has seen who decided.
        reply.readings.create(cause=Cause.HAND, reader=by, verdict=SKIPPED)
        reading = reply.readings.create(cause=Cause.HAND)
        _audit("quality.added", reading, by, item=str(item_id))


@transaction.atomic
def take_next(*, reader: User) -> Reading | None:
    """Give a reader the next answer for :data:`selectors.LEASE`; None where nothing waits."""
    free = selectors.readable(reader).select_for_update(of=("self",), skip_locked=True)
    reading = free.first()
    if reading is not None:
        reading.reader, reading.taken_at = reader, timezone.now()
        reading.save(update_fields=["reader", "taken_at"])
    return reading


def translate(*, reading_id: UUID, reader: User) -> MessageTranslation:
    """Have the question and the answer of a reading translated: what a reader does not understand
    they cannot score.

    Raises:
        NoTranslation: there is none; the message says why.
        Reading.DoesNotExist: a reading that is not the reader's, or not any more.
        Session.DoesNotExist: a conversation that was erased meanwhile.
    """
    reading = selectors.taken(reading_id, reader)
    reply = reading.reply
    text = "\n".join([reply.turn.text, *(s.text for s in selectors.statements(reply))])
    return translating.translate(of=reading, turn=reply.turn, text=text, by=reader)


@transaction.atomic
def score(
    *, reading_id: UUID, reader: User, scores: Sequence[str] | None, remark: str = ""
) -> tuple[Reading, ReviewItem | None]:
    """End a reading with a score for each statement; None gives it to somebody else.

    What is harmful opens an item for the answer's agency, which is returned too.

    Raises:
        Refused: scores or a remark that cannot be stored.
        Reading.DoesNotExist: a reading that is not the reader's, or not any more.
        Session.DoesNotExist: a conversation that was erased meanwhile.
    """
    locked_session(selectors.taken(reading_id, reader).reply.turn.session_id)
    Reading.objects.select_for_update(no_key=True).get(pk=reading_id)
    reading = selectors.taken(reading_id, reader)  # as nobody else can change it now
    reply, item = reading.reply, None
    if scores is None:
        reading.verdict = SKIPPED
    elif len(remark) > MAX_REMARK or "\0" in remark:
        message = gettext("The remark is too long. Use at most {number} characters.")
        raise Refused(message.format(number=MAX_REMARK))
    elif (
        not scores
        or len(scores) != len(selectors.statements(reply))
        or not {*scores} <= {*Score.values}
    ):
        raise Refused(gettext("Give each sentence one of the four scores, then save."))
    else:
        reading.verdict = max(scores, key=Score.values.index)
        reading.scores, reading.remark = [*scores], remark.strip()
    reading.done_at = timezone.now()
    reading.save()
    if scores is None:
        columns = ("number", "cause", "day")
        reply.readings.create(**{name: getattr(reading, name) for name in columns})
    if reading.verdict == Score.HARMFUL:
        codes = [Code.READER_HARMFUL.value]
        item = services.open_item(turn_id=reply.turn_id, stage=REPLY, codes=codes)
    remark_sha256 = hashlib.sha256(reading.remark.encode()).hexdigest()
    _audit("quality.scored", reading, reader, verdict=reading.verdict, remark_sha256=remark_sha256)
    return reading, item


def _audit(kind: str, reading: Reading, by: User, **values: str) -> None:
    turn = reading.reply.turn
    audit.record(
        chain=turn.session_id,
        kind=kind,
        actor=by.actor,
        payload={"reading": str(reading.pk), "turn": str(turn.pk), **values},
    )
