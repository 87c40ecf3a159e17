"""A caseworker's conversation with a citizen: transcript, takeover, messages, handing back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations import selectors as conversations
from conversations.chat import wording
from conversations.chat.presenters import TurnView
from conversations.chat.reply_presenters import ReplyView
from conversations.chat.reply_views import reply_view
from conversations.models import Line, Session, Takeover, Turn
from conversations.person import selectors as people
from conversations.person import takeovers
from conversations.person.models import Ended
from conversations.turns import languages
from conversations.turns.locking import is_erased, locked
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.pipeline.knowledge import Service
from ieim.pipeline.reply.reply import in_language, render_several
from ieim.pipeline.topology import AWAITED
from review import claims, crisis, labels, reading, scope
from review.deciding import outdated, texts
from review.deciding.locking import DECIDE, Refused
from review.item.base_forms import ServicePicker
from review.item.page import AskedBack, asked_back
from review.models import ReviewItem
from review.scope import visible

END_NOTES = {
    Ended.HANDED_BACK: gettext_noop("The conversation was handed back to the assistant."),
    Ended.CLAIM_LOST: gettext_noop(
        "The caseworker has the item no more; the assistant answers again."
    ),
    Ended.DECIDED: gettext_noop("The item was decided; the assistant answers again."),
    Ended.SILENCE: gettext_noop("Nobody wrote for a while; the assistant answers again."),
    Ended.WITHDRAWN: gettext_noop(
        "The citizen took the request back; the assistant answers again."
    ),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a conversation; ``who`` is ``citizen``, ``staff``, ``assistant`` or ``note``, in
    a timeline also ``colleague`` or ``decision``; ``by`` is the name of a member of staff.

    ``answered`` has an answer as the citizen reads it, with its corrections, ``choice`` the
    options that the assistant offered; where one of them is set, ``text`` is empty. ``reply`` has
    the cards that a caseworker sent with their words. ``dangers`` are the names of the dangers that
    a citizen's message shows.
    """

    who: str
    text: str
    at: datetime
    answered: TurnView | None = None
    choice: AskedBack | None = None
    reply: ReplyView | None = None
    by: str = ""
    item: UUID | None = None
    dangers: tuple[str, ...] = ()


class CardPicker(ServicePicker):
    """The services that are sent to the citizen as cards, found by words."""

    input_name = "card"
    words_id = "card-words"


def talk_view(pk: UUID, user: User) -> dict[str, Any]:
    """Return the conversation of an item as a caseworker reads it, which is recorded as read.

    ``mine``: they have it now; ``other`` is who else has it, empty for nobody. ``holds``: they have
    claimed the item; ``holder`` is who else has, empty for nobody. Raises
    ``ReviewItem.DoesNotExist`` as the item page.
    """
    item = visible(user).select_related("turn__session", "claimed_by").get(pk=pk)
    reading.record_read(item, user)
    session = item.turn.session
    takeover = people.running(session.pk)
    holder = item.holder(timezone.now())
    is_mine = takeover is not None and (takeover.by_id, takeover.item) == (user.pk, item.pk)
    return {
        "item": item.pk,
        "turn": item.turn,
        "version": item.version,
        "reference": session.reference,
        "entries": list(entries(item)),
        "mine": is_mine,
        "other": takeover.by.display_name if takeover is not None and not is_mine else "",
        "holds": holder == user,
        "holder": holder.display_name if holder is not None and holder != user else "",
        "decided": item.decided_at is not None,
    }


def entries(item: ReviewItem) -> Iterator[Entry]:
    """Yield what was said in the conversation of an item."""
    turns = Turn.objects.filter(session_id=item.turn.session_id).select_related(
        "reply", "choice", "replaced__by"
    )
    turns = turns.prefetch_related("corrections__notice")
    lines = people.lines(item.turn.session_id)
    release = cache(knowledge.release)  # one of a number is read once, however many turns it has
    for turn in turns.order_by("number"):
        dangers = tuple(label.name for label in crisis.labels(turn)) if turn.risks else ()
        yield Entry("citizen", turn.text, turn.created_at, dangers=dangers)
        if hasattr(turn, "choice"):
            localized = release(turn.release_number).in_language(turn.language)
            choice = asked_back(turn, localized)
            yield Entry("assistant", "", turn.choice.asked_at, choice=choice)
        if hasattr(turn, "reply"):
            who = "staff" if turn.reply.origin == "staff" else "assistant"
            reply = reply_view(turn.reply, turn, release(turn.release_number))
            yield Entry(who, "", turn.reply.created_at, answered=_answered(turn, reply))
        if hasattr(turn, "replaced"):
            yield Entry("note", gettext(labels.TURNED_AWAY), turn.replaced.by.created_at)
        for line in lines.get(turn.number, ()):
            if line.kind == "said":
                yield Entry("staff", line.text, line.at, reply=line.reply)
            elif line.kind == "joined":
                yield Entry("note", gettext("A caseworker took the conversation over."), line.at)
            else:
                yield Entry("note", gettext(END_NOTES[Ended(line.how)]), line.at)
                if line.read:
                    waited = gettext("A message of danger still waited for a person.")
                    yield Entry("note", waited, line.at)


