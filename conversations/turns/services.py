"""Writes: taking a citizen's message, claiming its turn, and moving it on."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations import notify, ports, states
from conversations.models import Session, Turn
from conversations.person import talking
from conversations.personal import choices
from conversations.personal.choices import Choice, Message
from conversations.states import PENDING_TURN_STATES, TurnState
from conversations.turns import flags, limits, receiving, refusing
from conversations.turns.locking import locked
from conversations.turns.refusing import NO_RELEASE, STILL_WORKING, Refused
from conversations.webhooks import outbox
from ieim.audit import services as audit
from ieim.knowledge import crisis
from ieim.knowledge.following import follower
from ieim.pipeline import topology
from ieim.pipeline.findings import Code
from ieim.pipeline.message.screen import beginning, refusal
from ieim.pipeline.topology import AWAITED

QUEUE = "turns"
REPLY = topology.REPLY
"""What a review item names in place of a contract when a whole reply waits."""
RUN_TURN = "conversations.tasks.run_turn"

LEASE = timedelta(seconds=15)
"""How long a worker's claim on a turn holds without a heartbeat."""
RETRY_MODEL = timedelta(seconds=20)
GIVE_UP_ON_MODEL = timedelta(minutes=30)
MAX_RUNS = 5
"""Runs of one turn that may end in an error of ours before a person gets it."""

_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_PENDING = [state.value for state in PENDING_TURN_STATES]


class LeaseLost(Exception):
    """Another worker has the turn, or it was closed: what this run still holds is worthless."""


def new_secret() -> str:
    """Return a fresh secret for a citizen's cookie and resume link (256 bits)."""
    return secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """Return what is stored of a secret: its lower-case hex SHA-256."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def admit(*, session: str, text: str, address: str | None) -> None:
    """Count a message before anything is done with it; raises ``refusing.TooMany``.

    ``session`` is the digest of the session's secret. ``address`` is where it comes from
    (:mod:`ieim.people.addresses`), None for a command on this machine, which nothing limits.
    """
    wait = None if address is None else limits.take_message(session=session, address=address)
    if wait is not None:
        turns = Turn.objects.filter(session__secret_sha256=session)
        raise refusing.too_many(wait, text=text, turns=turns)


def receive_turn(
    *,
    secret: str,
    text: str,
    personal_data: Choice | None = None,
    address: str | None = None,
    enqueue: bool = True,
) -> Turn:
    """Store a citizen's message as a queued turn, with its audit event, in one transaction.

    The session of ``secret`` is made by its first message. ``personal_data`` is the sender's choice
    for a message with numbers of theirs in it. The task is queued once all has been committed;
    ``enqueue=False`` leaves the running to the caller. While a caseworker has the session nothing
    runs. Raises :class:`Refused` for what cannot be taken, also as :func:`admit`.
    """
    digest = secret_digest(secret)
    admit(session=digest, text=text, address=address)
    turns = Turn.objects.filter(session__secret_sha256=digest)
    message = choices.read(text, personal_data, turns=turns)
    return _receive(lambda: session_of(digest), turns, message, look(message.text), enqueue=enqueue)


def look(text: str) -> crisis.Looked:
    """Return the risk flags of a message, taken or not. Not to be called while a row is locked."""
    return crisis.look(beginning(text))


def receive_turn_in(
    *,
    session_id: UUID,
    message: Message,
    looked: crisis.Looked | None = None,
    enqueue: bool = True,
    replaces: Turn | None = None,
) -> Turn:
    """Store a message in a session that exists, as :func:`receive_turn` does; counts nothing.

    ``looked`` is what :func:`look` has found in it; who holds a lock brings it. ``replaces`` is the
    turn whose answer was about something else. Raises ``Session.DoesNotExist`` as well.
    """
    turns = Turn.objects.filter(session_id=session_id)
    session = locked(Session.objects.all())
    looked = looked or look(message.text)
    found = partial(session.get, pk=session_id)
    return _receive(found, turns, message, looked, enqueue=enqueue, replaces=replaces)


def _receive(
    locked_session: Callable[[], Session],
    turns: QuerySet[Turn],
    message: Message,
    looked: crisis.Looked,
    *,
    enqueue: bool,
    replaces: Turn | None = None,
) -> Turn:
    try:
        return _take(locked_session, turns, message, looked, enqueue=enqueue, replaces=replaces)
    except Refused as refused:
        refusing.help_beside(refused, looked.risks, text=message.text, turns=turns)
        raise


def _take(
    locked_session: Callable[[], Session],
    turns: QuerySet[Turn],
    message: Message,
    looked: crisis.Looked,
    *,
    enqueue: bool,
    replaces: Turn | None,
) -> Turn:
    problem = refusal(message.text)
    if problem is not None:
        raise Refused(problem.sentence, figures=problem.figures)
    release_number = follower.number()
    if release_number is None:
        raise Refused(NO_RELEASE)
    choices.require(message, looked.risks, turns=turns)
    try:
        with transaction.atomic():
            session = locked_session()
            taken_over = talking.current(session.pk) is not None
            if not taken_over and session.turns.filter(state__in=_PENDING, resumed=False).exists():
                raise Refused(STILL_WORKING)
            state = TurnState.WITH_PERSON if taken_over else TurnState.QUEUED
            store = partial(receiving.store, replaces=replaces, state=state)
            turn = store(session, message, release_number, looked)
            if taken_over:
                flags.show_written(turn)
                changed(turn)
            elif enqueue:
                queue(turn.pk)
            return turn
    except IntegrityError as error:
        # Two messages at once: the database let one in.
        raise Refused(STILL_WORKING) from error


def session_of(digest: str) -> Session:
    """Return the session of a secret's digest, locked; made where there is none yet."""
    found = locked(Session.objects.all()).filter(secret_sha256=digest).first()
    return found or Session.objects.create(reference=new_reference(), secret_sha256=digest)


