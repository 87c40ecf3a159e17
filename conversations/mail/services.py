"""Writes of requests to be told by e-mail: asking, confirming, stopping, and every end.

Each write holds the turn's row, as erasing a conversation does: nothing is written after that. An
address is kept while a request is open and never after; no event has it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.encoding import punycode
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from conversations.mail import selectors
from conversations.mail.models import OPEN, MailRequest, MailState
from conversations.models import Session, Turn
from conversations.person import contacts
from conversations.queueing import queue_after_commit
from conversations.record.audited import MAIL
from conversations.turns import limits
from conversations.turns.locking import NotInSession
from conversations.turns.moves import QUEUE
from conversations.turns.refusing import Refused
from conversations.turns.services import secret_digest
from ieim.audit import services as audit

VALID = timedelta(hours=24)
"""How long the link of the first message confirms an address, from when it was asked."""
SEND_MAIL = "conversations.tasks.send_mail"


class NotOffered(NotInSession):
    """There is no mail server, or the turn is not the session's, or it waits for nobody."""

    detail = "Nobody can be told of this message by e-mail."


class Unusable(Refused):
    """What was given is no e-mail address."""


class TooMany(Refused):
    """Too many messages were asked for; ``retry_after`` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(
            _("You have asked for too many e-mails today. The answer comes here all the same.")
        )
        self.retry_after = retry_after


def ask(*, session: Session, turn_id: UUID, address: str, origin: str) -> MailRequest:
    """Store the request to be told of a turn's answer, and have the confirming message sent.

    It takes the place of an open one of the turn, but for a confirmed one for the same address,
    which stays. ``origin`` is the address of the client (:mod:`ieim.people.addresses`). A mailbox
    that has had too many of these messages gets none, and nobody is told. Raises
    :class:`NotOffered`, :class:`Unusable` and :class:`TooMany`.
    """
    turn = Turn.objects.filter(pk=turn_id, session=session).first()
    if turn is None or not selectors.may_ask(turn):
        raise NotOffered(str(turn_id))
    address = _usable(address)
    wait = limits.take("mail_origin", origin) or limits.take("mail", session.secret_sha256)
    if wait is not None:
        raise TooMany(wait)
    spare = limits.take("mail", _mailbox(address)) is not None
    return _ask(turn_id, address, spare=spare)


@transaction.atomic
def _ask(turn_id: UUID, address: str, *, spare: bool) -> MailRequest:
    turn = Turn.objects.select_for_update().get(pk=turn_id)
    if not selectors.may_ask(turn):
        raise NotOffered(str(turn_id))
    for earlier in MailRequest.objects.filter(turn=turn, state__in=OPEN):
        if earlier.state != MailState.ASKED and earlier.address == address:
            return earlier
        end(earlier, MailState.STOPPED, actor="citizen")
    now = timezone.now()
    request = MailRequest.objects.create(
        turn=turn,
        session_id=turn.session_id,
        address=address,
        language=get_language() or "",
        state=MailState.ASKED.value,
        asked_at=now,
        due_at=None if spare else now,
    )
    record(request, "mail.asked", actor="citizen", spared=spare)
    if not spare:
        queue(request.pk)
    return request


@transaction.atomic
def confirm(*, secret: str) -> MailRequest | None:
    """Confirm the address that a link was sent to; None for a link that confirms nothing (more).

    Where the answer is there already, the request ends: who confirms is told so by the page.
    """
    request = locked_request(Q(confirm_sha256=secret_digest(secret)))
    if request is None or request.state != MailState.ASKED:
        return request
    if is_over(request, timezone.now()):
        end(request, MailState.EXPIRED)
    elif selectors.is_answered(request):
        end(request, MailState.TOLD, actor="citizen")
    else:
        request.state, request.due_at, request.tries = MailState.CONFIRMED.value, None, 0
        request.lease = request.leased_until = None
        request.save()
        record(request, "mail.confirmed", actor="citizen")
    return request


@transaction.atomic
def stop(*, secret: str) -> MailRequest | None:
    """End what a link was sent for, and erase the address; None for a link of nothing.

    That ends what else is open in the conversation for the address; where the link came with the
    message about the answer, so that its address is gone, everything there.
    """
    digest = secret_digest(secret)
    request = locked_request(Q(confirm_sha256=digest) | Q(answer_sha256=digest))
    if request is None:
        return None
    others = MailRequest.objects.filter(session=request.session_id, state__in=OPEN)
    if request.address:
        others = others.filter(address=request.address)
    if request.answer_sha256 == digest or request.address:
        for pk in others.exclude(pk=request.pk).values_list("pk", flat=True):
            other = locked_request(Q(pk=pk))
            if other is not None and other.state in OPEN:
                end(other, MailState.STOPPED, actor="citizen")
    if request.state in OPEN:
        end(request, MailState.STOPPED, actor="citizen")
    return request


@transaction.atomic
def stop_turn(*, session: Session, turn_id: UUID) -> bool:
    """Take the open request of a turn of a session back; False where there is none."""
    turn = Turn.objects.select_for_update().filter(pk=turn_id, session=session).first()
    mail_request = turn and MailRequest.objects.filter(turn=turn, state__in=OPEN).first()
    if not mail_request:
        return False
    end(mail_request, MailState.STOPPED, actor="citizen")
    return True


def close(*, turn_id: UUID) -> None:
    """End the open request of a turn that ended without an answer.

    Inside the caller's transaction, which holds the turn's row.
    """
    for request in MailRequest.objects.filter(turn=turn_id, state__in=OPEN):
        if not selectors.is_answered(request):
            end(request, MailState.CLOSED)


def end(request: MailRequest, state: MailState, *, actor: str = "system", **details: Any) -> None:
    """End a request whose turn the caller has locked: its address is gone from then on.

    ``details`` go into the event.
    """
    request.state, request.address, request.ended_at = state.value, "", timezone.now()
    request.due_at = request.lease = request.leased_until = None
    request.save()
    record(request, "mail.ended", actor=actor, **details)


def record(request: MailRequest, kind: str, *, actor: str = "system", **details: Any) -> None:
    """Write an event down: never with the address."""
    audit.record(
        chain=request.session_id,
        kind=kind,
        actor=actor,
        payload={"turn": str(request.turn_id), "state": request.state, **details},
        rows=[MAIL.row(request)],
    )


def queue(request_id: UUID) -> None:
    """Queue a message after the commit; a broker that fails leaves it to the sweeper."""
    queue_after_commit(SEND_MAIL, str(request_id), queue=QUEUE)


def is_over(request: MailRequest, now: datetime) -> bool:
    """Whether nobody can confirm a request any more."""
    return request.asked_at <= now - VALID


def locked_request(which: Q) -> MailRequest | None:
    """Return the request for which a condition is true, its turn locked; None where none is."""
    key = MailRequest.objects.filter(which).values_list("pk", "turn_id").first()
    if key is None:
        return None
    # The turn first, as whoever erases does.
    Turn.objects.select_for_update().get(pk=key[1])
    return MailRequest.objects.filter(pk=key[0]).first()


def _usable(text: str) -> str:
    """Return an address that can stand in a header as it is."""
    try:
        address = contacts.email(text)
        punycode(address.rpartition("@")[2]).encode("ascii")
    except contacts.UnusableContact as unusable:
        raise Unusable(unusable.args[0]) from unusable
    except UnicodeError:
        address = ""
    if not address.isprintable() or not address or '"' in address:
        raise Unusable(_("Enter an e-mail address in the form name@example.org."))
    return address


def _mailbox(address: str) -> str:
    """Return what is counted of an address: without the tag that leads to the same mailbox."""
    name, _at, domain = address.casefold().rpartition("@")
    return f"{name.partition('+')[0]}@{domain}"
