"""Writes: taking a citizen's message."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from conversations.models import Session, Turn
from conversations.person import takeovers
from conversations.personal import choices
from conversations.personal.choices import Choice, Message
from conversations.states import PENDING_TURN_STATES, TurnState
from conversations.turns import flags, limits, moves, receiving, refusing
from conversations.turns.locking import locked
from conversations.turns.refusing import NO_RELEASE, STILL_WORKING, Refused
from ieim.knowledge import crisis
from ieim.knowledge.following import follower
from ieim.pipeline.message.screen import beginning, refusal

_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_PENDING = [state.value for state in PENDING_TURN_STATES]


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
            taken_over = takeovers.current(session.pk) is not None
            if not taken_over and session.turns.filter(state__in=_PENDING, resumed=False).exists():
                raise Refused(STILL_WORKING)
            state = TurnState.WITH_PERSON if taken_over else TurnState.QUEUED
            store = partial(receiving.store, replaces=replaces, state=state)
            turn = store(session, message, release_number, looked)
            if taken_over:
                flags.show_written(turn)
                moves.changed(turn)
            elif enqueue:
                moves.queue(turn.pk)
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
