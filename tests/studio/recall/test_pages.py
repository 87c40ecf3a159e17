"""The pages of a recall and of notices: who sees what, and the way to a correction."""

from __future__ import annotations

import csv
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.models import Correction, CorrectionNotice, Turn
from ieim.knowledge.models import Directive
from ieim.knowledge.notices.views import EVERY
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.recall import services as sending
from ieim.studio.recall import views
from tests.fixtures import VISA, Ask
from tests.review.people import browser, person
from tests.studio.recall import recalling
from tests.studio.recall.recalling import IMMIGRATION, WRONG, key_of, publish_fee

editor = recalling.editor
HOME, CSV, CORRECT = (f"/knowledge/recall/{path}" for path in ("", "answers.csv", "correct/"))
NOTICES, ADD = "/knowledge/notices/", "/knowledge/notices/add/"


@pytest.fixture
def desk(editor: User) -> Client:
    return browser(editor)


def of(turn: Turn, /, **fields: str) -> dict[str, str]:
    return {"agency": IMMIGRATION, "service": key_of(turn), **fields}


def deliver() -> CorrectionNotice:
    return sending.deliver(notice_id=CorrectionNotice.objects.get().pk)


def test_a_word_leads_to_the_answers(ask: Ask, desk: Client) -> None:
    turn = ask()
    page = desk.get(HOME, {"q": "tourist VISA"}).content.decode()
    link = re.search(rf'href="({HOME}\?[^"]*{re.escape(key_of(turn))}[^"]*)"', page)
    assert link
    page = desk.get(link[1].replace("&amp;", "&")).content.decode()
    assert turn.session.reference in page
    assert "Older versions" not in page
    assert "English" in page
    assert "Answered by the pipeline" in page
    assert VISA not in page
    assert turn.reply.body["lead"] not in page.partition('id="answers"')[2]


def test_older_versions_are_selected_until_another_filter_is(ask: Ask, desk: Client) -> None:
    old = ask()
    publish_fee(key_of(old), "45 euros")
    older = ask()
    publish_fee(key_of(old), "50 euros")
    new = ask()

    def shown(**filters: str) -> list[bool]:
        page = desk.get(HOME, of(old, **filters)).content.decode()
        return [turn.session.reference in page for turn in (old, older, new)]

    assert shown() == [True, True, False]
    assert shown(version="every") == [True, True, True]
    page = desk.get(HOME, of(old)).content.decode()
    assert "2 answers from older versions" in page
    assert len(versions := re.findall(r"version=([0-9a-f]{64})", page)) == 3
    assert shown(version=versions[-1]) == [True, False, False]
    field = re.search(r'name="version" value="(not-[0-9a-f]{64})"', page)
    assert field
    # A release between the page and the sending changes nothing.
    publish_fee(key_of(old), "55 euros")
    desk.post(CORRECT, of(old, text=WRONG, send="1", version=field[1]))
    notice = deliver()
    assert (notice.total, notice.sent) == (2, 2)
    assert not Correction.objects.filter(turn=new).exists()


def test_long_lists_have_pages(ask: Ask, desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PAGE_SIZE", 2)
    turns = [ask() for _ in range(3)]
    first = desk.get(HOME, of(turns[0])).content.decode()
    assert [turn.session.reference in first for turn in turns] == [False, True, True]
    second = desk.get(HOME, of(turns[0], page="2")).content.decode()
    assert [turn.session.reference in second for turn in turns] == [True, False, False]


def test_the_file_has_the_references(ask: Ask, desk: Client) -> None:
    turns = [ask(), ask()]
    response: Any = desk.get(CSV, of(turns[0]))
    text = response.getvalue().decode("utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["reference"] for row in rows] == [turn.session.reference for turn in turns[::-1]]
    assert rows[1]["answered_at"] == turns[0].reply.created_at.isoformat()
    assert VISA not in text


def test_a_correction_is_written_seen_and_sent(ask: Ask, desk: Client) -> None:
    turn = ask()
    assert "under 1 answer" in desk.get(HOME, of(turn)).content.decode()
    preview = desk.post(CORRECT, of(turn, text=f" {WRONG} ")).content.decode()
    assert f'dir="auto">{WRONG}</p>' in preview
    assert "Send it to 1 answer" in preview
    assert not CorrectionNotice.objects.exists()
    changed = desk.post(CORRECT, of(turn, text=WRONG, change="1")).content.decode()
    assert f"\n{WRONG}</textarea>" in changed
    response = desk.post(CORRECT, of(turn, text=WRONG, send="1"))
    assert response.status_code == 303
    path = response["Location"].partition("#")[0]
    assert "0 of 1 answer has it so far." in desk.get(path).content.decode()
    resume = f"/knowledge/recall/corrections/{CorrectionNotice.objects.get().pk}/"
    assert desk.post(resume).status_code == 303
    deliver()
    page = desk.get(path).content.decode()
    assert "Sent to 1 answer." in page
    assert WRONG in page
    assert "Confirmed by Eve" in page


def test_the_preview_shows_text_and_no_markup(ask: Ask, desk: Client) -> None:
    preview = desk.post(CORRECT, of(ask(), text="First.\n\n<b>Second</b> & last."))
    assert "&lt;b&gt;Second&lt;/b&gt; &amp; last." in preview.content.decode()


@pytest.mark.parametrize(
    ("text", "problem"),
    [(" ", "Write what citizens should know"), ("a" * 1001, "1,001 characters")],
)
def test_a_wrong_text_is_explained_and_stays(
    ask: Ask, desk: Client, text: str, problem: str
) -> None:
    turn = ask()
    for data in (of(turn, text=text), of(turn, text=text, send="1")):
        response = desk.post(CORRECT, data)
        assert response.status_code == 422
        assert problem in response.content.decode()
        assert text.strip() in response.content.decode()
    assert not CorrectionNotice.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"agency": "atlantis"},
        {"service": "none"},
        {"service": "a\0b"},
        {"version": "nonsense"},
    ],
)
def test_an_unknown_service_is_not_found(ask: Ask, desk: Client, wrong: dict[str, str]) -> None:
    values = of(ask(), **wrong)
    assert desk.get(HOME, values).status_code == 404
    assert desk.post(CORRECT, values).status_code == 404


