"""What stands beneath help lines: an answer, or that a person reads it, and nothing that hurts."""

from __future__ import annotations

from conversations import selectors
from conversations.models import Turn
from conversations.turns import running
from tests.conversations.chat.page.test_views import page, send, visitor
from tests.conversations.turns.triage.test_weak import HELP, WIDE, item_of
from tests.embedders import Feelings
from tests.fixtures import Ask

LOST = "Nobody can extend my tourist visa."
NOT_CLEAR = "It is not clear yet what you need"


def test_a_weak_sign_holds_nothing_at_its_message_or_later(unsure: Feelings, ask: Ask) -> None:
    turn = ask(LOST, secret="s")
    assert (turn.state, turn.risks[0]["source"]) == ("answered", "hint")
    assert selectors.turn_view(turn.pk).contacts
    assert item_of(turn).reasons == ["citizen.danger"]
    later = ask("Tell me a joke", secret="s")
    assert later.state == "answered"
    assert not selectors.turn_view(later.pk).contacts


def test_services_are_offered_under_what_happens_now(unsure: Feelings) -> None:
    client = visitor()
    turn = send(client, WIDE)
    running.run_turn(turn_id=turn.pk)
    assert Turn.objects.get().state == "asking"
    html = page(client.get("/"))
    assert "Which of these do you mean?" not in html
    assert "Choose one, and you get its answer at once." not in html
    positions = [
        html.index(entry) for entry in (HELP, "A caseworker also reads", "Services that may be")
    ]
    assert positions == sorted(positions)
    assert "If you choose nothing" not in html  # a caseworker reads it whatever they choose
    options = html.partition("-perhaps")[2].partition("</details>")[0]
    assert options.count('name="choice"') == html.count('name="choice"') > 2


def test_others_are_asked_which_they_mean(unsure: Feelings) -> None:
    client = visitor()
    turn = send(client, "passport")
    running.run_turn(turn_id=turn.pk)
    html = page(client.get("/"))
    assert "Which of these do you mean?" in html
    assert "Services that may be" not in html
