"""Turns that ended in one way or another, as rows, and the editors who see them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.utils import timezone

from conversations.models import Choice, Citation, Rating, Reply, ReplyOrigin, Session, Turn
from conversations.turns.services import new_reference
from ieim.knowledge import selectors as knowledge
from ieim.studio.gaps import collecting
from ieim.studio.models import Gap, GapGroup
from tests.fixtures import VISA

AWAY = "How do I extend a tourist visa that runs out next week?"
OUTSIDE = "Xylophone, glockenspiel, marimba?"
AGENCY, SERVICE = "immigration", "immigration.extend-tourist-visa"


def turn(text: str = VISA, *, state: str = "answered", **values: Any) -> Turn:
    """Insert the turn of a session of its own."""
    session = Session.objects.create(reference=new_reference(), secret_sha256=uuid4().hex * 2)
    values = {"language": "en", "release_number": knowledge.current_number(), **values}
    return Turn.objects.create(
        session=session, number=1, text=text, state=state, queued_at=timezone.now(), **values
    )


def reply(
    to: Turn, *, origin: str = ReplyOrigin.INDEX, sha256: str = "0" * 64, **body: Any
) -> Turn:
    """Insert the reply to a turn, which cites the visa service."""
    stored = Reply.objects.create(turn=to, origin=origin, body={"kind": "service", **body})
    Citation.objects.create(reply=stored, agency=AGENCY, service=SERVICE, service_sha256=sha256)
    return to


def rated(
    text: str = VISA, *, useful: bool = False, release_number: int | None = None, **body: Any
) -> Turn:
    number = knowledge.current_number() if release_number is None else release_number
    stored = reply(turn(text, release_number=number), **body)
    Rating.objects.create(reply=stored.reply, useful=useful, at=timezone.now())
    return stored


def asked_back(outcome: str, *, state: str = "asking") -> Turn:
    stored, now = turn(state=state), timezone.now()
    Choice.objects.create(turn=stored, offered=[], asked_at=now, until=now, outcome=outcome)
    return stored


def collected(*turns: Turn) -> list[str]:
    """Do what the worker does; return how each turn is counted, empty for not at all."""
    collecting.collect()
    outcomes = dict(Gap.objects.values_list("turn", "outcome"))
    return [outcomes.get(turn.pk, "") for turn in turns]


def group() -> GapGroup:
    """Return the group of one question that is held."""
    collected(turn(state="needs_review"))
    return GapGroup.objects.get()
