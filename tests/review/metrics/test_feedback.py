"""What citizens say of answers, as the staff see it: on the item, in a list, in the figures."""

from __future__ import annotations

import json

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conversations.models import Turn
from conversations.reactions import rate
from conversations.turns import erasing
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.people.roles import Role
from review import feedback
from review.models import CRISIS, Action, ReviewItem
from tests.fixtures import VISA, Ask
from tests.review import desk
from tests.review.people import person

LIST = "/review/feedback/"
WORDS = "The fee is higher"


def rated_turn(ask: Ask, text: str = VISA) -> Turn:
    turn = ask(text)
    rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, reason="wrong", text=WORDS)
    return turn


def worker(name: str = "eva", *agencies: str, role: Role = Role.CASEWORKER) -> Client:
    user = person(name, role, *agencies)
    client = Client()
    client.force_login(user)
    return client


def test_the_list_has_what_had_no_item(ask: Ask) -> None:
    turn = rated_turn(ask)
    client = worker("eva", "immigration")
    html = client.get(LIST).content.decode()
    assert WORDS in html
    assert "Not useful</strong>: It is not right" in html
    client.post(f"{LIST}item/", {"turn": str(turn.pk)})
    assert WORDS not in client.get(LIST).content.decode()
    assert WORDS in client.get(f"{LIST}?show=all").content.decode()


def test_danger_in_it_opens_an_item_that_every_agency_sees_first(ask: Ask) -> None:
    turn = ask(VISA)
    words = "Useless. I want to kill myself"
    for _ in range(2):
        rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, text=words)
    item = ReviewItem.objects.get()
    assert (item.rank, item.reasons[0]) == (CRISIS, "policy.risk")
    assert "citizen.feedback" in item.reasons
    client = worker("eva", "civil-registry")
    assert "Items for a person" in client.get("/review/").content.decode()
    assert turn.session.reference in client.get("/review/").content.decode()
    html = client.get(f"/review/{item.pk}/").content.decode()
    assert "kill myself" in html
    assert "Listening Line" in html
    assert "The citizen has an answer, and said something of it." in html
    assert verify(turn.session_id).ok


def test_a_long_list_takes_no_more_queries_than_a_short_one(ask: Ask) -> None:
    client = worker("eva", "immigration")
    counts = []
    for count in (1, 4):
        for number in range(count):
            turn = ask(VISA, secret=f"s{count}{number}")
            rate(session_id=turn.session_id, turn_id=turn.pk, useful=False, text=WORDS)
        with CaptureQueriesContext(connection) as made:
            html = client.get(f"{LIST}?show=all").content.decode()
        counts.append((html.count(WORDS), len(made)))
    assert [rows for rows, _ in counts] == [1, 5]
    assert counts[0][1] == counts[1][1]


def test_it_shows_nothing_of_other_agencies(ask: Ask) -> None:
    turn = rated_turn(ask)
    client = worker("eva", "civil-registry")
    assert WORDS not in client.get(f"{LIST}?show=all").content.decode()
    assert client.post(f"{LIST}item/", {"turn": str(turn.pk)}).status_code == 404
    assert not ReviewItem.objects.exists()


def test_there_is_no_item_of_nothing(ask: Ask) -> None:
    client = worker("eva", "immigration")
    nowhere = {"turn": "8c0f6c1e-6b0b-4b4e-9c39-6f3a52d0f0a1"}
    assert client.post(f"{LIST}item/", nowhere).status_code == 404
    for turn in ("", "x"):
        response = client.post(f"{LIST}item/", {"turn": turn}, follow=True)
        assert "Say which one" in response.content.decode()
    assert not ReviewItem.objects.exists()


def test_an_item_is_made_of_it_with_a_reason_of_its_own(ask: Ask) -> None:
    turn = rated_turn(ask)
    client = worker("eva", "immigration")
    response = client.post(f"{LIST}item/", {"turn": str(turn.pk)})
    item = ReviewItem.objects.get()
    assert response["Location"] == f"/review/{item.pk}/"
    assert (item.stage, item.reasons) == ("reply", ["citizen.feedback"])
    assert Turn.objects.get(pk=turn.pk).state == "answered"
    event = AuditEvent.objects.get(kind="review.feedback")
    assert json.loads(event.payload)["reason"] == "wrong"
    assert WORDS not in event.payload
    assert verify(turn.session_id).ok
    html = client.get(f"/review/{item.pk}/").content.decode()
    assert "A citizen said something of this answer." in html
    assert WORDS in html
    client.post(f"{LIST}item/", {"turn": str(turn.pk)})
    assert ReviewItem.objects.count() == 1


def test_such_an_item_can_be_dismissed_and_the_answer_stays(ask: Ask) -> None:
    turn = rated_turn(ask)
    eva = person("eva", Role.CASEWORKER, "immigration")
    item = feedback.make_item(turn_id=turn.pk, by=eva)
    desk.taken_and_decided(item, eva, Action.DISMISS)
    turn = Turn.objects.get(pk=turn.pk)
    assert turn.state == "answered"
    assert turn.reply.body["sources"]


def test_an_auditor_reads_it_and_makes_no_item(ask: Ask) -> None:
    turn = rated_turn(ask)
    client = worker("ada", role=Role.AUDITOR)
    html = client.get(LIST).content.decode()
    assert "Make it an item" not in html
    assert client.post(f"{LIST}item/", {"turn": str(turn.pk)}).status_code == 403


def test_a_golden_question_begins_with_the_words_without_personal_data(ask: Ask) -> None:
    rated_turn(ask, f"{VISA}, mail jo@example.org")
    eva = person("eva", Role.CASEWORKER, "immigration")
    assert (
        feedback.row(feedback.listed(eva, with_items=True).get())["question"]
        == f"{VISA}, mail [EMAIL_1]"
    )
    both = person("kim", Role.EDITOR, "immigration")
    both.groups.add(*eva.groups.all())
    client = Client()
    client.force_login(both)
    html = client.get(LIST).content.decode()
    assert "Make it a golden or an example question" in html
    assert "jo@example.org" not in html
    begun = {"text": f"{VISA}, mail [EMAIL_1]", "find": "1", "turn": str(Turn.objects.get().pk)}
    page = client.post("/knowledge/try/questions/add/", begun).content.decode()
    assert "What is right?" in page
    assert "mail [EMAIL_1]</textarea>" in page
    assert f'name="turn" value="{Turn.objects.get().pk}"' in page
    page = client.post("/knowledge/try/questions/add/", {**begun, "turn": "x"}).content.decode()
    assert "Start again from the citizen" in page
    others = worker("eli", "immigration").get(LIST).content.decode()
    assert "Make it a golden or an example question" not in others


def test_erasing_takes_the_words_and_the_item(ask: Ask) -> None:
    turn = rated_turn(ask)
    eva = person("eva", Role.CASEWORKER, "immigration")
    feedback.make_item(turn_id=turn.pk, by=eva)
    erasing.erase_session(session_id=turn.session_id)
    assert not feedback.visible_feedback(eva).exists()
    assert not ReviewItem.objects.exists()
    assert verify(turn.session_id).ok


def test_the_figures_count_each_reason(ask: Ask) -> None:
    rated_turn(ask)
    client = worker("sue", "immigration", role=Role.SUPERVISOR)
    html = client.get("/review/metrics/").content.decode()
    assert "What citizens said of answers" in html
    assert "It is not right" in html
    csv = client.get("/review/metrics.csv").content.decode()
    assert '"answers_by_feedback","wrong","1"' in csv
