"""Translations of citizens' messages by the configured model, for staff to read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils.translation import get_language, gettext

from conversations.turns import languages, running
from conversations.turns.locking import locked_session
from conversations.turns.store import spent_today
from ieim.administration import selectors as administration
from ieim.audit import services as audit
from ieim.people.models import User
from ieim.pipeline import contract as contracts
from ieim.pipeline import drafting
from ieim.pipeline.drafting import Drafted
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.personal.redaction import PLACEHOLDER, explained, prepare
from ieim.pipeline.ports import Model, ModelUnavailable
from ieim.pipeline.stages.base import Output
from ieim.pipeline.stages.drafting import MESSAGE, TRANSLATION
from review.models import ReviewItem
from review.replies.models import MessageTranslation


class NoTranslation(Exception):
    """There is no translation; the message says why and what to do."""


def reader_language() -> str:
    """Return the language of the reader's pages (ISO 639-1)."""
    return (get_language() or languages.written_in()).partition("-")[0]


def translation_of(item: ReviewItem) -> MessageTranslation | None:
    """Return the newest translation of an item's message into the reader's language."""
    rows = item.translations.filter(language=reader_language()).exclude(text="")
    return rows.order_by("-pk").first()


def is_foreign(item: ReviewItem) -> bool:
    """Whether the message is in another language than the reader's pages, or in one unknown."""
    return item.turn.language != reader_language()


def translate(*, item: ReviewItem, by: User) -> MessageTranslation:
    """Have an item's message translated into the reader's language, and store the result.

    The model is given the redacted message. What passes the gate has the same figures, facts and
    redacted places. It is for staff: no stage reads it, and evidence stays that of the original.

    Raises:
        NoTranslation: no model is configured or answers, or no attempt passed the gate.
        Session.DoesNotExist: the conversation was erased meanwhile.
    """
    if not settings.IEIM_MODEL["BASE_URL"]:
        message = gettext(
            "No language model is configured, so nothing can be translated. Ask a colleague who"
            " reads the language, or whoever runs this site for a model."
        )
        raise NoTranslation(message)
    redacted, language = prepare(item.turn.text), reader_language()
    lines = [line for line in redacted.text.splitlines() if any(map(str.isalnum, line))]
    if not lines:
        raise NoTranslation(gettext("The message has no words to translate."))

    def check(output: Output) -> Iterator[Finding]:
        draft = "\n".join(output["fields"][0]["lines"])
        if sorted(PLACEHOLDER.findall(draft)) != sorted(PLACEHOLDER.findall("\n".join(lines))):
            message = "The redacted places are not those of the original."
            yield Finding(Code.REPLY_UNGROUNDED, "/fields/0/lines", message)

    payload: dict[str, Any] = {
        **{"agency": "", "service": "", "language": language, "names": []},
        "fields": [{"field": MESSAGE, "lines": lines}],
    }
    if left_out := explained(redacted.text):
        payload["redacted"] = left_out
    model: Model = running.current_model()
    try:
        drafted = drafting.draft(
            TRANSLATION,
            payload,
            release=languages.written_release(item.turn),
            model=model,
            options=running.options(persona=administration.current().persona),
            day_spent=spent_today(),
            check=check,
        )
    except ModelUnavailable as error:
        message = gettext("The model cannot be reached now. Try again later.")
        raise NoTranslation(message) from error
    text = "\n".join(drafted.output["fields"][0]["lines"]) if drafted.output else ""
    translation = _store(item, language, redacted.restore(text), drafted, model.name, by)
    if not text:
        message = gettext(
            "The model’s translation did not pass the checks, so it is not shown. Ask again, or ask"
            " a colleague who reads the language."
        )
        raise NoTranslation(message)
    return translation


@transaction.atomic
def _store(
    item: ReviewItem, language: str, text: str, drafted: Drafted, model: str, by: User
) -> MessageTranslation:
    locked_session(item.turn.session_id)
    tokens = drafted.prompt_tokens + drafted.completion_tokens
    translation = MessageTranslation.objects.create(
        item=item, language=language, text=text, tokens=tokens, created_by=by
    )
    contract = contracts.load(TRANSLATION, administration.current().persona)
    audit.record(
        chain=item.turn.session_id,
        kind="review.translated" if text else "review.translation_failed",
        actor=by.actor,
        payload={
            "item": str(item.pk),
            "language": language,
            "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "contract": contract.id,
            "schema_sha256": contract.schema_sha256,
            "prompt_sha256": contract.prompt_sha256,
            "model": model,
            "attempts": drafted.attempts,
            "prompt_tokens": drafted.prompt_tokens,
            "completion_tokens": drafted.completion_tokens,
            "findings": [finding.code.value for finding in drafted.findings],
        },
    )
    return translation


def tokens_since(moment: datetime) -> int:
    """Return the tokens of the translations that were asked for since a moment."""
    rows = MessageTranslation.objects.filter(created_at__gte=moment)
    return rows.aggregate(used=Sum("tokens"))["used"] or 0
