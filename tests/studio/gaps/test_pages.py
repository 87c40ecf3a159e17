"""The gap desk as editors use it: who sees what, what each press does, and the figures."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from ieim.audit.models import AuditEvent
from ieim.people.roles import Role
from ieim.studio.editor.addresses import edit_url
from ieim.studio.models import ExampleQuestion, GapAction, GapGroup, GoldenQuestion
from tests.fixtures import VISA
from tests.review.people import browser, person
from tests.studio.gaps.gapping import (
    AGENCY,
    AWAY,
    OUTSIDE,
    SERVICE,
    asked_back,
    collected,
    group,
    rated,
    reply,
    turn,
)

HOME = "/knowledge/gaps/"
EXTEND = f"{AGENCY} {SERVICE}"

pytestmark = pytest.mark.usefixtures("published")


@pytest.fixture
def editor() -> Client:
    return browser(person("edith", Role.EDITOR))


def press(client: Client, pk: int, action: str, status: int = 302, **fields: str) -> str:
    data = {"action": action, "text": "May I stay three more weeks?", "service": EXTEND, **fields}
    response = client.post(f"{HOME}{pk}/act/", data)
    assert response.status_code == status, response.content.decode()
    return response.headers.get("Location", "") or response.content.decode()


def page(client: Client, path: str = "") -> str:
    return client.get(f"{HOME}{path}").content.decode()


def test_editors_see_their_agencies_groups_and_those_of_nobody(editor: Client) -> None:
    collected(turn(state="needs_review"), turn(OUTSIDE, state="needs_review"))
    visa = GapGroup.objects.get(agency=AGENCY)
    other = browser(person("otto", Role.EDITOR, "passports"))
    assert VISA in page(editor)
    assert OUTSIDE in page(editor)
    assert VISA not in page(other)
    assert OUTSIDE in page(other)
    assert other.get(f"{HOME}{visa.pk}/").status_code == 404
    assert other.post(f"{HOME}{visa.pk}/act/", {"action": "no_gap"}).status_code == 404
    assert "gap=" not in page(other)
    form = other.get(f"{reverse('editor:new_service')}?gap={visa.pk}").content.decode()
    assert VISA not in form


def test_the_list_is_filtered_and_says_what_would_happen(editor: Client) -> None:
    collected(turn(state="needs_review"), rated(AWAY), turn(OUTSIDE, state="needs_review"))
    week = GapGroup.objects.get(agency=AGENCY).gaps.values_list("week", flat=True)[0]
    for query, shown in {
        f"agency={AGENCY}": VISA,
        "agency=*nobody": OUTSIDE,
        "outcome=not_useful": VISA,
        f"week={week.isoformat()}&language=en": VISA,
    }.items():
        html = page(editor, f"?{query}")
        assert (VISA in html, OUTSIDE in html) == (
            shown == VISA,
            shown == OUTSIDE,
        ) or "week" in query
        assert shown in html
    assert "2 of 2 would be answered" in page(editor, f"?agency={AGENCY}")
    assert VISA not in page(editor, "?outcome=staff")
    assert VISA not in page(editor, "?state=no_gap")


def test_reading_is_recorded_without_words(editor: Client) -> None:
    stored = group()
    page(editor)
    event = AuditEvent.objects.get(kind="gaps.listed")
    assert json.loads(event.payload) == {"turns": [str(stored.gaps.get().turn_id)]}


def test_one_press_makes_an_example_question(editor: Client) -> None:
    stored = group()
    html = page(editor, f"{stored.pk}/")
    assert f'value="{EXTEND}" checked' in html
    press(editor, stored.pk, "example")
    question = ExampleQuestion.objects.get(text="May I stay three more weeks?")
    assert (question.service, question.language, question.origin) == (SERVICE, "en", "citizen")
    assert VISA not in page(editor)
    assert "Made an example question, by Edith" in page(editor, "?state=handled")
    event = AuditEvent.objects.get(kind="gap.handled")
    assert (event.actor, "stay" in event.payload) == ("staff:edith", False)


def test_one_press_makes_an_example_of_a_situation(editor: Client) -> None:
    stored = group()
    press(
        editor, stored.pk, "situation", situation="having-a-baby", text="We are going to be three."
    )
    assert (
        ExampleQuestion.objects.get(text="We are going to be three.").situation == "having-a-baby"
    )
    one_agency = browser(person("otto", Role.EDITOR, AGENCY))
    assert 'name="situation"' not in page(one_agency, f"{stored.pk}/")
    html = press(
        one_agency, stored.pk, "situation", 422, situation="having-a-baby", text="Off we go."
    )
    assert "You do not work for that agency." in html


def test_one_press_makes_a_golden_question(editor: Client) -> None:
    stored = group()
    press(editor, stored.pk, "golden")
    question = GoldenQuestion.objects.get()
    assert question.name == f"said-{stored.gaps.get().turn_id}"
    assert question.case["expected"]["acceptable_services"] == [SERVICE]


def test_it_leads_to_a_new_service_and_to_a_text(editor: Client) -> None:
    stored = group()
    form = press(editor, stored.pk, "service")
    assert f"en: {VISA}" in editor.get(form).content.decode()
    text = press(editor, stored.pk, "correction")
    assert text == f"{edit_url('services', [AGENCY, SERVICE])}?gap={stored.pk}"
    assert list(GapAction.objects.values_list("kind", flat=True)) == ["service", "correction"]


def test_no_gap_needs_a_reason_and_leaves_the_list(editor: Client) -> None:
    stored = group()
    html = press(editor, stored.pk, "no_gap", 422, reason=" ")
    assert '<a href="#reason">Write why it is no gap.</a>' in html
    press(editor, stored.pk, "no_gap", reason="A test of our own")
    assert VISA not in page(editor)
    assert "A test of our own" in page(editor, "?state=no_gap")


@pytest.mark.parametrize(
    ("action", "fields", "words"),
    [
        ("example", {"service": ""}, "Choose a service."),
        ("golden", {"service": f"{AGENCY} gone"}, "Choose a service."),
        ("example", {"text": "Mail mia@example.org"}, "without anybody"),
        ("example", {"text": ""}, "cannot be kept"),
        ("example", {"text": "a\0b"}, "cannot be shown"),
        ("golden", {"service": "\0 \0"}, "cannot be shown"),
        ("no_gap", {"reason": "\0"}, "cannot be shown"),
        ("situation", {}, "Choose a situation."),
        ("situation", {"situation": "gone"}, "cannot be kept"),
        ("dance", {}, "Press one of the buttons."),
    ],
)
def test_what_is_refused_changes_nothing(
    editor: Client, action: str, fields: dict[str, str], words: str
) -> None:
    stored, before = group(), ExampleQuestion.objects.count()
    assert words in press(editor, stored.pk, action, 422, **fields)
    assert (GapAction.objects.count(), ExampleQuestion.objects.count()) == (0, before)


def test_a_service_is_found_by_other_words(editor: Client) -> None:
    html = page(editor, f"{group().pk}/?q=renew+passport")
    assert 'value="passports passports.renew-passport"' in html
    assert EXTEND not in html


def test_the_figures_count_by_service_and_situation(editor: Client) -> None:
    reply(turn(), situation={"key": "having-a-baby", "is_open": True})
    rated(useful=True)
    collected(rated(), turn(state="needs_review"), asked_back("expired", state="needs_review"))
    html = " ".join(page(editor, "services/").split())
    cells = [">5<", ">3<", ">1<", ">1<", ">1 of 2<"]
    start = html.index("Extend a tourist visa")
    for cell in cells:
        start = html.index(cell, start)
    assert "Having a baby" in html
    other = browser(person("otto", Role.EDITOR, "passports"))
    assert "Extend a tourist visa" not in page(other, "services/")
