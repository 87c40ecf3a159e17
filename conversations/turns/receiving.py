"""Writing a citizen's message down as a turn, with its audit event."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.utils import timezone

from conversations.models import Replacement, Session, Turn
from conversations.personal.choices import Message
from conversations.record.audited import REPLACEMENT, TURN
from conversations.states import TurnState
from conversations.turns import languages
from ieim.audit import services as audit
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.crisis import Looked


def store(
    session: Session,
    message: Message,
    release_number: int,
    looked: Looked,
    *,
    replaces: Turn | None,
    state: TurnState = TurnState.QUEUED,
) -> Turn:
    """Store a message as the next turn of a session that the caller's transaction has locked.

    ``replaces`` is the turn whose answer was about something else, None for most messages. One in
    another ``state`` than queued is for a person.
    """
    text = message.text
    last = session.turns.order_by("-number").only("number", "language").first()
    spoken = replaces or last
    talk = spoken.language if spoken else ""
    turn = Turn.objects.create(
        session=session,
        number=1 if last is None else last.number + 1,
        text=text,
        state=state.value,
        release_number=release_number,
        risks=[found.as_dict() for found in looked.risks],
        language=languages.detect(text, knowledge.release(release_number), talk),
        queued_at=timezone.now(),
    )
    weak = [found.code for found in looked.risks if found.weak]
    rows = [TURN.row(turn)]
    if replaces is not None:
        rows.append(REPLACEMENT.row(Replacement.objects.create(turn=replaces, by=turn)))
    audit.record(
        chain=session.id,
        kind="turn.received",
        actor="citizen",
        payload={
            "turn": str(turn.id),
            "number": turn.number,
            "characters": len(text),
            "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "release": release_number,
            "risk_flags": [found.code for found in looked.risks],
            "risks_by": looked.by,
            **({"risk_flags_weak": weak} if weak else {}),
            "ieim": settings.IEIM_VERSION,
            **({"replaces": str(replaces.pk)} if replaces else {}),
            **({} if state is TurnState.QUEUED else {"for_person": True}),
            **message.recorded(),
        },
        rows=rows,
    )
    return turn
