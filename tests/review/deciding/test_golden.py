"""The button that keeps a decided item as a golden question."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from conversations.turns.erasing import erase_session
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.evaluation.cases import read_case
from ieim.studio.models import GoldenQuestion
from ieim.studio.trying import services as questions
from review import evaluation_cases
from review.models import Action, ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import belong, browser, person

pytestmark = pytest.mark.usefixtures("published")


def decided(action: Action, message: str = VISA, **payload: str) -> ReviewItem:
    item = desk.the_item(desk.ask(message, {"judgement_v1": desk.BAD}))
    desk.taken_and_decided(item, desk.person("eva", *desk.ALL), action, **payload)
    return ReviewItem.objects.get(pk=item.pk)


def press(item: ReviewItem, who: str = "carla") -> str:
    response = browser(person(who)).post(f"/review/{item.pk}/golden/", follow=True)
    assert response.redirect_chain == [(f"/review/{item.pk}/", 302)]
    return response.content.decode()


def test_it_keeps_a_decision_as_a_golden_question() -> None:
    item = decided(Action.WRITE, text="Please write to us.")
    page = browser(person("cato")).get(f"/review/{item.pk}/").content.decode()
    assert f'action="/review/{item.pk}/golden/"' in page
    assert "Kept as golden question" in press(item)
    question = GoldenQuestion.objects.get()
    assert question.name == evaluation_cases.case_of(item)["id"]
    case = read_case(json.dumps(question.case).encode())
    assert case.text == VISA
    assert case.expected.inquiry is True


def test_it_keeps_a_question_once() -> None:
    item = decided(Action.WRITE, text="Please write to us.")
    press(item)
    assert "is a golden question already" in press(item, "dora")
    assert GoldenQuestion.objects.count() == 1


def test_it_keeps_no_personal_data() -> None:
    message = f"{VISA} Write to mia@example.org."
    press(decided(Action.WRITE, message, text="Please write to us."))
    result = str(GoldenQuestion.objects.get().case)
    assert "mia@example.org" not in result
    assert VISA in result


def test_it_says_why_a_decision_makes_none() -> None:
    page = press(decided(Action.DISMISS))
    assert "does not say what the right answer is" in page
    assert not GoldenQuestion.objects.exists()


def test_it_keeps_nothing_of_another_agencys_item() -> None:
    item = decided(Action.WRITE, text="Please write to us.")
    belong(item, "passports")
    other = browser(person("other", Role.CASEWORKER, "immigration"))
    assert other.post(f"/review/{item.pk}/golden/").status_code == 404
    assert not GoldenQuestion.objects.exists()


def wrote(text: str, turn_id: UUID | None = None) -> tuple[GoldenQuestion, bool]:
    expected = {"inquiry": False, "agencies": [], "service": None}
    by = User.objects.filter(username="dora").first() or person("dora")
    return questions.store_written(text=text, expected=expected, note="", by=by, turn_id=turn_id)


def test_it_goes_with_its_conversation() -> None:
    item = decided(Action.WRITE, text="Please write to us.")
    press(item)
    of_others, _ = wrote("Where do I renew it?")
    wrote(f"{VISA} Now.", item.turn_id)
    erase_session(session_id=item.turn.session_id)
    assert list(GoldenQuestion.objects.all()) == [of_others]
    with pytest.raises(questions.GoldenError, match="erased"):
        wrote(VISA, item.turn_id)
