"""Translations of citizens' messages and of sent answers by the configured model, for staff."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext

from conversations import page_languages
from conversations.models import Turn
from conversations.turns import languages
from conversations.turns.locking import locked_session
from ieim.audit import services as audit
from ieim.people.models import User
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.personal.redaction import PLACEHOLDER, explained, prepare
from ieim.pipeline.ports import ModelUnavailable
from ieim.pipeline.stages.base import Output
from ieim.pipeline.stages.drafting import MESSAGE, TRANSLATION
from ieim.studio.drafting import services as drafting
from review.models import Reading, ReviewItem
from review.replies.models import MessageTranslation


class NoTranslation(Exception):
    """There is no translation; the message says why and what to do."""


def is_foreign(turn: Turn, user: User) -> bool:
    """Whether a message is in a language that a user does not read."""
    return turn.language not in {page_languages.current(), *(user.languages or ())}


def translation_of(of: ReviewItem | Reading) -> MessageTranslation | None:
    """Return the translation for an item or a reading into the reader's language, or None."""
    rows = of.translations.filter(language=page_languages.current()).exclude(text="")
    return rows.order_by("-pk").first()


def translate(*, of: ReviewItem | Reading, turn: Turn, text: str, by: User) -> MessageTranslation:
    """Have a text of a turn translated into the reader's language, unless it is, and store it with
    the item or the reading that it is ``of``.

    The model is given the redacted text. What passes the gate has the same figures, facts and
    redacted places. It is for staff: no stage reads it, and evidence stays that of the original.

    Raises:
        NoTranslation: no model is configured or answers, or no attempt passed the gate.
        Session.DoesNotExist: the conversation was erased meanwhile.
    """
    if stored := translation_of(of):
        return stored
    if not drafting.has_model():
        message = gettext(
            "No language model is configured, so nothing can be translated. Ask a colleague who"
            " reads the language, or whoever runs this site for a model."
        )
        raise NoTranslation(message)
    redacted, language = prepare(text), page_languages.current()
    lines = [line for line in redacted.text.splitlines() if any(map(str.isalnum, line))]
    if not lines:
        raise NoTranslation(gettext("The message has no words to translate."))

    def check(output: Output) -> Iterator[Finding]:
        sent, draft = ("\n".join(part) for part in (lines, output["fields"][0]["lines"]))
        if sorted(PLACEHOLDER.findall(draft)) != sorted(PLACEHOLDER.findall(sent)):
            message = "The redacted places are not those of the original."
            yield Finding(Code.REPLY_UNGROUNDED, "/fields/0/lines", message)

    payload: dict[str, Any] = {"agency": "", "service": "", "language": language, "names": []}
    payload |= {"fields": [{"field": MESSAGE, "lines": lines}]}
    if left_out := explained(redacted.text):
        payload["redacted"] = left_out
    release = languages.written_release(turn)
    try:
        drafted, details = drafting.ask(TRANSLATION, payload, release, check)
    except ModelUnavailable as error:
        message = gettext("The model cannot be reached now. Try again later.")
        raise NoTranslation(message) from error
    translated = "\n".join(drafted.output["fields"][0]["lines"]) if drafted.output else ""
    with transaction.atomic():
        locked_session(turn.session_id)
        translation = of.translations.create(
            language=language,
            text=redacted.restore(translated),
            tokens=drafted.prompt_tokens + drafted.completion_tokens,
        )
        digest = hashlib.sha256(translation.text.encode()).hexdigest()
        name = "item" if isinstance(of, ReviewItem) else "reading"
        audit.record(
            chain=turn.session_id,
            kind="review.translated" if translated else "review.translation_failed",
            actor=by.actor,
            payload={name: str(of.pk), "language": language, "text_sha256": digest, **details},
        )
    if not translated:
        message = gettext(
            "The model’s translation did not pass the checks, so it is not shown. Ask again, or ask"
            " a colleague who reads the language."
        )
        raise NoTranslation(message)
    return translation


def tokens_since(moment: datetime) -> int:
    """Return the tokens of the translations that were asked for since a moment."""
    rows = MessageTranslation.objects.filter(created_at__gte=moment)
    return rows.aggregate(used=Sum("tokens"))["used"] or 0