def new_reference() -> str:
    """Return a public reference such as ``K7M-4QX9``: no letter or digit that is misread."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(7))
    return f"{letters[:3]}-{letters[3:]}"


def queue(turn_id: UUID) -> None:
    """Queue the turn's task after the commit; a broker that fails leaves it to the sweeper."""
    # By name: the tasks import this module.
    send = partial(current_app.send_task, RUN_TURN, (str(turn_id),), queue=QUEUE, retry=False)
    transaction.on_commit(send, robust=True)


def take_lease(*, turn_id: UUID) -> Turn | None:
    """Claim a turn that is queued, due for a retry, or abandoned; None when there is none to claim.

    One compare-and-set in the database: of two workers one wins. None also for a turn that was
    erased between the claim and reading it.
    """
    now = timezone.now()
    lease = uuid.uuid4()
    claimable = (
        Q(state=TurnState.QUEUED.value)
        | Q(state=TurnState.AWAITING_MODEL.value, retry_at__lte=now)
        | Q(state=TurnState.RUNNING.value, leased_until__lt=now)
    )
    taken = Turn.objects.filter(claimable, pk=turn_id).update(
        state=TurnState.RUNNING.value, lease=lease, leased_until=now + LEASE, retry_at=None
    )
    if not taken:
        return None
    return Turn.objects.select_related("session").filter(pk=turn_id, lease=lease).first()


def renew_lease(*, turn_id: UUID, lease: UUID | None) -> None:
    """Extend a claim; raises :class:`LeaseLost` when it is no longer held."""
    held = Turn.objects.filter(pk=turn_id, lease=lease, state=TurnState.RUNNING.value)
    if not held.update(leased_until=timezone.now() + LEASE):
        raise LeaseLost(str(turn_id))


def move_turn(turn: Turn, new: TurnState, **fields: object) -> None:
    """Move a turn that this run holds to ``new``, and give the lease back.

    Inside the caller's transaction. Raises :class:`LeaseLost` when the claim is gone.
    """
    states.require_turn(TurnState(turn.state), new)
    values = {"state": new.value, "lease": None, "leased_until": None, **fields}
    mine = Turn.objects.filter(pk=turn.pk, lease=turn.lease, state=turn.state)
    if not mine.update(updated_at=timezone.now(), **values):
        raise LeaseLost(str(turn.pk))
    for name, value in values.items():
        setattr(turn, name, value)
    outbox.tell(turn)
    changed(turn)


def changed(turn: Turn) -> None:
    """Hint at open pages, once the transaction has been committed."""
    session_id, turn_id = turn.session_id, turn.pk
    transaction.on_commit(lambda: notify.turn_changed(session_id=session_id, turn_id=turn_id))


@transaction.atomic
def await_model(*, turn: Turn, reason: str, retry_after: float | None) -> None:
    """Park a running turn until the model can be reached again.

    After :data:`GIVE_UP_ON_MODEL` a person gets it. ``retry_after`` is in seconds.
    """
    now = timezone.now()
    since = turn.unavailable_since or now
    if now - since >= GIVE_UP_ON_MODEL:
        give_to_person(turn=turn, stage=REPLY, codes=[Code.MODEL_UNAVAILABLE.value])
        return
    wait = max(RETRY_MODEL, timedelta(seconds=min(retry_after or 0.0, 300.0)))
    move_turn(turn, TurnState.AWAITING_MODEL, retry_at=now + wait, unavailable_since=since)
    audit.record(
        chain=turn.session_id,
        kind="turn.awaiting_model",
        actor="system",
        payload={"turn": str(turn.pk), "reason": reason},
    )


@transaction.atomic
def open_review(*, turn: Turn, stage: str, codes: Sequence[str]) -> None:
    """Open the review item of a stage (or ``reply``); nothing more while it has an undecided one.

    A turn whose own words raise a risk carries its code as well, whatever else stopped it; not so
    triage, for which no citizen waits.
    """
    danger = flags.codes(turn) if stage in AWAITED else []
    ports.open_review(turn_id=turn.pk, stage=stage, codes=[*codes, *danger])


@transaction.atomic
def give_to_person(*, turn: Turn, stage: str, codes: Sequence[str]) -> None:
    """Move a running turn to ``needs_review``; its review item is opened where it is not yet."""
    move_turn(turn, TurnState.NEEDS_REVIEW)
    open_review(turn=turn, stage=stage, codes=codes)
    audit.record(
        chain=turn.session_id,
        kind="turn.needs_review",
        actor="system",
        payload={"turn": str(turn.pk), "stage": stage, "codes": sorted(set(codes))},
    )


@transaction.atomic
def run_failed(*, turn: Turn) -> None:
    """Take note of a run that ended in an error of ours: queue it again, or give it to a person."""
    if turn.runs + 1 >= MAX_RUNS:
        give_to_person(turn=turn, stage=REPLY, codes=[Code.PIPELINE_ERROR.value])
    else:
        move_turn(turn, TurnState.QUEUED, runs=turn.runs + 1, queued_at=timezone.now())
