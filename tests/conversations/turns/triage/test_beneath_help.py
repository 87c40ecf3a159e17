"""What stands beneath help lines: an answer, or that a person reads it, and nothing that hurts."""

from __future__ import annotations

from conversations import selectors
from conversations.chat.wording import words
from conversations.models import Turn
from conversations.turns import running
from ieim.audit.verify import verify
from review.deciding.signing import FIELD
from review.models import CRISIS, Action
from tests.conversations.chat.page.test_views import page, send, visitor
from tests.conversations.turns.triage.test_weak import HELP, WEAK, WIDE, item_of
from tests.embedders import Feelings
from tests.fixtures import Ask
from tests.review import desk

LOST = "Nobody."
NOT_CLEAR = "It is not clear yet what you need"


def test_nobody_reads_that_it_is_not_clear_what_they_need(unsure: Feelings) -> None:
    client = visitor()
    turn = send(client, LOST)
    running.run_turn(turn_id=turn.pk)
    html = page(client.get("/"))
    assert NOT_CLEAR not in html
    assert html.index(HELP) < html.index("A person will answer this question")
    assert words("en").held_why["risk"] in html
    turn.refresh_from_db()
    assert (turn.state, turn.risks[0]["source"]) == ("needs_review", "hint")
    item = item_of(turn, CRISIS)
    assert item.reasons[0] == "policy.risk"
    assert verify(turn.session_id).ok


def test_what_people_let_go_out_is_not_held_again(unsure: Feelings, ask: Ask) -> None:
    turn = ask(LOST)
    ada, bob = desk.person("ada", *desk.ALL), desk.person("bob", *desk.ALL)
    desk.taken_and_decided(item_of(turn, CRISIS), ada, Action.APPROVE, **{FIELD: True})
    desk.taken_and_decided(item_of(turn, CRISIS), bob, Action.AGREE)
    assert desk.run(turn).state == "answered"


def test_later_messages_beneath_its_help_lines_are_held_for_it_too(
    unsure: Feelings, ask: Ask
) -> None:
    ask(WEAK, secret="s")
    later = ask("Tell me a joke", secret="s")
    assert selectors.turn_view(later.pk).contacts
    assert later.state == "needs_review"
    other = ask("Tell me a joke", secret="other")
    assert other.state == "answered"


def test_thanks_are_answered_there(unsure: Feelings, ask: Ask) -> None:
    ask(WEAK, secret="s")
    later = ask("Thank you", secret="s")
    assert selectors.turn_view(later.pk).contacts
    assert later.state == "answered"


def test_services_are_offered_under_what_happens_now(unsure: Feelings) -> None:
    client = visitor()
    turn = send(client, WIDE)
    running.run_turn(turn_id=turn.pk)
    assert Turn.objects.get().state == "asking"
    html = page(client.get("/"))
    assert words("en").choice["title"] not in html
    assert words("en").choice["why"] not in html
    place = [html.index(each) for each in (HELP, "A caseworker also reads", "Services that may be")]
    assert place == sorted(place)
    assert "If you choose nothing" not in html  # a caseworker reads it whatever they choose
    options = html.partition("-perhaps")[2].partition("</details>")[0]
    assert options.count('name="choice"') == html.count('name="choice"') > 2


def test_others_are_asked_which_they_mean(unsure: Feelings) -> None:
    client = visitor()
    turn = send(client, "passport")
    running.run_turn(turn_id=turn.pk)
    html = page(client.get("/"))
    assert words("en").choice["title"] in html
    assert "Services that may be" not in html
