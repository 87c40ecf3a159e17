"""What a citizen says of a turn: a verdict on its answer, what they have seen to, and that they
are safe."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from conversations.chat.reply_presenters import RATED_KINDS
from conversations.models import Feedback, Rating, Reason, Reply, Tick, Turn
from conversations.record.audited import FEEDBACK, RATING
from conversations.turns import events, flags, help_lines, moves
from conversations.turns import services as turns
from conversations.turns.locking import NotInSession, locked_session
from conversations.turns.refusing import Refused
from ieim.pipeline.findings import Code
from ieim.pipeline.message import risk
from ieim.pipeline.message.screen import refusal, shows_nothing
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.reply.reply import Reply as Content


class NothingToRate(NotInSession):
    """The turn is not this session's, or has no answer that can be useful or not."""

    detail = "This message has no answer that can be rated."


class NothingToTick(NotInSession):
    """The turn is not this session's, or its answer has no such service among several."""

    detail = "This message has no answer with such a card among several."


class NothingShown(NotInSession):
    """The turn is not this session's, or shows no help lines of its own."""

    detail = "This message shows no help lines."


MAX_CHARS = 500
"""The longest text of a citizen about an answer, in Unicode code points as it was sent."""


class FeedbackRefused(Exception):
    """The feedback on an answer is refused, and nothing was changed.

    ``message`` is the sentence for the citizen.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def rate(
    *,
    session_id: UUID,
    turn_id: UUID,
    useful: bool,
    reason: str = "",
    text: str = "",
    address: str | None = None,
) -> None:
    """Store whether a session's citizen found an answer useful, and why, with its audit events.

    A second verdict replaces the first and its feedback; the same one again stores nothing, unless
    it comes with a ``reason`` (of :class:`Reason`; only where it was not useful) or a ``text`` that
    is new, from which personal data are taken out. A change counts as a message does; ``address``
    is as for :func:`conversations.turns.services.admit`. A text that tells of danger opens a review
    item. Guidance and questions cannot be rated. Raises :class:`NothingToRate`,
    :class:`FeedbackRefused`, :class:`conversations.turns.refusing.TooMany`, and
    ``Session.DoesNotExist`` also for a session that was erased.
    """
    words = _checked_text(useful=useful, reason=reason, text=text)
    _rate(session_id, turn_id, useful, reason, words, address)


def _checked_text(*, useful: bool, reason: str, text: str) -> str:
    if reason and (useful or reason not in Reason.values):
        raise FeedbackRefused(
            gettext("Choose one of the reasons that are offered, for an answer that was no use.")
        )
    if len(text) > MAX_CHARS:
        raise FeedbackRefused(
            gettext("Your text is {length} characters long. Please use up to {limit}.").format(
                length=len(text), limit=MAX_CHARS
            )
        )
    if shows_nothing(text):
        return ""
    if problem := refusal(text):
        raise FeedbackRefused(Refused(problem.sentence, figures=problem.figures).message)
    return prepare(text).text.strip()


@transaction.atomic
def _rate(
    session_id: UUID, turn_id: UUID, useful: bool, reason: str, words: str, address: str | None
) -> None:
    session = locked_session(session_id)
    replies = Reply.objects.select_related("turn", "rating", "feedback")
    reply = replies.filter(turn_id=turn_id, turn__session=session).first()
    if reply is None or reply.body["kind"] not in RATED_KINDS:
        raise NothingToRate(str(turn_id))
    stored = getattr(reply, "feedback", None)
    earlier = (stored.reason, stored.text) if stored is not None else ("", "")
    same = reply.useful is useful
    # Feedback on the same verdict stays; that on the other verdict does not apply.
    feedback = (reason, words) if reason or words or not same else earlier
    if same and feedback == earlier:
        return
    turns.admit(session=session.secret_sha256, text=words, address=address)
    if not same:
        rating, _ = Rating.objects.update_or_create(
            reply=reply, defaults={"useful": useful, "at": timezone.now()}
        )
        rows = [RATING.row(rating)]
        events.record(reply.turn, "reply.rated", {"useful": useful}, actor="citizen", rows=rows)
    if feedback != earlier:
        _store_feedback(reply, *feedback)


def _store_feedback(reply: Reply, reason: str, words: str) -> None:
    feedback, _ = Feedback.objects.update_or_create(
        reply=reply, defaults={"reason": reason, "text": words, "at": timezone.now()}
    )
    rows = [FEEDBACK.row(feedback)]
    events.record(reply.turn, "reply.feedback", {"reason": reason}, actor="citizen", rows=rows)
    if risk.find(words):
        codes = [Code.POLICY_RISK.value, Code.CITIZEN_FEEDBACK.value]
        flags.show(turn_id=reply.turn_id, codes=codes)


@transaction.atomic
def tick(*, session_id: UUID, turn_id: UUID, service: str, done: bool) -> None:
    """Store whether a session's citizen has seen to ``service`` (``agency/key``) of an answer.

    The same again changes nothing. Raises :class:`NothingToTick`, and ``Session.DoesNotExist`` also
    for a session that was erased.
    """
    session = locked_session(session_id)
    reply = Reply.objects.filter(turn_id=turn_id, turn__session=session).first()
    if reply is None or service not in _listed(Content.from_dict(reply.body)):
        raise NothingToTick(str(turn_id))
    if done:
        Tick.objects.get_or_create(reply=reply, service=service)
    else:
        Tick.objects.filter(reply=reply, service=service).delete()


def _listed(content: Content) -> set[str]:
    """Return the references of the services that a reply lists."""
    lines = content.situation.lines if content.situation is not None else ()
    sources = (*(card.source for card in content.cards), *(line.source for line in lines))
    return {source.reference for source in sources}


@transaction.atomic
def say_safe(*, session_id: UUID, turn_id: UUID) -> None:
    """Store that the citizen is safe, for a message that shows help lines; once.

    What was said of danger stays where it was said: a message that waits for a person goes on
    waiting, and its help lines can be unfolded. No later message inherits either; one with a sign
    of its own is one of danger as before. Raises :class:`NothingShown`, and
    ``Session.DoesNotExist`` also for a session that was erased.
    """
    session = locked_session(session_id)
    turn = Turn.objects.filter(session=session, pk=turn_id).first()
    if turn is None or not help_lines.has_own(turn):
        raise NothingShown(str(turn_id))
    if turn.said_safe_at is None:
        turn.said_safe_at = timezone.now()
        turn.save(update_fields=["said_safe_at", "updated_at"])
        events.record(turn, "turn.said_safe", {}, actor="citizen")
        moves.notify_pages(turn)
