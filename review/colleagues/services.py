"""Writes: notes on items, and what somebody does with their mentions."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from ieim.audit import services as audit
from ieim.people import post
from ieim.people.models import User
from ieim.pipeline.message.screen import refusal, screen, shows_nothing
from review import scope
from review.audited import NOTE
from review.colleagues import selectors
from review.colleagues.models import Mention, MentionMail, Note
from review.deciding import locking

MAX_NOTE: Final = 2_000
"""Unicode code points of a note."""
_MENTIONED = re.compile(r"(?<![\w@.+-])@(\w[\w@.+-]*)")


class NoteRefused(Exception):
    """A note that is refused; the message says why. Nothing was stored."""


@transaction.atomic
def add_note(*, item_id: UUID, actor: User, text: str) -> Note:
    """Store a note on an item; each ``@username`` in it is a mention of that colleague.

    Raises:
        NoteRefused: the text cannot be stored, or mentions somebody who may not see the item.
        PermissionDenied: without the right to decide.
        ReviewItem.DoesNotExist: for an item that the actor may not see.
    """
    if not actor.has_perm(locking.DECIDE):
        raise PermissionDenied
    item = locking.find(item_id, actor, lock=True)  # an erasure waits, or was before
    text = _checked(text)
    viewers = {user.get_username().lower(): user for user in scope.viewers(item)}
    names = dict.fromkeys(name.rstrip(".-+@").lower() for name in _MENTIONED.findall(text))
    if unknown := [f"@{name}" for name in names if name not in viewers]:
        message = gettext("Nobody of this name may see the item: {names}. Choose from the list.")
        raise NoteRefused(message.format(names=", ".join(unknown)))
    note = Note.objects.create(item=item, author=actor, text=text)
    mentioned = [viewers[name] for name in names if viewers[name] != actor]
    Mention.objects.bulk_create(Mention(note=note, user=user) for user in mentioned)
    payload = {"item": str(item.pk), "turn": str(item.turn_id), "note": str(note.pk)}
    audit.record(
        chain=item.turn.session_id,
        kind="review.noted",
        actor=actor.actor,
        payload=payload,
        rows=[NOTE.row(note)],
    )
    wanted = MentionMail.objects.filter(user__in=mentioned).exclude(user__email="")
    sentence = gettext("{name} mentioned you in a note on an item of the conversation {reference}.")
    paragraphs = (
        sentence.format(name=actor.display_name, reference=item.turn.session.reference),
        f"{settings.IEIM_PUBLIC_URL}{reverse('review:item', args=[item.pk])}#notes",
    )
    post.send_on_commit(
        subject=gettext("You were mentioned"),
        paragraphs=paragraphs,
        to=lambda: [*wanted.values_list("user__email", flat=True)],
    )
    return note


def _checked(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if shows_nothing(text):
        raise NoteRefused(gettext("There is no text in the note yet. Write what colleagues need."))
    if len(text) > MAX_NOTE:
        message = gettext("The note is {number} characters long; {most} are enough.")
        raise NoteRefused(message.format(number=f"{len(text):,}", most=f"{MAX_NOTE:,}"))
    if refusal(text) is not None or screen(text).removed:
        message = gettext("The note has a character that cannot be stored. Type it again.")
        raise NoteRefused(message)
    return text


def read_mentions(*, user: User, pk: int | None = None) -> None:
    """Mark a user's mention as read, or all of them."""
    unread = selectors.mentions(user).filter(read_at=None)
    (unread if pk is None else unread.filter(pk=pk)).update(read_at=timezone.now())


def set_mail(*, user: User, wanted: bool) -> None:
    """Send a user a mail for each mention from now on, or none."""
    if wanted:
        MentionMail.objects.get_or_create(user=user)
    else:
        MentionMail.objects.filter(user=user).delete()
