"""Writes: adding a notice, and ending it early. Each is one transaction with its audit event."""

from __future__ import annotations

import re
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from ieim.audit.canonical import JSONValue
from ieim.audit.services import record_system
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.models import Directive
from ieim.people.models import User
from ieim.people.scope import works_for
from ieim.pipeline.message.screen import STRIPPED_CLASS

MAX_TEXT = 500

NO_AGENCY = gettext_noop("Choose one of your agencies.")
END_BEFORE_START = gettext_noop("The end must be after the start.")
END_IS_PAST = gettext_noop("The end is over already. Choose a later one.")
IS_OVER = gettext_noop("This notice is over already.")


class Refused(Exception):
    """A notice that cannot be; nothing was changed. ``problems`` is ``{field: sentence}``."""

    def __init__(self, **problems: str) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@transaction.atomic
def add(
    *,
    agency: str,
    text: str,
    starts_at: datetime | None,
    ends_at: datetime,
    model_only: bool = False,
    by: User,
) -> Directive:
    """Add a notice of ``agency`` (blank: of every agency); without ``starts_at`` it begins now.

    One that is ``model_only`` is told to the stages and never shown to citizens. Raises
    :class:`Refused`.
    """
    now = timezone.now()
    starts_at = starts_at or now
    problems = {}
    try:
        text = plain_text(text, limit=MAX_TEXT)
    except BadText as bad:
        problems["text"] = bad.args[0]
    release = knowledge.current_release()
    exists = agency == "" or (release is not None and agency in release.agencies)
    if not exists or not works_for(by, agency):
        problems["agency"] = gettext(NO_AGENCY)
    if ends_at <= starts_at:
        problems["ends_at"] = gettext(END_BEFORE_START)
    elif ends_at <= now:
        problems["ends_at"] = gettext(END_IS_PAST)
    if problems:
        raise Refused(**problems)
    notice = Directive.objects.create(
        agency=agency,
        text=text,
        starts_at=starts_at,
        ends_at=ends_at,
        model_only=model_only,
        created_by=by,
    )
    _record("directive.added", notice, by, text=notice.text, model_only=notice.model_only)
    return notice


@transaction.atomic
def end(*, directive_id: int, by: User) -> Directive:
    """End a notice now; one that has not begun never begins.

    Raises :class:`Refused` for one that is over, ``Directive.DoesNotExist`` for one of an agency
    that the person does not work for.
    """
    notice = Directive.objects.select_for_update().get(pk=directive_id)
    if not works_for(by, notice.agency):
        raise Directive.DoesNotExist
    now = timezone.now()
    if notice.ends_at <= now:
        raise Refused(notice=gettext(IS_OVER))
    notice.ends_at = max(now, notice.starts_at)
    notice.version += 1
    notice.save(update_fields=["ends_at", "version"])
    _record("directive.ended", notice, by)
    return notice


def _record(kind: str, notice: Directive, by: User, **fields: JSONValue) -> None:
    payload: dict[str, JSONValue] = {
        "directive": notice.pk,
        "agency": notice.agency,
        "starts_at": notice.starts_at.isoformat(),
        "ends_at": notice.ends_at.isoformat(),
        **fields,
    }
    record_system(kind=kind, payload=payload, actor=by.actor)


_UNSHOWABLE = re.compile(f"[\ud800-\udfff{STRIPPED_CLASS}]")
_SPACES = re.compile(r"[^\S\n]+")
_GAPS = re.compile(r" ?\n ?(?:\n ?)+")


class BadText(ValueError):
    """A text that cannot be shown to citizens; ``args[0]`` is the sentence for its author."""


def plain_text(typed: str, *, limit: int, lines: bool = False, wordless: str = "") -> str:
    """Return ``typed`` without spare white space: one paragraph, or with ``lines`` several.

    ``limit`` is in code points of what is returned. ``wordless`` says what to write instead of
    nothing. Raises :class:`BadText`.
    """
    text = typed.replace("\r\n", "\n").replace("\r", "\n").strip()
    if _UNSHOWABLE.search(text):
        raise BadText(gettext("The text has a character that cannot be shown. Type it again."))
    text = _GAPS.sub("\n\n", _SPACES.sub(" ", text)) if lines else " ".join(text.split())
    if not any(character.isalnum() for character in text):
        raise BadText(wordless or gettext("Write what citizens should know."))
    if len(text) > limit:
        message = gettext("The text is {length} characters long; it may have {limit}.")
        raise BadText(message.format(length=f"{len(text):,}", limit=f"{limit:,}"))
    return text
