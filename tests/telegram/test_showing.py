"""What a chat is told of a conversation."""

from __future__ import annotations

from gettext import NullTranslations

import pytest

from conversations import selectors
from conversations.api.serializers import TurnSerializer
from conversations.models import Turn
from conversations.person import takeovers
from conversations.person.models import Ended
from ieim.telegram.showing import facts
from review import talking as desk_talk
from tests.conversations.person.asking import HELP, SECRET, wants
from tests.review import desk


def last_told(turn: Turn) -> str:
    """The last thing that the chat of a conversation with this one turn is told, by REST."""
    shown = TurnSerializer(selectors.turn_view(turn.pk)).data
    session = {"reference": turn.session.reference, "turns": [shown]}
    return list(facts(session, NullTranslations()))[-1].text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "I want to kill myself",
            "The person has left. A person reads what you write from here on, and answers it. The "
            "assistant answers only what is clearly about a service.",
        ),
        (HELP, "The person has left. The assistant answers what you ask from here on."),
    ],
)
def test_it_says_who_answers_when_a_person_has_left(published: None, text: str, told: str) -> None:
    turn = wants(SECRET, text, way="page").turn
    desk_talk.begin(item_id=desk.the_item(turn).pk, actor=desk.person("eva"))
    takeovers.end(how=Ended.HANDED_BACK, session=turn.session_id)
    assert last_told(turn) == told
