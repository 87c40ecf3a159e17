"""The rows of conversations that audit events vouch for (see :mod:`ieim.audit.audited`).

``columns`` are what is hashed. A column that is neither there nor in :data:`MAY_CHANGE` has not
been thought about, and a test says so. A kind whose columns change needs a new name: what older
events vouch for stays as it was hashed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conversations.models import (
    ERASED_MARK,
    Attempt,
    Choice,
    Citation,
    Correction,
    CorrectionNotice,
    EvidenceSpan,
    Feedback,
    Line,
    MailRequest,
    PersonRequest,
    Rating,
    Replacement,
    Reply,
    Session,
    Stage,
    Takeover,
    Turn,
)
from conversations.states import DONE_STAGE_STATUSES, StageStatus
from ieim.audit.audited import AuditedModel
from ieim.audit.canonical import instant

_ENDED = {status.value for status in (*DONE_STAGE_STATUSES, StageStatus.NEEDS_REVIEW)}
_ANSWER = ("output", "state_merge", "result")


def _stage_related(stage: Stage) -> dict[str, Any]:
    return {
        # Whether a worker is at it is no part of what came of it.
        "status": stage.status if stage.status in _ENDED else None,
        "spans": sorted(span.pk for span in stage.spans.all()),
    }


def _has_no_outcome(stage: Stage) -> bool:
    has_content = any(getattr(stage, name) is not None for name in _ANSWER) or stage.findings
    return not has_content and stage.status not in _ENDED


def cited(citations: Iterable[Citation]) -> list[list[str]]:
    """Return the citations of a reply as its events have them."""
    return sorted([c.agency, c.service, c.service_sha256] for c in citations)


def _reply_related(reply: Reply) -> dict[str, Any]:
    return {"citations": cited(reply.citations.all())}


def _attempt_related(attempt: Attempt) -> dict[str, Any]:
    # Only where there is a count: what was written before there were any stays as it was hashed.
    count = attempt.cached_tokens
    return {} if count is None else {"cached_tokens": count}


def _choice_related(choice: Choice) -> dict[str, Any]:
    # As above: only where they hold something.
    names = ("several", "also")
    return {name: getattr(choice, name) for name in names if getattr(choice, name)}


def _turn_related(turn: Turn) -> dict[str, Any]:
    # As above: only where somebody had a newer release asked.
    if turn.renewed_at is None:
        return {}
    return {"release_number": turn.release_number, "renewed_at": instant(turn.renewed_at)}


def _is_erased_session(session: Session) -> bool:
    """Whether an erasure has taken a session's secrets; before 0.3 it had one of them only."""
    opens = {session.secret_sha256, session.link_sha256} - {""}
    return opens == {f"{ERASED_MARK}{session.pk.hex}"}


