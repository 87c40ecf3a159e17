"""Writes of a takeover: a caseworker comes in, says something, and leaves.

The caller's transaction holds the session's row wherever a takeover begins or a message is taken.
Its end does not take that lock: it is written by who changes an item, and holds that item's turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from conversations import notify
from conversations.models import Choice, Line, Session, Takeover, Turn
from conversations.person.models import Ended, LineKind
from conversations.record.audited import CHOICE, LINE, TAKEOVER
from conversations.states import PENDING_TURN_STATES, TurnState
from conversations.turns import flags, triage
from conversations.turns.models import ChoiceOutcome
from ieim.audit import services as audit
from ieim.people.models import User

SILENCE = timedelta(minutes=10)
"""After how long without a word of the caseworker's the assistant answers again."""


class AlreadyTaken(Exception):
    """Somebody has the conversation already; nothing was changed."""


class NotTalking(Exception):
    """The caseworker has not got the conversation (any more); nothing was changed."""


@transaction.atomic
def begin(*, session: Session, item: UUID, by: User, until: datetime) -> Takeover:
    """Let ``by`` take a session over that the caller has locked; again is no change.

    ``until`` is when their claim on the item ends. Turns that are running or wait for a choice
    go to the person: a run finds its lease gone. Raises
    :class:`AlreadyTaken`.
    """
    running = current(session.pk)
    if running is not None and (running.by_id, running.item) == (by.pk, item):
        return running
    if running is not None:
        raise AlreadyTaken(str(session.pk))
    now = timezone.now()
    takeover = Takeover.objects.create(
        session=session, item=item, by=by, since=now, silent_at=min(now + SILENCE, until)
    )
    turns, choices = _hush(session)
    line = _line(takeover, LineKind.JOINED)
    audit.record(
        chain=session.pk,
        kind="takeover.begun",
        actor=by.actor,
        payload={"takeover": str(takeover.pk), "item": str(item), "turns": turns},
        rows=[TAKEOVER.row(takeover), LINE.row(line), *map(CHOICE.row, choices)],
    )
    hushed = list(Turn.objects.filter(pk__in=turns).order_by("number"))
    for turn in hushed:
        flags.show_written(turn)
    triage.request(turn_ids=[turn.pk for turn in hushed])
    notify_pages(session.pk)
    return takeover


@transaction.atomic
def say(
    *,
    session_id: UUID,
    item: UUID,
    by: User,
    text: str,
    until: datetime,
    cards: Mapping[str, Any] | None = None,
) -> Line:
    """Store what the caseworker says, in a session that the caller has locked.

    Raises :class:`NotTalking`.
    """
    takeover = current(session_id)
    if takeover is None or (takeover.by_id, takeover.item) != (by.pk, item):
        raise NotTalking(str(session_id))
    takeover.silent_at = min(timezone.now() + SILENCE, until)
    takeover.save(update_fields=["silent_at"])
    line = _line(takeover, LineKind.SAID, text, cards)
    audit.record(
        chain=session_id,
        kind="takeover.said",
        actor=by.actor,
        payload={"takeover": str(takeover.pk)},
        rows=[LINE.row(line)],
    )
    notify_pages(session_id)
    return line


@transaction.atomic
def end(*, how: Ended, actor: str = "system", **which: Any) -> None:
    """End the running takeovers that ``which`` names (one, most often).

    Each is claimed by compare-and-set, so that of two who end it one writes it down.
    """
    now = timezone.now()
    for takeover in Takeover.objects.filter(ended_at=None, **which).order_by("pk"):
        # Before the takeover, as who decides its item does: else the two wait for each other.
        audit.lock_head(takeover.session_id)
        open_still = Takeover.objects.filter(pk=takeover.pk, ended_at=None)
        if not open_still.update(ended_at=now, ended=how.value):
            continue
        takeover.ended_at, takeover.ended = now, how.value
        line = _line(takeover, LineKind.LEFT)
        audit.record(
            chain=takeover.session_id,
            kind="takeover.ended",
            actor=actor,
            payload={"takeover": str(takeover.pk), "how": how.value},
            rows=[TAKEOVER.row(takeover), LINE.row(line)],
        )
        notify_pages(takeover.session_id)


def end_unclaimed(
    *, item: UUID, claimed_by_id: int | None, how: Ended, actor: str = "system"
) -> None:
    """End the takeover of an item that its caseworker does not hold any more."""
    for by in Takeover.objects.filter(item=item, ended_at=None).values_list("by_id", flat=True):
        if by != claimed_by_id:
            end(how=how, actor=actor, item=item, by_id=by)


def current(session_id: UUID) -> Takeover | None:
    """Return the takeover that runs in a session, locked; one that fell silent is ended first.

    Inside the caller's transaction.
    """
    takeovers = Takeover.objects.filter(session_id=session_id, ended_at=None)
    if not takeovers.exists():
        return None
    audit.lock_head(session_id)  # as :func:`end` does
    takeover = takeovers.select_for_update().first()
    if takeover is not None and takeover.silent_at <= timezone.now():
        end(how=Ended.SILENCE, pk=takeover.pk)
        return None
    return takeover


def expire(*, now: datetime) -> None:
    end(how=Ended.SILENCE, silent_at__lte=now)


def notify_pages(session_id: UUID) -> None:
    """Hint at open pages to look at the whole conversation, once the transaction is committed."""
    transaction.on_commit(lambda: notify.send_turn_changed(session_id=session_id))


def _hush(session: Session) -> tuple[list[str], list[Choice]]:
    """Give the turns that are running or wait for a choice to the person.

    Returns their ids, and the choices that cannot be made any more.
    """
    busy = [*(state.value for state in PENDING_TURN_STATES), TurnState.ASKING.value]
    turns = Turn.objects.select_for_update().filter(session=session, state__in=busy)
    ids = [turn.pk for turn in turns.order_by("number")]
    Turn.objects.filter(pk__in=ids).update(
        state=TurnState.WITH_PERSON.value,
        lease=None,
        leased_until=None,
        retry_at=None,
        updated_at=timezone.now(),
    )
    choices = list(Choice.objects.filter(turn__in=ids, outcome=ChoiceOutcome.OPEN.value))
    for choice in choices:
        choice.outcome, choice.decided_at = ChoiceOutcome.EXPIRED.value, timezone.now()
        choice.save(update_fields=["outcome", "decided_at"])
    return [str(pk) for pk in ids], choices


def _line(
    takeover: Takeover, kind: LineKind, text: str = "", cards: Mapping[str, Any] | None = None
) -> Line:
    turns = Turn.objects.filter(session_id=takeover.session_id)
    return Line.objects.create(
        session_id=takeover.session_id,
        takeover=takeover,
        after=turns.aggregate(last=Max("number"))["last"] or 0,
        kind=kind.value,
        text=text,
        cards=cards,
        at=timezone.now(),
    )
