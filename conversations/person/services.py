"""Writes of asking for a person: the request, taking it back, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from conversations import ports, states
from conversations.mail import services as mail
from conversations.models import PersonRequest, Turn
from conversations.person import contacts, hours, takeovers
from conversations.person.hours import Slot
from conversations.person.models import Ended, RequestState, Way
from conversations.record.audited import PERSON
from conversations.states import TurnState
from conversations.turns import moves, services
from conversations.turns.locking import locked_session
from conversations.turns.message import IncomingMessage, read
from conversations.turns.refusing import NO_RELEASE, NotChosen, Refused, with_help
from conversations.webhooks import outbox
from ieim.audit import services as audit
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import PERSON as STAGE


@dataclass(frozen=True, slots=True)
class RequestDetails:
    """What a citizen asks for, as they sent it.

    ``about`` is one of their turns, None for none; ``text`` are their words, empty where the turn
    says it all. ``contact`` is an address or a number, and ``time`` the value of a slot, empty for
    any time.
    """

    text: str = ""
    about: UUID | None = None
    way: str = Way.PAGE.value
    contact: str = ""
    time: str = ""


class Unusable(Refused):
    """A request with something missing or wrong; ``field`` is that of :class:`RequestDetails`."""

    def __init__(self, field: str, message: str, figures: Mapping[str, int] | None = None) -> None:
        super().__init__(message, figures=figures)
        self.field = field


class AskedAlready(Refused):
    """The citizen waits for a person already, or talks with one."""


def ask(*, digest: str, details: RequestDetails, address: str | None = None) -> PersonRequest:
    """Store a request for a person as a turn that waits for one, with its review item.

    ``digest`` is the session's ``secret_sha256``; the session is made where there is none.
    ``address`` is as for :func:`conversations.turns.services.admit`. No run is started. Raises
    :class:`Unusable`, :class:`AskedAlready` and what else refuses a message, with its help lines.
    """
    turns = Turn.objects.filter(session__secret_sha256=digest)
    about = turns.filter(pk=details.about).first() if details.about else None
    if details.about is not None and about is None:
        raise Unusable("about", _("This question is not in your conversation. Choose another one."))
    written = details.text.strip()
    text = written or (about.text if about is not None else "")
    services.admit(session=digest, text=text, address=address)
    message = read(text, turns=turns)
    with with_help(message):
        # Identifiers in an earlier question were its sender's choice.
        if written:
            _require_no_numbers(message, turns)
        return _ask(digest, details, about, message)


def _require_no_numbers(message: IncomingMessage, turns: QuerySet[Turn]) -> None:
    try:
        services.require_choice(message, turns.values_list("session_id", flat=True).first())
    except NotChosen as found:
        sentence = _(
            "There is what looks like an identity, card or account number in it. Take it out, "
            "please: who answers you asks for it if they need it. Nothing was sent."
        )
        raise Unusable("text", sentence) from found


@transaction.atomic
def _ask(
    digest: str, details: RequestDetails, about: Turn | None, message: IncomingMessage
) -> PersonRequest:
    if not message.text:
        raise Unusable("text", _("Say what it is about: choose a question, or write it down."))
    if message.problem is not None:
        raise Unusable("text", message.problem.sentence, message.problem.figures)
    contact, slot = _contact(details), _slot(details)
    if message.release is None:
        raise Refused(NO_RELEASE)
    session = services.session_of(digest)
    if takeovers.current(session.pk) is not None:
        raise AskedAlready(_("A person is in this conversation already. Write to them there."))
    if session.person_requests.filter(state=RequestState.OPEN).exists():
        raise AskedAlready(_("You have asked for a person already. They will answer you."))
    turn = services.store(session, message, state=TurnState.NEEDS_REVIEW)
    request = PersonRequest.objects.create(
        turn=turn,
        session=session,
        about=about,
        way=details.way,
        contact=contact,
        wanted_from=slot.begins if slot else None,
        wanted_until=slot.ends if slot else None,
        asked_at=timezone.now(),
    )
    _record(request, "person.asked", actor="citizen")
    moves.open_review(turn=turn, stage=STAGE, codes=[Code.POLICY_PERSON.value])
    outbox.notify(turn)
    moves.notify_pages(turn)
    return request


@transaction.atomic
def withdraw(*, session_id: UUID) -> bool:
    """Take the open request of a session back; False where there is none.

    Whoever talks with the citizen leaves. Raises ``Session.DoesNotExist``, also for a
    session that was erased.
    """
    session = locked_session(session_id)
    request = PersonRequest.objects.filter(session=session, state=RequestState.OPEN).first()
    if request is None:
        return False
    turn = Turn.objects.select_for_update().get(pk=request.turn_id)
    if turn.state != TurnState.NEEDS_REVIEW.value:
        return False
    states.require_turn(TurnState.NEEDS_REVIEW, TurnState.CLOSED)
    Turn.objects.filter(pk=turn.pk).update(state=TurnState.CLOSED.value, updated_at=timezone.now())
    finish(turn_id=turn.pk, state=RequestState.WITHDRAWN, actor="citizen")
    takeovers.end(how=Ended.WITHDRAWN, actor="citizen", session=session)
    ports.reviews().withdraw(turn_id=turn.pk)
    takeovers.notify_pages(session.pk)
    return True


@transaction.atomic
def finish(*, turn_id: UUID, state: RequestState, actor: str) -> None:
    """End the open request of a turn, if it has one: its contact is gone from then on.

    So is the address of an e-mail request, unless there is an answer to notify of.
    """
    request = PersonRequest.objects.filter(turn=turn_id, state=RequestState.OPEN).first()
    if request is None:
        return
    request.state, request.contact = state.value, ""
    request.ended_at = timezone.now()
    request.save(update_fields=["state", "contact", "ended_at"])
    _record(request, "person.ended", actor=actor)
    mail.close(turn_id=turn_id)


def _record(request: PersonRequest, kind: str, *, actor: str) -> None:
    """Write the event down: never with the contact."""
    audit.record(
        chain=request.session_id,
        kind=kind,
        actor=actor,
        payload={
            "turn": str(request.turn_id),
            "about": str(request.about_id) if request.about_id else None,
            "way": request.way,
            "state": request.state,
        },
        rows=[PERSON.row(request)],
    )


def _contact(details: RequestDetails) -> str:
    try:
        match details.way:
            case Way.PAGE:
                return ""
            case Way.EMAIL:
                return contacts.email(details.contact)
            case Way.CALL:
                return contacts.telephone(details.contact)
    except contacts.UnusableContact as unusable:
        raise Unusable("contact", unusable.args[0]) from unusable
    raise Unusable("way", _("Choose how we can reach you."))


def _slot(details: RequestDetails) -> Slot | None:
    if details.way != Way.CALL or not details.time:
        return None
    by_value = {slot.value: slot for slot in hours.slots(timezone.now())}
    if details.time not in by_value:
        raise Unusable("time", _("This time is over or not offered. Choose another one."))
    return by_value[details.time]
