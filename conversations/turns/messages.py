"""Taking a client's message, once: what the page and REST do alike."""

from __future__ import annotations

import re
from uuid import UUID

from django.db import IntegrityError, transaction

from conversations.models import ClientTurn, Session, Turn
from conversations.personal import choices
from conversations.personal.choices import Choice, Message
from conversations.turns import erasing, moves, refusing, services
from conversations.turns.locking import locked
from conversations.turns.refusing import Refused
from conversations.webhooks import outbox
from ieim.knowledge.crisis import Looked

CLIENT_ID = r"^[A-Za-z0-9._~:-]{1,64}$"
"""What a client may call its message: a UUID, or a short word of its own."""

REUSED = (
    "This client_id was used for another text. Use a new client_id for a new message, "
    "and the same one only to send the same text again."
)


class ClientIdReused(Refused):
    """The client's name for its message stands for another text."""

    def __init__(self) -> None:
        super().__init__(REUSED)


def is_client_id(value: str) -> bool:
    """Whether ``value`` may be a client's name for a message."""
    return re.fullmatch(CLIENT_ID, value) is not None and not value.endswith("\n")


@transaction.atomic
def new_session(*, webhook: str | None = None) -> tuple[Session, str]:
    """Make an empty session; returns it with its secret, of which only the digest is stored.

    The secret is the one of the citizen's resume link: whoever has it has the conversation.
    ``webhook`` names who is told of what comes of it. Raises ``outbox.NoWebhook``.
    """
    secret = services.new_secret()
    session = Session.objects.create(
        reference=services.new_reference(), secret_sha256=services.secret_digest(secret)
    )
    if webhook is not None:
        outbox.subscribe(session, webhook)
    return session, secret


def ask(
    *,
    session_id: UUID,
    text: str,
    client_id: str | None,
    personal_data: Choice | None = None,
    address: str | None = None,
) -> tuple[Turn, bool]:
    """Take a message, or find the turn that it has become already; the bool is True for a new one.

    ``personal_data`` and ``address`` are as for
    :func:`conversations.turns.services.receive_turn`; a message that was taken stays as it was
    chosen then. Raises ``refusing.Refused``, :class:`ClientIdReused` among them, and
    ``Session.DoesNotExist`` (also for a session that was erased).
    """
    secret_sha256 = Session.objects.values_list("secret_sha256", flat=True).get(pk=session_id)
    services.admit(session=secret_sha256, text=text, address=address)
    turns = Turn.objects.filter(session_id=session_id)
    message = choices.read(text, personal_data, turns=turns)
    # Before the session is locked: nobody waits for an embedder with a lock.
    return _ask(session_id, text, message, client_id, services.look(message.text))


def say(
    *,
    secret: str,
    text: str,
    client_id: str | None,
    personal_data: Choice | None = None,
    address: str | None = None,
) -> tuple[Turn, bool]:
    """Take a page's message, as :func:`ask` does; the session of ``secret`` is made by the first.

    So a page may send the same message until it has heard of it.
    """
    digest = services.secret_digest(secret)
    services.admit(session=digest, text=text, address=address)
    turns = Turn.objects.filter(session__secret_sha256=digest)
    message = choices.read(text, personal_data, turns=turns)
    looked = services.look(message.text)
    try:
        return _say(digest, text, message, client_id, looked)
    except IntegrityError:
        # A session's first message came twice at once: the other one has made the session.
        return _say(digest, text, message, client_id, looked)


@transaction.atomic
def _say(
    digest: str, text: str, message: Message, client_id: str | None, looked: Looked
) -> tuple[Turn, bool]:
    return _ask(services.session_of(digest).pk, text, message, client_id, looked)


@transaction.atomic
def _ask(
    session_id: UUID, text: str, message: Message, client_id: str | None, looked: Looked
) -> tuple[Turn, bool]:
    # Locked: of two deliveries of one message, the second finds the turn of the first.
    session = locked(Session.objects.all()).get(pk=session_id)
    if erasing.is_erased(session):
        raise Session.DoesNotExist(str(session_id))
    if client_id is not None:
        names = ClientTurn.objects.select_related("turn")
        known = names.filter(session=session, client_id=client_id).first()
        if known is not None and not choices.is_same(known.turn.text, text):
            refused = ClientIdReused()
            turns = Turn.objects.filter(session=session)
            refusing.help_beside(refused, looked.risks, text=text, turns=turns)
            raise refused
        if known is not None:
            return known.turn, False
    turn = services.receive_turn_in(session_id=session_id, message=message, looked=looked)
    if client_id is not None:
        ClientTurn.objects.create(session=session, turn=turn, client_id=client_id)
    moves.changed(turn)
    return turn, True
