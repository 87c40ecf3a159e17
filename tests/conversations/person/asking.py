"""Citizens who ask for a person, and caseworkers who come, for tests."""

from __future__ import annotations

from typing import Any

from conversations.models import PersonRequest, Takeover, Turn
from conversations.person import services
from conversations.person.services import RequestDetails
from conversations.turns import running
from conversations.turns.services import key_of, receive
from ieim.people.models import User
from review import talking
from review.models import ReviewItem

SECRET = "a"
HELP = "Somebody should look at my papers, please."
NUMBER = "+12025550143"
ADDRESS = "ana@example.org"


def wants(secret: str, text: str = HELP, **details: Any) -> PersonRequest:
    """Ask for a person as the page does."""
    return services.ask(digest=key_of(secret), details=RequestDetails(text=text, **details))


def item_of(request: PersonRequest) -> ReviewItem:
    """Return the item of a request."""
    return ReviewItem.objects.get(turn=request.turn_id)


def taken_over(request: PersonRequest, by: User) -> Takeover:
    """Let somebody take the conversation over that a request is in."""
    return talking.begin(item_id=item_of(request).pk, actor=by)


def send(text: str = "Are you there?") -> Turn:
    """Write in the conversation of ``SECRET``, and let the pipeline have it if it may."""
    turn = receive(session=SECRET, text=text, enqueue=False)[0]
    running.run_turn(turn_id=turn.pk)
    return Turn.objects.get(pk=turn.pk)
