"""Reads of a talk: who wrote what, in order, and who has the conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations import selectors as conversations
from conversations.chat import wording
from conversations.chat.presenters import ReplyView, TurnView
from conversations.chat.reply_views import reply_view
from conversations.models import PersonRequest, Turn
from conversations.person import selectors as people
from conversations.person.contacts import readable
from conversations.person.models import Ended, Way
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.pipeline.topology import PERSON
from review.deciding.locking import DECIDE
from review.item.sections.asked import AskedBack, asked_back
from review.models import ReviewItem
from review.queue.selectors import is_held
from review.scope.reach import visible

LEFT = {
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
class Said:
    """One thing in a conversation; ``who`` is ``citizen``, ``staff``, ``assistant`` or ``note``.

    ``answered`` has an answer as the citizen reads it, with its corrections, ``asked`` what the
    assistant asked back; where one is there, ``text`` is empty.
    """

    who: str
    text: str
    at: datetime
    answered: TurnView | None = None
    asked: AskedBack | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as a caseworker reads it.

    ``mine``: they have it now; ``other`` is who else has it, empty for nobody. ``holds``: they have
    claimed the item; ``holder`` is who else has, empty for nobody.
    """

    item: UUID
    reference: str
    said: tuple[Said, ...]
    mine: bool
    other: str
    holds: bool
    holder: str
    decided: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """What a citizen who asks for a person wants; ``contact`` only for who may decide on it.

    ``about`` is what they had asked, empty where only words say it.
    """

    state: str
    way: str
    contact: str
    hidden: bool
    wanted_from: datetime | None
    wanted_until: datetime | None
    about: str
    about_turn: UUID | None


def wish(item: ReviewItem, user: User) -> Wish | None:
    """Return the request for a person that an item is of; None for other items."""
    asked = PersonRequest.objects.filter(turn=item.turn_id).select_related("about").first()
    if item.stage != PERSON or asked is None:
        return None
    may = user.has_perm(DECIDE)
    contact = readable(asked.contact) if asked.way == Way.CALL else asked.contact
    return Wish(
        state=asked.state,
        way=asked.way,
        contact=contact if may else "",
        hidden=bool(asked.contact) and not may,
        wanted_from=asked.wanted_from,
        wanted_until=asked.wanted_until,
        about=asked.about.text if asked.about is not None else "",
        about_turn=asked.about_id,
    )


def talk_view(pk: UUID, user: User) -> Talk:
    """Return the conversation of an item; raises ``ReviewItem.DoesNotExist`` as the item page."""
    item = visible(user).select_related("turn__session", "claimed_by").get(pk=pk)
    now = timezone.now()
    session = item.turn.session
    takeover = people.running(session.pk)
    holder = item.claimed_by if is_held(item, now) else None
    mine = takeover is not None and (takeover.by_id, takeover.item) == (user.pk, item.pk)
    return Talk(
        item=item.pk,
        reference=session.reference,
        said=tuple(_said(item)),
        mine=mine,
        other=takeover.by.display_name if takeover is not None and not mine else "",
        holds=holder == user,
        holder=holder.display_name if holder is not None and holder != user else "",
        decided=item.decided_at is not None,
    )


def _said(item: ReviewItem) -> Iterator[Said]:
    turns = Turn.objects.filter(session_id=item.turn.session_id).select_related("reply", "choice")
    turns = turns.prefetch_related("corrections__notice")
    lines = people.lines(item.turn.session_id)
    release = cache(knowledge.release)  # one of a number is read once, however many turns it has
    for turn in turns.order_by("number"):
        yield Said("citizen", turn.text, turn.created_at)
        if hasattr(turn, "choice"):
            told = release(turn.release_number).in_language(turn.language)
            asked = asked_back(turn, told)
            yield Said("assistant", "", turn.choice.asked_at, asked=asked)
        if hasattr(turn, "reply"):
            who = "staff" if turn.reply.origin == "staff" else "assistant"
            said = reply_view(turn.reply, turn, release(turn.release_number))
            yield Said(who, "", turn.reply.created_at, answered=_answered(turn, said))
        for line in lines.get(turn.number, ()):
            if line.kind == "said":
                yield Said("staff", line.text, line.at)
            elif line.kind == "joined":
                yield Said("note", gettext("A caseworker took the conversation over."), line.at)
            else:
                yield Said("note", gettext(LEFT[Ended(line.how)]), line.at)
                if line.read:
                    waited = gettext("A message of danger still waited for a person.")
                    yield Said("note", waited, line.at)


def _answered(turn: Turn, said: ReplyView) -> TurnView:
    """Return an answered turn as far as its answer is shown."""
    return TurnView(
        id=turn.pk,
        number=turn.number,
        text=turn.text,
        asked_at=turn.created_at,
        state=turn.state,
        steps=(),
        reply=said,
        corrections=conversations.corrections(turn),
        language=wording.words(turn.language).language,
    )
