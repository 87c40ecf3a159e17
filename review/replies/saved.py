"""Saved replies: who sees and keeps which, and what is inserted of one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from conversations.turns import languages
from ieim.audit import services as audit
from ieim.audit.canonical import JSONValue
from ieim.audit.models import PEOPLE_CHAIN
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.vectors import shortlist_for
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.pipeline.knowledge import Service
from ieim.pipeline.ports import Query
from ieim.studio.drafts.selectors import agency_names
from ieim.studio.labels import language_label
from review.deciding.locking import SUPERVISE
from review.models import ReviewItem
from review.replies import placeholders
from review.replies.models import LONGEST_TEXT, SavedReply

FIELDS = ("title", "language", "agency", "text")


class ReplyError(Exception):
    """A saved reply that cannot be stored or changed; the message says what to do."""


def visible_replies(user: User) -> QuerySet[SavedReply]:
    """Return the saved replies of a user's agencies, and those of every agency."""
    scope = agencies_of(user)
    rows = SavedReply.objects.all()
    return rows if scope is None else rows.filter(Q(agency="") | Q(agency__in=scope))


def may_keep(user: User, agency: str) -> bool:
    """Whether a user may save replies of an agency; "" is every agency."""
    return user.has_perm(SUPERVISE) if agency == "" else works_for(user, agency)


def choices(user: User) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of the languages and of the agencies that a user may choose, by code."""
    release = knowledge.current_release()
    written = languages.written_in()
    codes = [written, *sorted((languages.supported(release) if release else set()) - {written})]
    names = {"": gettext("All agencies"), **agency_names()}
    agencies = {agency: name for agency, name in names.items() if may_keep(user, agency)}
    return {code: language_label(code) for code in codes}, agencies


@transaction.atomic
def save(
    *, by: User, values: Mapping[str, str], pk: int | None = None, seen: str = ""
) -> SavedReply:
    """Store a saved reply, a new one or that of ``pk``; ``values`` has :data:`FIELDS`. ``seen`` is
    the :func:`digest` of the reply that the user began with, "" for whatever there is.

    Raises:
        SavedReply.DoesNotExist: there is none that the user sees.
        ReplyError: a value cannot be used, or the reply is not theirs to change.
    """
    reply = SavedReply() if pk is None else _own(by, pk)
    if seen and seen != digest(reply):
        message = gettext("Somebody has changed this text meanwhile. Look at it, then save yours:")
        raise ReplyError(f"{message} {reply.title}: {reply.text}")
    codes, agencies = choices(by)
    given = {name: values[name].replace("\r\n", "\n").strip() for name in FIELDS}
    if "\0" in "".join(given.values()):
        raise ReplyError(gettext("The text has a character that cannot be shown. Type it again."))
    if not given["text"] or not given["title"]:
        raise ReplyError(gettext("Give the text a title, and write it."))
    if len(given["title"]) > 80 or len(given["text"]) > LONGEST_TEXT:
        message = gettext("A title has at most 80 characters, a text at most {most}.")
        raise ReplyError(message.format(most=f"{LONGEST_TEXT:,}"))
    if given["language"] not in codes or given["agency"] not in agencies:
        raise ReplyError(gettext("Choose a language and an agency from the lists."))
    if names := placeholders.unknown(given["text"]):
        message = gettext("There is no placeholder {name}. Take one of the list, or leave it out.")
        raise ReplyError(message.format(name=", ".join(f"{{{name[:80]}}}" for name in names)))
    for name, value in given.items():
        setattr(reply, name, value)
    reply.save()
    _record("review.reply_saved", reply, by)
    return reply


@transaction.atomic
def delete(*, by: User, pk: int) -> None:
    """Delete a saved reply; raises as :func:`save`."""
    reply = _own(by, pk)
    _record("review.reply_deleted", reply, by)
    reply.delete()


def _own(by: User, pk: int) -> SavedReply:
    reply = visible_replies(by).select_for_update().get(pk=pk)
    if not may_keep(by, reply.agency):
        raise ReplyError(gettext("This text is of every agency: a supervisor changes it."))
    return reply


def digest(reply: SavedReply) -> str:
    """Return the SHA-256 of what somebody can change of a saved reply, in hexadecimal digits."""
    values = [getattr(reply, name) for name in FIELDS]
    return hashlib.sha256("\0".join(values).encode()).hexdigest()


def _record(kind: str, reply: SavedReply, by: User) -> None:
    text_sha256 = hashlib.sha256(reply.text.encode()).hexdigest()
    payload: dict[str, JSONValue] = {"reply": reply.pk, "agency": reply.agency}
    payload["text_sha256"] = text_sha256
    audit.record(chain=PEOPLE_CHAIN, kind=kind, payload=payload, actor=by.actor)


def for_item(user: User, item: ReviewItem) -> list[SavedReply]:
    """Return a user's saved replies: those in the citizen's language first, then those of the
    item's agency, then those that are used most."""
    language = item.turn.language or languages.written_in()

    def order(reply: SavedReply) -> tuple[bool, bool, int]:
        return reply.language != language, reply.agency not in item.agency_ids, -reply.used

    return sorted(visible_replies(user), key=order)


def insert(
    *, by: User, pk: int, item: ReviewItem, service: tuple[str, str] | None
) -> tuple[str, Service | None]:
    """Return the text of a saved reply for an item, filled as far as there are values, with the
    service that it is filled from, None where it has no placeholder; and count its use.

    Without a ``service`` it is the one that fits the message best.

    Raises ``SavedReply.DoesNotExist``.
    """
    reply = visible_replies(by).get(pk=pk)
    SavedReply.objects.filter(pk=pk).update(used=F("used") + 1, last_used_at=timezone.now())
    release = languages.in_language(languages.written_release(item.turn), reply.language)
    chosen: Service | None = release.services.get(service) if service else None
    if chosen is None:
        ranking: Any = shortlist_for(release).rank(Query(item.turn.text))
        chosen = next((hit.item for hit in ranking.services(limit=1)), None)
    filled = placeholders.fill(reply.text, release, chosen)
    return filled, None if filled == reply.text else chosen
