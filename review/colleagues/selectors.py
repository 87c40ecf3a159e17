"""Reads: notes on a conversation, a user's mentions, and a conversation in order of time."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils.translation import gettext

from ieim.people.models import User
from review import finding_texts, labels, scope
from review.colleagues.models import Mention, Note
from review.models import Decision, ReviewItem
from review.talking import Entry, entries

SHOWN = 100
"""Mentions that a list has, the newest."""


def items_beside(item: ReviewItem, user: User) -> QuerySet[ReviewItem]:
    """Return the items of a conversation that a user may see, ``item`` among them."""
    return scope.visible(user).filter(turn__session=item.turn.session_id)


def notes(items: Iterable[ReviewItem]) -> QuerySet[Note]:
    """Return the notes on items, oldest first."""
    return Note.objects.filter(item__in=items).select_related("author")


def mentions(user: User) -> QuerySet[Mention]:
    """Return a user's mentions in notes on items that they still may see, the newest first."""
    mentioned = Mention.objects.filter(user=user.pk, note__item__in=scope.visible(user))
    return mentioned.select_related("note__author", "note__item__turn__session").order_by("-pk")


def unread(user: User) -> int:
    """Return how many of a user's mentions they have not read."""
    # Most have none: what they may see is not looked up then.
    if not Mention.objects.filter(user=user.pk, read_at=None).exists():
        return 0
    return mentions(user).filter(read_at=None).count()


def timeline(item: ReviewItem, user: User) -> list[Entry]:
    """Return what happened in an item's conversation, in order of time: what was said, the items
    that the user may see, the decisions on them, and the notes."""
    items = items_beside(item, user)
    opened = (
        Entry("note", finding_texts.summary(each.reasons), each.opened_at, item=each.pk)
        for each in items
    )
    decided = (
        Entry(
            "decision",
            f"{gettext(labels.ACTIONS_DONE[record.action])}. {record.reason}",
            record.created_at,
            by=record.actor.display_name,
            item=record.item_id,
        )
        for record in Decision.objects.filter(item__in=items).select_related("actor")
    )
    noted = (
        Entry("colleague", note.text, note.created_at, by=note.author.display_name)
        for note in notes(items)
    )
    return sorted([*entries(item), *opened, *decided, *noted], key=lambda entry: entry.at)