SESSION = AuditedModel(
    "session",
    Session.objects.all,
    ("id", "reference", "secret_sha256", "link_sha256", "created_at"),
    chain_lookup="id",
    # An empty one has no event; what it holds is vouched for by itself.
    is_blank=lambda session: True,
    is_tombstone=_is_erased_session,
    is_immutable=True,
    is_backfilled=True,
)
TEXT = AuditedModel(
    "turn_text",
    Turn.objects.all,
    ("id", "session_id", "number", "text", "created_at"),
    chain_lookup="session_id",
    related=lambda turn: {"release_number": turn.first_release or turn.release_number},
    is_tombstone=lambda turn: not turn.text,
    is_immutable=True,
    former_kind="turn",
)
SIGNS = AuditedModel(
    "turn_signs",
    Turn.objects.all,
    ("id", "language", "risks"),
    chain_lookup="session_id",
    related=_turn_related,
    # That a turn should be there at all is for its text to say.
    is_blank=lambda turn: True,
    is_tombstone=lambda turn: not (turn.risks or turn.language),
)
STAGE = AuditedModel(
    "stage",
    lambda: Stage.objects.prefetch_related("spans"),
    ("turn_id", "contract", "order", "round", "findings", *_ANSWER),
    chain_lookup="turn__session_id",
    related=_stage_related,
    is_blank=_has_no_outcome,
)
ATTEMPT = AuditedModel(
    "attempt",
    Attempt.objects.all,
    (
        *("stage_id", "round", "number", "model", "temperature", "request_sha256"),
        *("contract_sha256", "prompt_sha256", "request_bytes", "asked", "raw", "finish_reason"),
        *("refusal", "prompt_tokens", "completion_tokens", "tokens", "duration_ms", "findings"),
        *("response_id", "created_at"),
    ),
    chain_lookup="stage__turn__session_id",
    related=_attempt_related,
    is_immutable=True,
)
SPAN = AuditedModel(
    "span",
    EvidenceSpan.recorded.all,
    ("stage_id", "path", "source", "start", "end", "quote", "snippet_sha256", "occurrences"),
    chain_lookup="stage__turn__session_id",
    is_immutable=True,
)
REPLACEMENT = AuditedModel(
    "replacement",
    Replacement.objects.all,
    ("turn_id", "by_id"),
    chain_lookup="turn__session_id",
    is_immutable=True,
)
CHOICE = AuditedModel(
    "choice",
    Choice.objects.all,
    (
        *("turn_id", "stage", "codes", "offered", "asked_at", "until"),
        *("outcome", "chosen", "decided_at"),
    ),
    chain_lookup="turn__session_id",
    related=_choice_related,
)
REPLY = AuditedModel(
    "reply",
    lambda: Reply.objects.prefetch_related("citations"),
    ("turn_id", "origin", "body", "marked", "model", "created_at"),
    chain_lookup="turn__session_id",
    related=_reply_related,
    is_immutable=True,
)
RATING = AuditedModel(
    "rating",
    Rating.objects.all,
    ("reply_id", "useful", "at"),
    chain_lookup="reply__turn__session_id",
)
FEEDBACK = AuditedModel(
    "feedback",
    Feedback.objects.all,
    ("reply_id", "reason", "text", "at"),
    chain_lookup="reply__turn__session_id",
)
CORRECTION = AuditedModel(
    "correction",
    Correction.objects.all,
    ("session_id", "turn_id", "notice_id", "text_sha256", "created_at"),
    chain_lookup="session_id",
    is_immutable=True,
)
NOTICE = AuditedModel(
    "correction_notice",
    CorrectionNotice.objects.all,
    (
        *("id", "agency", "service", "service_sha256", "other_than_sha256", "turns", "text"),
        *("text_sha256", "total", "created_at", "created_by_id"),
    ),
    is_immutable=True,
)
PERSON = AuditedModel(
    "person_request",
    PersonRequest.objects.all,
    # Not the contact: a digest of a telephone number is soon undone, and the record is for good.
    (
        *("turn_id", "session_id", "about_id", "way", "wanted_from", "wanted_until"),
        *("state", "asked_at", "ended_at"),
    ),
    chain_lookup="session_id",
)
TAKEOVER = AuditedModel(
    "takeover",
    Takeover.objects.all,
    ("id", "session_id", "item", "by_id", "since", "ended_at", "ended"),
    chain_lookup="session_id",
)
LINE = AuditedModel(
    "line",
    Line.objects.all,
    ("id", "session_id", "takeover_id", "after", "kind", "text", "at"),
    chain_lookup="session_id",
    related=lambda line: {"cards": line.cards} if line.cards else {},
    is_immutable=True,
)
MAIL = AuditedModel(
    "mail_request",
    MailRequest.objects.all,
    # Neither the address nor its digest: addresses are soon guessed.
    ("id", "turn_id", "session_id", "language", "state", "asked_at", "ended_at"),
    chain_lookup="session_id",
)
_OF_TURNS = (TEXT, SIGNS, REPLACEMENT, STAGE, ATTEMPT, SPAN, CHOICE)
_OF_REPLIES = (REPLY, RATING, FEEDBACK, CORRECTION, NOTICE)
KINDS = (SESSION, *_OF_TURNS, *_OF_REPLIES, PERSON, TAKEOVER, LINE, MAIL)