def test_the_answers_of_another_agency_are_not_found(ask: Ask, desk: Client) -> None:
    turn = ask()
    desk.post(CORRECT, of(turn, text=WRONG, send="1"))
    notice = CorrectionNotice.objects.get().pk
    vic = browser(person("vic", Role.EDITOR, "vehicles"))
    for path in (HOME, CSV):
        assert vic.get(path, of(turn)).status_code == 404
    assert vic.post(CORRECT, of(turn, text="No.", send="1")).status_code == 404
    assert vic.post(f"/knowledge/recall/corrections/{notice}/").status_code == 404
    assert CorrectionNotice.objects.count() == 1


def test_a_notice_is_added_listed_and_ended(published: None, desk: Client) -> None:
    ends = timezone.localtime() + timedelta(days=1)
    typed = {"agency": IMMIGRATION, "text": "Closed <today>.", "starts_at": ""}
    response = desk.post(ADD, {**typed, "ends_at": f"{ends:%Y-%m-%dT%H:%M}"})
    assert (response.status_code, response["Location"]) == (303, NOTICES)
    notice = Directive.objects.get()
    assert notice.ends_at == ends.replace(second=0, microsecond=0)
    page = desk.get(NOTICES).content.decode()
    assert page.index("Now") < page.index("Closed &lt;today&gt;.") < page.index("Coming")
    assert desk.post(f"{NOTICES}{notice.pk}/end/").status_code == 303
    page = desk.get(NOTICES).content.decode()
    assert page.index(">Over<") < page.index("Closed &lt;today&gt;.")
    assert "over already" in desk.post(f"{NOTICES}{notice.pk}/end/", follow=True).content.decode()


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({}, "Say when the notice ends."),
        ({"ends_at": "tomorrow"}, "Write a day and a time"),
        ({"ends_at": "2020-01-01T00:00"}, "must be after the start"),
        ({"text": ""}, "Write what citizens should know."),
        ({"text": "a" * 501}, "501 characters"),
        ({"text": "a\0b"}, "Null characters"),
        ({"agency": "atlantis"}, "Choose one of your agencies."),
        ({"agency": ""}, "Choose an agency."),
    ],
)
def test_a_wrong_notice_is_said_so(
    published: None, desk: Client, typed: dict[str, str], problem: str
) -> None:
    good = {"agency": EVERY, "text": "Closed.", "ends_at": "2126-01-01T00:00" if typed else ""}
    response = desk.post(ADD, {**good, **typed})
    assert response.status_code == 422
    assert problem in response.content.decode()
    assert not Directive.objects.exists()


def test_editors_see_and_end_the_notices_of_their_agencies(published: None, desk: Client) -> None:
    for agency in (IMMIGRATION, "vehicles", EVERY):
        text = f"Notice of {'all' if agency == EVERY else agency}."
        desk.post(ADD, {"agency": agency, "text": text, "ends_at": "2126-01-01T00:00"})
    vic = browser(person("vic", Role.EDITOR, "vehicles"))
    page = vic.get(NOTICES).content.decode()
    assert "Notice of vehicles." in page
    assert "Notice of all." in page
    assert "Notice of immigration." not in page
    assert page.count("End now") == 1
    for notice in Directive.objects.exclude(agency="vehicles"):
        assert vic.post(f"{NOTICES}{notice.pk}/end/").status_code == 404
    assert Directive.objects.filter(agency="").count() == 1
    form = vic.get(ADD).content.decode()
    assert "Every agency" not in form
    assert "Choose an agency" not in form


def test_nobody_writes_to_every_agency_without_choosing_it(published: None, desk: Client) -> None:
    form = desk.get(ADD).content.decode()
    assert re.search(r'<option value="" selected>Choose an agency</option>', form)
    assert form.count(" selected>") == 1
    assert '<option value=" every">Every agency</option>' in form
