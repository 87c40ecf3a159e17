"""A weak sign of danger: help lines at once, the answer beneath them, and a person sees it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conversations import selectors, sweeper
from conversations.api.serializers import TurnSerializer
from conversations.models import Turn
from conversations.person import services as person_services
from conversations.reactions import rate
from conversations.record.replay import replay
from conversations.turns import running, services
from conversations.turns.choosing import choose
from conversations.turns.models import Choice
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.people.roles import Role
from review.deciding import locking
from review.models import CRISIS, SIGN, Action, ReviewItem
from tests.conversations.chat.page.test_views import browser_with, page, send, visitor
from tests.conversations.chat.tabs import run_newest, tab
from tests.conversations.turns.triage.test_triage import classified, flag
from tests.embedders import Feelings
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model
from tests.review import desk
from tests.review.people import browser, person

WEAK = f"{VISA}. Nobody has to look after me"
WIDE = "visa. Nobody"
HELP = "Please get help now"


def item_of(turn: Turn, rank: int = SIGN) -> ReviewItem:
    """The one undecided item of a turn, in crisis: before it those for which somebody waits."""
    item = desk.the_item(turn)
    assert (item.rank, item.priority) == (rank, 1)
    return item


def dismissed(item: ReviewItem) -> None:
    """Two people agree that it was nothing: one alone decides nothing."""
    desk.taken_and_decided(item, desk.person("ada", *desk.ALL), Action.DISMISS)
    assert ReviewItem.objects.get(pk=item.pk).state == "second_opinion"
    desk.taken_and_decided(item, desk.person("bob", *desk.ALL), Action.AGREE)
    assert ReviewItem.objects.get(pk=item.pk).state == "decided"


def not_sure(ask: Ask) -> Turn:
    """A later question, of which the model does not know what it is about."""
    model = desk.Scripted({"service_select_v1": [desk.unsure]})
    return ask("How do I renew my passport?", secret="s", model=model)


def test_the_page_shows_help_at_once_and_the_answer_beneath_it(unsure: Feelings) -> None:
    client = visitor()
    turn = send(client, WEAK)
    html = page(client.get("/"))
    assert html.index(HELP) < html.index("Reading your question")
    assert not ReviewItem.objects.exists()
    running.run_turn(turn_id=turn.pk)
    html = page(client.get("/"))
    assert html.index(HELP) < html.index("Why this answer")
    assert html.count(HELP) == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
async def test_an_open_page_shows_the_answer_beneath_help(
    unsure: Feelings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)
    async with tab(services.new_secret()) as context:
        await context.send({"text": WEAK})
        await context.read_until('data-state="queued"')
        assert HELP in context.parts["live"]
        turn = await run_newest()
        await context.read_until("Why this answer")
        # What is sent of the answer leaves the help lines where they stand.
        assert HELP in context.parts.get(f"turn-{turn.pk}-help", context.parts["live"])


def test_a_person_sees_it_in_one_item_for_which_nothing_waits(unsure: Feelings, ask: Ask) -> None:
    turn = ask(WEAK)
    assert (turn.state, turn.risks[0]["source"]) == ("answered", "hint")
    item = item_of(turn)
    assert (item.stage, item.reasons) == ("reply", ["citizen.danger"])
    client = browser(person("eva", Role.CASEWORKER, "civil-registry"))
    sure = ask(f"{VISA}, if not I will kill myself", secret="other")
    ReviewItem.objects.filter(pk=item.pk).update(due_at="2020-01-01T00:00Z")
    band = page(client.get("/review/")).partition("In crisis: a life")[2]
    # Those for which somebody waits come first, whenever they are due.
    assert band.index(sure.session.reference) < band.index(f'id="row-{item.pk}"')
    assert band.index("Only a sign") > band.index(f'id="row-{item.pk}"')
    assert band.count("Only a sign") == 1
    client.post(f"/review/{item.pk}/claim/", {"version": item.version})
    html = page(client.get(f"/review/{item.pk}/"))
    assert "Only a sign of danger, to be read, no answer waits: Self-harm or suicide" in html
    # No words are asked for that would be refused.
    assert 'id="action-dismiss"' in html
    assert "dismiss-text" not in html
    assert "shown help lines and an answer. No answer waits for this item; read" in html
    assert "Talk with them or decide" in html
    assert "may be meant, by its meaning" in html
    assert "Listening Line" in html
    assert verify(turn.session_id).ok
    dismissed(item)
    turn.refresh_from_db()
    assert turn.state == "answered"
    assert turn.review_items.count() == 1


def test_the_record_keeps_how_sure_it_was_and_replay_asks_nobody(
    unsure: Feelings, ask: Ask
) -> None:
    turn = ask(WEAK)
    count = len(unsure.asked)
    assert replay(turn).same
    assert len(unsure.asked) == count
    event = AuditEvent.objects.get(chain=turn.session_id, kind="turn.received")
    assert json.loads(event.payload)["risk_flags_weak"] == ["self_harm"]


def test_a_phrase_beside_it_holds_the_turn(unsure: Feelings, ask: Ask) -> None:
    turn = ask(f"{WEAK}. He hits my child")
    assert turn.state == "needs_review"
    assert "policy.risk" in item_of(turn, CRISIS).reasons
    assert "citizen.danger" not in item_of(turn, CRISIS).reasons


def test_what_a_model_sees_as_well_holds_the_turn(unsure: Feelings, ask: Ask) -> None:
    def sees_it(answer: dict[str, Any]) -> None:
        quote = {"label": "self_harm", "confidence": 0.9, "evidence_snippets": ["look after me"]}
        answer["risk_flags"] = [quote]

    turn = ask(WEAK, model=desk.Scripted({"classify": [sees_it]}), secret="s")
    assert turn.state == "needs_review"
    assert [risk["source"] for risk in turn.risks] == ["hint", "model"]
    assert turn.text[slice(turn.risks[1]["start"], turn.risks[1]["end"])] == "look after me"
    assert item_of(turn, CRISIS).reasons == ["policy.risk"]
    assert replay(turn).same
    assert verify(turn.session_id).ok
    # And nobody chooses from a list while it waits.
    assert not_sure(ask).state == "needs_review"


def test_several_agencies_have_the_item(unsure: Feelings, ask: Ask) -> None:
    turn = ask(f"{desk.BABY} Nobody")
    assert turn.state == "answered"
    item = item_of(turn)
    assert {"civil-registry", "social-support"} == set(item.agency_ids)


def test_a_turn_that_stops_has_the_one_item(unsure: Feelings, ask: Ask) -> None:
    turn = ask(WEAK, model=desk.Scripted({"category_select_v1": desk.BAD}))
    assert turn.state == "needs_review"
    item = item_of(turn, CRISIS)
    assert item.stage == "category_select_v1"
    assert item.reasons[0] == "citizen.danger"
    assert "policy.risk" not in item.reasons
    assert selectors.turn_view(turn.pk).contacts
    # A person has looked: what comes of their decision opens none.
    desk.taken_and_decided(item, desk.person("ada", *desk.ALL), Action.RETRY)
    desk.taken_and_decided(item, desk.person("bob", *desk.ALL), Action.AGREE)
    assert desk.run(turn).state == "answered"
    assert not ReviewItem.objects.exclude(state="decided").exists()


@pytest.fixture
def asking(unsure: Feelings, ask: Ask) -> Turn:
    """A turn whose citizen has to choose, below help lines."""
    turn = ask(WIDE, secret="s")
    assert turn.state == "asking"
    return turn


def test_it_is_asked_back_and_seen_at_once(asking: Turn) -> None:
    view = selectors.turn_view(asking.pk)
    assert view.contacts
    assert view.choice
    item = item_of(asking)
    client = browser(person("eva"))
    html = page(client.get(f"/review/{item.pk}/"))
    assert "reads that a caseworker reads their message too. No answer waits" in html
    # The queue and the citizen's page say the same: it is read, and nobody is kept waiting for it.
    assert "Only a sign" in page(client.get("/review/"))
    result = page(browser_with("s").get("/"))
    assert "A caseworker also reads your message. You do not need to wait for that" in result
    choose(session_id=asking.session_id, turn_id=asking.pk, numbers=[1])
    running.run_turn(turn_id=asking.pk)
    assert Turn.objects.get().state == "answered"
    assert item_of(asking) == item
    assert ReviewItem.objects.count() == 1


def test_dismissing_it_leaves_the_question_to_the_citizen(asking: Turn) -> None:
    dismissed(item_of(asking))
    choose(session_id=asking.session_id, turn_id=asking.pk, numbers=[1])
    running.run_turn(turn_id=asking.pk)
    assert Turn.objects.get().state == "answered"
    assert ReviewItem.objects.count() == 1  # they have looked


@pytest.mark.parametrize("late", [False, True])
def test_none_of_these_makes_it_an_item_that_the_citizen_waits_for(
    asking: Turn, late: bool
) -> None:
    first = desk.take(item_of(asking), desk.person("ada", *desk.ALL))
    if late:
        Choice.objects.update(until="2020-01-01T00:00Z")
        sweeper.sweep()
    else:
        choose(session_id=asking.session_id, turn_id=asking.pk, numbers=[])
    item = item_of(asking, CRISIS)
    assert item != first
    assert item.reasons[0] == "citizen.danger"
    assert Turn.objects.get().state == "needs_review"
    assert ReviewItem.objects.get(pk=first.pk).state == "decided"
    assert item.claimed_by == first.claimed_by
    assert (item.opened_at, item.due_at <= first.due_at) == (first.opened_at, True)
    assert AuditEvent.objects.filter(kind="review.replaced").count() == 1
    assert verify(asking.session_id).ok
    html = page(browser(person("eva")).get(f"/review/{item.pk}/"))
    assert "The citizen waits for the answer." in html


def test_a_dismissal_that_waits_for_agreement_closes_nothing_later(asking: Turn) -> None:
    first = item_of(asking)
    desk.taken_and_decided(first, desk.person("ada", *desk.ALL), Action.DISMISS)
    choose(session_id=asking.session_id, turn_id=asking.pk, numbers=[])
    with pytest.raises(locking.Refused, match="decided"):
        desk.decide(first, desk.person("bob", *desk.ALL), Action.AGREE)
    assert Turn.objects.get().state == "needs_review"
    assert item_of(asking, CRISIS) != first


def test_help_lines_stay_at_that_message_alone(unsure: Feelings, ask: Ask) -> None:
    first = ask(WEAK, secret="s")
    later = not_sure(ask)
    assert later.state == "asking"  # nobody waits for what may be a mistake
    assert selectors.turn_view(later.pk).contact_texts == []
    lines = selectors.turn_view(first.pk).contact_texts
    assert [turn.contact_texts for turn in selectors.chat_view(secret="s").turns] == [lines, []]
    dismissed(item_of(first))
    assert selectors.turn_view(first.pk).contact_texts == lines != []


def test_who_asks_for_a_person_has_the_one_item(unsure: Feelings) -> None:
    details = person_services.RequestDetails(way="page", text=WEAK)
    request = person_services.ask(digest=services.secret_digest("s"), details=details)
    item = item_of(request.turn, CRISIS)
    assert (item.stage, item.reasons) == ("person", ["citizen.danger", "policy.person"])


def test_help_in_feedback_joins_the_item(unsure: Feelings, ask: Ask) -> None:
    turn = ask(WEAK)
    text = "I want to kill myself"
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, text=text)
    assert item_of(turn, CRISIS).reasons == ["policy.risk", "citizen.danger", "citizen.feedback"]


def test_a_sign_that_the_model_does_not_see_shows_its_lines_and_calls_nobody(
    unsure: Feelings, ask: Ask
) -> None:
    with scripted_model({"classify": [classified(WEAK)]}) as (model, server):
        turn = ask(WEAK, model=model)
    assert (turn.state, turn.risks[0]["source"]) == ("answered", "faint")
    assert selectors.turn_view(turn.pk).contacts
    assert not ReviewItem.objects.exists()
    assert "extract" not in {contract for contract, _ in server.asked}


def test_its_lines_stand_below_the_answer_where_the_model_saw_no_danger(
    unsure: Feelings, ask: Ask
) -> None:
    with scripted_model({"classify": [classified(WEAK)]}) as (model, _server):
        turn = ask(WEAK, secret="s", model=model)
    html = page(browser_with("s").get("/"))
    assert html.index("Why this answer") < html.index(HELP)
    assert html.count(HELP) == 1
    assert TurnSerializer(selectors.turn_view(turn.pk)).data["contacts_below"] is True
    # Above it again once the citizen has written of danger themselves.
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, text="I want to kill myself")
    html = page(browser_with("s").get("/"))
    assert html.index(HELP) < html.index("Why this answer")


@pytest.mark.parametrize(
    "scripted",
    [
        [classified(WEAK, risk_flags=[flag("self_harm", "Nobody has to", 0.4)])],
        ["{}"] * 3,
    ],
    ids=["flagged", "failed"],
)
def test_its_lines_stay_above_where_the_model_saw_any_or_did_not_pass(
    unsure: Feelings, ask: Ask, scripted: list[Any]
) -> None:
    with scripted_model({"classify": scripted}) as (model, _server):
        ask(WEAK, secret="s", model=model)
    html = page(browser_with("s").get("/"))
    assert html.index(HELP) < html.index("Why this answer")


@pytest.mark.django_db(transaction=True)
async def test_an_open_page_moves_the_lines_below_the_answer_when_it_is_there(
    unsure: Feelings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.turns.moves.queue", lambda turn_id: None)
    with scripted_model({"classify": [classified(WEAK)]}) as (model, _server):
        async with tab(services.new_secret()) as context:
            await context.send({"text": WEAK})
            await context.read_until('data-state="queued"')
            turn = await run_newest(model)
            last = await context.read_until('data-state="answered"')
            while f"turn-{turn.pk}-help-below" not in last:
                last = await context.read()
    assert HELP not in context.parts[f"turn-{turn.pk}-help"]
    assert HELP in context.parts[f"turn-{turn.pk}-help-below"]
    assert 'role="alert"' not in context.parts[f"turn-{turn.pk}-help-below"]