def _answered(turn: Turn, reply: ReplyView) -> TurnView:
    """Return an answered turn as far as its answer is shown."""
    return TurnView(
        id=turn.pk,
        number=turn.number,
        text=turn.text,
        asked_at=turn.created_at,
        state=turn.state,
        steps=(),
        reply=reply,
        corrections=conversations.corrections(turn),
        language=wording.words(turn.language).language,
    )


ALREADY_TAKEN_OVER = gettext_noop("A colleague is in this conversation already.")
ENDED = gettext_noop(
    "You are not in this conversation any more: the assistant answers again. Take it over anew."
)
WITHDRAWN = gettext_noop(
    "The service list does not have this any more: {names}. Choose another service."
)
NOBODY_WAITS = gettext_noop("No citizen waits for this item, so there is nobody to talk to.")


class CannotTalk(Exception):
    """A message or takeover that is refused; the message says why. Nothing was changed."""


@transaction.atomic
def begin(*, item_id: UUID, actor: User) -> Takeover:
    """Take a citizen's conversation over; the item is claimed where it is free.

    Raises :class:`CannotTalk`, what :func:`review.claims.claim` raises, and
    ``ReviewItem.DoesNotExist`` outside the actor's agencies.
    """
    session, item = _claimed_session(item_id, actor)
    if item.stage not in AWAITED:
        raise CannotTalk(gettext(NOBODY_WAITS))
    try:
        return takeovers.begin(session=session, item=item.pk, by=actor, until=_until(item))
    except takeovers.AlreadyTaken as error:
        raise CannotTalk(gettext(ALREADY_TAKEN_OVER)) from error


@transaction.atomic
def say(
    *,
    item_id: UUID,
    actor: User,
    text: str,
    services: Sequence[object] = (),
    seen: Collection[str] = (),
) -> Line:
    """Send a message to the citizen, with ``services`` (``[{"agency", "service"}]``) as cards.

    ``seen`` are the :func:`doubts` that the author was warned of. Raises as :func:`begin`, also for
    others, and for a service that was withdrawn since.
    """
    session, item = _claimed_session(item_id, actor)
    try:
        checked = texts.checked(item.turn, text)
        cited = texts.services_of(list(services), release := languages.release_of(item.turn))
        reply = render_several("", cited, release)
        changes = outdated.changes_since(item.turn, reply)
        if changes is not None and changes.withdrawn:
            raise CannotTalk(gettext(WITHDRAWN).format(names=", ".join(changes.withdrawn)))
        if unseen := [fact for fact in doubts(item.turn, checked, cited) if fact not in seen]:
            message = gettext("The service list does not give {facts}. Check it, then send it.")
            raise CannotTalk(message.format(facts="; ".join(unseen)))
        reply = in_language(reply, languages.reply_language(item.turn), release)
        cards = {"release": item.turn.release_number, "reply": reply.as_dict()}
        return takeovers.say(
            session_id=session.pk,
            item=item.pk,
            by=actor,
            text=checked,
            until=_until(item),
            cards=cards if cited else None,
        )
    except Refused as refused:
        raise CannotTalk(refused.message) from refused
    except takeovers.NotTalking as error:
        raise CannotTalk(gettext(ENDED)) from error


def doubts(turn: Turn, text: str, services: Sequence[Service]) -> list[str]:
    """Return what the live service list does not give: the amounts and dates of a text that no
    source has, and services that have changed since the turn's release, with what differs."""
    changes = outdated.changes_since(turn, render_several("", services, languages.release_of(turn)))
    return [*texts.unpublished(turn, text), *(changes.changed if changes is not None else ())]


@transaction.atomic
def hand_back(*, item_id: UUID, actor: User) -> None:
    """Let the assistant answer again; once more is no change. Raises as :func:`begin`."""
    if not actor.has_perm(DECIDE):
        raise PermissionDenied
    item = scope.visible(actor).get(pk=item_id)
    takeovers.end(how=Ended.HANDED_BACK, actor=actor.actor, item=item.pk, by_id=actor.pk)


def _claimed_session(item_id: UUID, actor: User) -> tuple[Session, ReviewItem]:
    """Return a session, locked, and an item of it that the actor has claimed, locked as well."""
    if not actor.has_perm(DECIDE):
        raise PermissionDenied
    session_id = scope.visible(actor).values_list("turn__session_id", flat=True).get(pk=item_id)
    # The session first, as a message does.
    session = locked(Session.objects.all()).get(pk=session_id)
    if is_erased(session):
        raise ReviewItem.DoesNotExist(str(item_id))
    return session, claims.claim(item_id=item_id, actor=actor)


def _until(item: ReviewItem) -> datetime:
    """Return when the actor's claim ends."""
    return item.claimed_until or timezone.now()
