"""Golden questions written by hand, listed and removed."""

from __future__ import annotations

import pytest
from django.test import Client

from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.canonical import dumps
from ieim.studio.evaluation.cases import read_case
from ieim.studio.models import ExampleQuestion, GoldenQuestion
from tests.fixtures import VISA
from tests.review.people import browser, person
from tests.studio.trying.trying import keep

ADD = "/knowledge/try/questions/add/"
LIST = "/knowledge/try/questions/"
EXTEND = "service immigration immigration.extend-tourist-visa"

pytestmark = pytest.mark.usefixtures("published")


def press(client: Client, status: int = 200, **fields: str) -> str:
    response = client.post(ADD, {"text": VISA, **fields}, follow=True)
    assert response.status_code == status
    return response.content.decode()


def test_it_offers_what_fits_and_keeps_what_is_chosen(editor: Client) -> None:
    page = press(editor, find="1")
    assert f'value="{EXTEND}"' in page
    assert not GoldenQuestion.objects.exists()
    page = press(editor, keep="1", expected=EXTEND, note="The fee is new.")
    assert "The golden question is kept." in page
    assert "The fee is new." in page
    case = read_case(dumps(GoldenQuestion.objects.get().case).encode())
    assert case.text == VISA
    assert case.expected.agencies == frozenset({"immigration"})
    assert case.expected.services == {"immigration.extend-tourist-visa"}


@pytest.mark.parametrize(
    ("value", "inquiry", "agencies", "words"),
    [
        ("agency passports", True, {"passports"}, "Any service of Passport and Identity Office"),
        ("nothing", True, set(), "nothing here answers it"),
        ("no-inquiry", False, set(), "Not an inquiry"),
    ],
)
def test_it_keeps_the_other_ends_too(
    editor: Client, value: str, inquiry: bool, agencies: set[str], words: str
) -> None:
    assert words in press(editor, keep="1", expected=value, search="passport")
    case = read_case(dumps(GoldenQuestion.objects.get().case).encode())
    assert (case.expected.inquiry, case.expected.agencies) == (inquiry, frozenset(agencies))


def test_it_finds_a_service_by_other_words(editor: Client) -> None:
    page = press(editor, find="1", search="renew passport")
    assert 'value="service passports passports.renew-passport"' in page
    assert VISA in page


@pytest.mark.parametrize(
    "value", ["", "service", "service passports nix", "agency nix", "agency passports x", "\0"]
)
def test_it_asks_for_a_choice(editor: Client, value: str) -> None:
    assert "Choose what is right." in press(editor, 422, keep="1", expected=value)
    assert not GoldenQuestion.objects.exists()


@pytest.mark.parametrize("text", ["", "x" * 2001, "a\0b"])
def test_it_keeps_nothing_that_no_citizen_can_send(editor: Client, text: str) -> None:
    assert "The question was not kept" in press(editor, 422, text=text, keep="1", expected=EXTEND)
    assert not GoldenQuestion.objects.exists()


def test_it_keeps_no_personal_data(editor: Client) -> None:
    text = f"{VISA} Write to mia@example.org."
    press(editor, text=text, keep="1", expected=EXTEND, note="Asked by ole@example.org")
    stored = str(GoldenQuestion.objects.get().case)
    assert "@example.org" not in stored
    assert VISA in stored
    assert not AuditEvent.objects.filter(payload__contains="visa").exists()


def test_it_keeps_a_question_once(editor: Client) -> None:
    press(editor, keep="1", expected=EXTEND)
    page = press(editor, keep="1", expected="no-inquiry")
    assert "is a golden question already" in page
    assert GoldenQuestion.objects.get().case["expected"]["inquiry"] is True


def test_it_removes_one_and_says_who_did(editor: Client, edith: User) -> None:
    name = keep(edith)
    address = f"/knowledge/try/questions/{name}/remove/"
    assert VISA in editor.get(address).content.decode()
    assert GoldenQuestion.objects.exists()
    assert "is removed" in editor.post(address, follow=True).content.decode()
    assert not GoldenQuestion.objects.exists()
    event = AuditEvent.objects.get(kind="golden.removed")
    assert (event.actor, VISA in str(event.payload)) == ("staff:edith", False)
    assert editor.post(address).status_code == 404


def test_it_shows_and_offers_nothing_of_other_agencies(edith: User) -> None:
    name = keep(edith)
    other = browser(person("otto", Role.EDITOR, "passports"))
    assert VISA not in other.get(LIST).content.decode()
    assert other.post(f"/knowledge/try/questions/{name}/remove/").status_code == 404
    assert EXTEND not in press(other, find="1")
    assert "Choose what is right." in press(other, 422, keep="1", expected=EXTEND)


def test_it_becomes_an_example_question_instead(editor: Client) -> None:
    text = "stay  three more weeks"
    page = press(editor, 422, example="1", expected="nothing", text=text)
    assert "Choose a service." in page
    page = press(editor, example="1", expected=EXTEND, text=text)
    assert "The question is an example question of the service, in the draft." in page
    question = ExampleQuestion.objects.get(text="stay three more weeks")
    assert (question.service, question.language) == ("immigration.extend-tourist-visa", "en")
    assert question.origin == "editor"
    assert not GoldenQuestion.objects.exists()
    page = press(editor, 422, example="1", expected=EXTEND, text="mail me: eva@home.example")
    assert "an e-mail address" in page
