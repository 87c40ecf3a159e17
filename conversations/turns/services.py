"""Taking a citizen's message: it is admitted, read, decided on, and stored as a turn.

Every way in comes through here: the page's form and socket, REST, the terminal, and asking again
what was taken for something else. Read from top to bottom:

1. *Admit* (:func:`admit`): who sends too much is refused before anything is done.
2. *Read* (:func:`conversations.turns.message.read`): once, and before a row is locked.
3. *Decide* (:func:`_decide`): whether it was sent before, must be refused, or asks its sender.
4. *Store* (:func:`store`): the turn and its audit event, and the run that is queued with it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations import logged
from conversations.models import ClientTurn, Replacement, Session, Turn, opened_by_link
from conversations.person import takeovers
from conversations.record.audited import REPLACEMENT, SESSION, SIGNS, TEXT
from conversations.states import PENDING_TURN_STATES, TurnState
from conversations.turns import events, flags, help_lines, limits, moves, refusing
from conversations.turns.locking import NotInSession, locked, locked_session
from conversations.turns.message import FIELD, Choice, IncomingMessage, read
from conversations.turns.refusing import (
    NO_RELEASE,
    STILL_WORKING,
    ClientIdReused,
    NotChosen,
    Refused,
    SwitchedOff,
    TooMany,
    with_help,
)
from conversations.webhooks import outbox
from ieim.administration import selectors as administration
from ieim.audit import services as audit
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import REPLY

CLIENT_ID = r"^[A-Za-z0-9._~:-]{1,64}$"
"""What a client may call its message: a UUID, or a short word of its own."""

NOT_ANSWERED = gettext_noop(
    "There is no answer here that could be about something else. Look at your question to see what "
    "became of it."
)

Way = Literal["chat", "api"]
"""By what a question comes: the assistant's page, or the citizens' API."""

_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_PENDING = [state.value for state in PENDING_TURN_STATES]


class NothingToReplace(NotInSession):
    """The turn is not this session's, or its answer does not go on with the talk's service."""

    detail = "This answer does not go on with what the talk was about."


class NotAnswered(Exception):
    """The turn has no answer; nothing was changed. ``message`` is the sentence for the citizen."""

    @property
    def message(self) -> str:
        return gettext(NOT_ANSWERED)


def receive(
    *,
    session: UUID | str,
    text: str,
    client_id: str | None = None,
    personal_data: Choice | None = None,
    address: str | None = None,
    way: Way | None = None,
    enqueue: bool = True,
) -> tuple[Turn, bool]:
    """Take a message, or find the turn that it has become already; the bool is True for a new one.

    ``session`` is the id of one that exists, or the secret of one that its first message makes.
    With a ``client_id`` a client may repeat the same message until it gets a response.
    ``personal_data`` is its sender's choice for a message with numbers of theirs in it; one that
    was taken stays as it was chosen then. ``address`` is as for :func:`admit`, and ``way`` is the
    one by which it came, None for a command on this machine, which nobody switches off. The run is
    queued once all has been committed; ``enqueue=False`` leaves it to the caller. While a
    caseworker has the session nothing runs.

    Raises :class:`~conversations.turns.refusing.Refused`, with help lines for a message that tells
    of danger, and ``Session.DoesNotExist``, also for a session that was erased.
    """
    if isinstance(session, UUID):
        digest = Session.objects.values_list("secret_sha256", flat=True).get(pk=session)
        find = partial(locked_session, session)
    else:
        digest = key_of(session)
        find = partial(session_of, digest)
    admit(session=digest, text=text, address=address, way=way, question=True)
    turns = Turn.objects.filter(session__secret_sha256=digest)
    message = read(text, personal_data, turns=turns)

    def sent_before(found: Session) -> Turn | None:
        names = ClientTurn.objects.filter(session=found, client_id=client_id)
        existing = names.select_related("turn").first() if client_id is not None else None
        if existing is not None and not message.is_stored_as(existing.turn.text):
            raise ClientIdReused
        return existing.turn if existing is not None else None

    return _take(find, message, sent_before, client_id=client_id, enqueue=enqueue)


def ask_again(
    *,
    session_id: UUID,
    turn_id: UUID,
    address: str | None = None,
    way: Way | None = None,
    enqueue: bool = True,
) -> tuple[Turn, bool]:
    """Ask the words of an answered turn again as something else than the talk's service.

    Returns the new turn and True; once there is one, that turn and False. Raises
    :class:`NothingToReplace`, :class:`NotAnswered`, and what :func:`receive` does.
    """
    turns = Turn.objects.filter(session_id=session_id)
    replaced = turns.select_related("session").filter(pk=turn_id).first()
    if replaced is None:
        raise NothingToReplace(str(turn_id))
    digest = replaced.session.secret_sha256
    admit(session=digest, text=replaced.text, address=address, way=way, question=True)
    message = read(replaced.text, turns=turns, replaces=replaced)
    message = replace(message, identifiers=())  # its sender has chosen what is in it

    def asked_before(_session: Session) -> Turn | None:
        turn = turns.select_related("reply", "replaced__by").get(pk=turn_id)
        if hasattr(turn, "replaced"):
            return turn.replaced.by
        if not hasattr(turn, "reply"):
            raise NotAnswered(str(turn_id))
        if not turn.reply.body.get("still_about"):
            raise NothingToReplace(str(turn_id))
        return None

    find = partial(locked_session, session_id)
    return _take(find, message, asked_before, enqueue=enqueue, replaces=replaced)


@transaction.atomic
def direct(*, turn_id: UUID, directive: str) -> None:
    """Record the instruction that the next run of a turn is given beside the notices."""
    events.record(Turn.objects.get(pk=turn_id), "turn.directed", {"directive": directive})


def admit(
    *, session: str, text: str, address: str | None, way: Way | None = None, question: bool = False
) -> None:
    """Count a message before anything is done with it.

    ``session`` is the digest of the session's secret. ``address`` is where it comes from
    (:mod:`ieim.people.addresses`), None for a command on this machine, which nothing limits. A
    ``question`` is for the assistant: its ``way`` has to be switched on, and there is a limit of
    all questions together. Raises ``refusing.SwitchedOff`` and ``refusing.TooMany``.
    """
    refusal = _refusal(session, address, way, question)
    if refusal is not None:
        turns = Turn.objects.filter(session__secret_sha256=session)
        raise refusing.without_reading(refusal, text=text, turns=turns)


def _refusal(
    session: str, address: str | None, way: Way | None, question: bool
) -> Callable[[str], Refused] | None:
    """Return what refuses a message before it is read, None where nothing does; counts it."""
    if way is not None and administration.current().is_off(way):
        return SwitchedOff
    if address is None:
        return None
    # The address first: who is over its limit can make up sessions without end.
    wait = limits.take("address", address) or limits.take("turns", session)
    if wait is not None:
        return partial(TooMany, wait)
    # Last: who is over a limit of their own is no load.
    wait = limits.take("everybody", "") if question else None
    return None if wait is None else partial(TooMany, wait, busy=True)


def _take(
    find: Callable[[], Session],
    message: IncomingMessage,
    earlier: Callable[[Session], Turn | None],
    *,
    client_id: str | None = None,
    enqueue: bool,
    replaces: Turn | None = None,
) -> tuple[Turn, bool]:
    """Decide on a message and store it, in one transaction; the bool is True for a new turn.

    ``find`` locks the session, so that of two deliveries of one message the second finds what is
    ``earlier``.
    """

    @transaction.atomic
    def take() -> tuple[Turn, bool]:
        session = find()
        turn = earlier(session)
        if turn is not None:
            return turn, False
        state = _decide(session, message)
        turn = store(session, message, state=state, replaces=replaces)
        if client_id is not None:
            ClientTurn.objects.create(session=session, turn=turn, client_id=client_id)
        if state is TurnState.WITH_PERSON:
            flags.show_written(turn)
        elif state is TurnState.NEEDS_REVIEW:
            moves.record_stop(turn=turn, stage=REPLY, codes=[Code.POLICY_RISK.value])
            outbox.notify(turn)
        elif enqueue:
            moves.queue(turn.pk)
        moves.notify_pages(turn)
        return turn, True

    with with_help(message):
        try:
            return take()
        except IntegrityError:
            # Two messages at once: the other one has made the session, or is the turn that runs.
            return take()


def _decide(session: Session, message: IncomingMessage) -> TurnState:
    """Return the state of the turn that a message becomes in a locked session.

    While another turn is worked on, one that tells of danger is for a person at once. Raises
    :class:`~conversations.turns.refusing.Refused`.
    """
    if message.problem is not None:
        raise Refused(message.problem.sentence, figures=message.problem.figures)
    if message.release is None:
        raise Refused(NO_RELEASE)
    require_choice(message, session.pk)
    if takeovers.current(session.pk) is not None:
        return TurnState.WITH_PERSON
    if session.turns.filter(state__in=_PENDING, resumed=False).exists():
        # What is only faint shows help lines, and no person is asked, as elsewhere.
        signs = [sign for sign in message.risks if sign.source != "faint"]
        if message.help_lines(signs):
            return TurnState.NEEDS_REVIEW
        raise Refused(STILL_WORKING)
    return TurnState.QUEUED


def require_choice(message: IncomingMessage, session_id: UUID | None) -> None:
    """Raise ``NotChosen`` where the sender of a message has still to choose about its numbers.

    Not raised for somebody in danger: where the message indicates it, or while an earlier one of
    the session (None for a new one) waits for a person.
    """
    if not message.identifiers or message.choice is not None:
        return
    if message.help_lines(message.risks):
        return
    waiting = flags.waiting(session_id) if session_id is not None else []
    if not any(help_lines.of_turn(turn, ()) for turn in waiting):
        raise NotChosen(message)


def store(
    session: Session,
    message: IncomingMessage,
    *,
    state: TurnState,
    replaces: Turn | None = None,
) -> Turn:
    """Store a message as the next turn of a session that the caller's transaction has locked, with
    its audit event.

    ``replaces`` is the turn whose answer was about something else. A message in another ``state``
    than queued is for a person. Raises ``Refused`` where nothing is published.
    """
    if message.release is None:
        raise Refused(NO_RELEASE)
    text, risks = message.text, message.risks
    last = session.turns.order_by("-number").values_list("number", flat=True).first()
    turn = Turn.objects.create(
        session=session,
        number=(last or 0) + 1,
        text=text,
        state=state.value,
        release_number=message.release.number,
        risks=[sign.as_dict() for sign in risks],
        language=message.language,
        situation=message.situation or None,
        queued_at=timezone.now(),
    )
    logged.bind(session=session.pk, turn=turn.pk)
    rows = [SESSION.row(session), TEXT.row(turn), SIGNS.row(turn)]
    if replaces is not None:
        rows.append(REPLACEMENT.row(Replacement.objects.create(turn=replaces, by=turn)))
    payload: dict[str, Any] = {
        "turn": str(turn.id),
        "number": turn.number,
        "release": turn.release_number,
        "risk_flags": [sign.code for sign in risks],
        "risks_by": message.risks_by,
        "ieim": settings.IEIM_VERSION,
    }
    if weak := [sign.code for sign in risks if sign.weak]:
        payload["risk_flags_weak"] = weak
    if replaces is not None:
        payload["replaces"] = str(replaces.pk)
    if state is not TurnState.QUEUED:
        payload["for_person"] = True
    if message.identifiers and message.choice is not None:
        # What was chosen, and for which kinds; never the words.
        kinds = [identifier.kind for identifier in message.identifiers]
        payload[FIELD] = {"chosen": message.choice, "kinds": kinds}
    audit.record(
        chain=session.id, kind="turn.received", actor="citizen", payload=payload, rows=rows
    )
    return turn


@transaction.atomic
def new_session(*, webhook: str | None = None) -> tuple[Session, str, str]:
    """Make an empty session; returns it with its token for REST and the secret of its private link.

    Only their digests are stored. Whoever has one of them has the conversation, by its way alone.
    ``webhook`` names the webhook that is notified of its events. Raises ``outbox.NoWebhook``.
    """
    token, link = new_secret(), new_secret()
    session = Session.objects.create(
        reference=new_reference(),
        secret_sha256=secret_digest(token),
        link_sha256=secret_digest(link),
    )
    if webhook is not None:
        outbox.subscribe(session, webhook)
    return session, token, link


def key_of(secret: str) -> str:
    """Return the ``secret_sha256`` of the session that a page's secret opens, or will make."""
    digest = secret_digest(secret)
    digests = Session.objects.filter(opened_by_link(digest)).values_list("secret_sha256", flat=True)
    return digests.first() or digest


def session_of(digest: str) -> Session:
    """Return the session of a ``secret_sha256``, locked; made where there is none yet, with one
    secret for cookie and private link, and none for REST."""
    session = locked(Session.objects.all()).filter(secret_sha256=digest).first()
    return session or Session.objects.create(
        reference=new_reference(), secret_sha256=digest, link_sha256=digest
    )


def new_secret() -> str:
    """Return a fresh secret: for a cookie and private link, or a token of REST (256 bits)."""
    return secrets.token_urlsafe(32)


def secret_digest(secret: str) -> str:
    """Return the digest that is stored of a secret: lower-case hex SHA-256."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_reference() -> str:
    """Return a public reference such as ``K7M-4QX9``: no letter or digit that is misread."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(7))
    return f"{letters[:3]}-{letters[3:]}"


def is_client_id(value: str) -> bool:
    """Whether ``value`` may be a client's name for a message."""
    return re.fullmatch(CLIENT_ID, value) is not None and not value.endswith("\n")
