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
HOME, SERVICE, CSV, WRITE, SEND = (
    f"/knowledge/recall/{path}" for path in ("", "service/", "service.csv", "write/", "send/")
)
NOTICES, ADD = "/knowledge/notices/", "/knowledge/notices/add/"


@pytest.fixture
def desk(editor: User) -> Client:
    return browser(editor)


def of(turn: Turn, /, **more: str) -> dict[str, str]:
    return {"agency": IMMIGRATION, "service": key_of(turn), **more}


def test_it_leads_from_a_word_to_the_answers(ask: Ask, desk: Client) -> None:
    turn = ask()
    found = desk.get(HOME, {"q": "tourist visa"}).content.decode()
    link = re.search(rf'href="({SERVICE}[^"]*{re.escape(key_of(turn))}[^"]*)"', found)
    assert link
    page = desk.get(link[1].replace("&amp;", "&")).content.decode()
    assert turn.session.reference in page
    assert "Older versions" not in page
    assert "English" in page
    assert "Answered by the pipeline" in page
    assert VISA not in page
    assert turn.reply.body["lead"] not in page.partition('id="answers"')[2]


def test_it_shows_the_answers_of_one_version(ask: Ask, desk: Client) -> None:
    old = ask()
    publish_fee(key_of(old), "45 euros")
    new = ask()
    page = desk.get(SERVICE, of(old)).content.decode()
    versions = re.findall(r"version=([0-9a-f]{64})", page)
    assert len(versions) == 2
    assert '<ins dir="auto">45 euros</ins>' in page
    page = desk.get(SERVICE, of(old, version=versions[-1])).content.decode()
    assert old.session.reference in page
    assert new.session.reference not in page


def test_answers_of_older_versions_are_meant_until_every_version_is_asked_for(
    ask: Ask, desk: Client
) -> None:
    old = ask()
    publish_fee(key_of(old), "45 euros")
    older, fresh = ask(), ask()
    publish_fee(key_of(old), "50 euros")
    new = ask()
    page = desk.get(SERVICE, of(old)).content.decode()
    shown = [turn.session.reference in page for turn in (old, older, fresh, new)]
    assert shown == [True, True, True, False]
    assert "Write a correction to the 3 answers from older versions<" in page
    typed = re.search(r'name="version" value="(not-[0-9a-f]{64})"', page)
    every = re.search(r'href="([^"]*version=every[^"]*)">Every version<', page)
    assert typed
    assert every
    asked = of(old, who="all", text=WRONG, version=typed[1])
    preview = desk.post(WRITE, asked).content.decode()
    assert "It goes to 3 answers. By version: 1 from release 1; 2 from release 2." in preview
    desk.post(SEND, asked)
    notice = sending.deliver(notice_id=CorrectionNotice.objects.get().pk)
    assert (notice.total, notice.sent) == (3, 3)
    assert not Correction.objects.filter(turn=new).exists()
    page = desk.get(SERVICE + every[1].replace("&amp;", "&").partition("#")[0]).content.decode()
    assert new.session.reference in page
    assert "Write a correction to all 4 answers from every version<" in page


def test_a_release_between_the_page_and_the_sending_changes_nothing(ask: Ask, desk: Client) -> None:
    old = ask()
    publish_fee(key_of(old), "45 euros")
    new = ask()
    page = desk.get(SERVICE, of(old)).content.decode()
    typed = re.search(r'name="version" value="(not-[0-9a-f]{64})"', page)
    assert typed
    publish_fee(key_of(old), "50 euros")
    desk.post(SEND, of(old, who="all", text=WRONG, version=typed[1]))
    sending.deliver(notice_id=CorrectionNotice.objects.get().pk)
    assert [each.turn_id for each in Correction.objects.all()] == [old.pk]
    assert new.pk != old.pk


def test_long_lists_have_pages(ask: Ask, desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PAGE_SIZE", 2)
    turns = [ask() for _ in range(3)]
    first = desk.get(SERVICE, of(turns[0])).content.decode()
    assert [turn.session.reference in first for turn in turns] == [False, True, True]
    second = desk.get(SERVICE, of(turns[0], page="2")).content.decode()
    assert [turn.session.reference in second for turn in turns] == [True, False, False]


def test_the_file_has_the_references(ask: Ask, desk: Client) -> None:
    turns = [ask(), ask()]
    response: Any = desk.get(CSV, of(turns[0]))
    text = response.getvalue().decode("utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["reference"] for row in rows] == [turn.session.reference for turn in turns[::-1]]
    assert VISA not in text


def test_it_is_written_seen_and_confirmed(ask: Ask, desk: Client) -> None:
    turn = ask()
    asked = of(turn, who="all")
    form = desk.post(WRITE, asked).content.decode()
    assert "under 1 answer" in form
    preview = desk.post(WRITE, {**asked, "text": f" {WRONG} "}).content.decode()
    assert f'dir="auto">{WRONG}</p>' in preview
    assert "Send it to 1 answer" in preview
    assert "It goes to 1 answer. It was made from the version of release 1." in preview
    assert not CorrectionNotice.objects.exists()
    changed = desk.post(WRITE, {**asked, "text": WRONG, "again": "1"}).content.decode()
    assert f"\n{WRONG}</textarea>" in changed
    response = desk.post(SEND, {**asked, "text": WRONG})
    notice = CorrectionNotice.objects.get()
    assert response.status_code == 303
    assert "0 of 1 answer has it so far." in desk.get(response["Location"]).content.decode()
    sending.deliver(notice_id=notice.pk)
    page = desk.get(response["Location"]).content.decode()
    assert "Sent to 1 answer." in page
    assert WRONG in page


def test_the_preview_is_what_the_citizen_sees(ask: Ask, desk: Client, client: Client) -> None:
    turn = ask()
    text = "First.\n\n<b>Second</b> & last."
    preview = desk.post(WRITE, of(turn, who="all", text=text)).content.decode()
    desk.post(SEND, of(turn, who="all", text=text))
    sending.deliver(notice_id=CorrectionNotice.objects.get().pk)
    page = desk.get(f"/knowledge/recall/corrections/{CorrectionNotice.objects.get().pk}/")
    section = re.compile(r'<section class="correction".*?</section>', re.DOTALL)

    def shown(html: str) -> str:
        found = section.search(html)
        assert found
        without_ids = re.sub(r'(id|aria-labelledby)="[^"]*"', "", found[0])
        return re.sub(r'(datetime|data-came)="[^"]*"', "", without_ids)

    assert shown(preview) == shown(page.content.decode())
    assert "&lt;b&gt;Second&lt;/b&gt; &amp; last." in shown(preview)


def test_only_ticked_answers_get_it(ask: Ask, desk: Client) -> None:
    turns = [ask(), ask()]
    asked: dict[str, Any] = {**of(turns[0]), "who": "ticked", "turn": [str(turns[1].pk)]}
    preview = desk.post(WRITE, {**asked, "text": WRONG}).content.decode()
    assert f'name="turn" value="{turns[1].pk}"' in preview
    desk.post(SEND, {**asked, "text": WRONG})
    sending.deliver(notice_id=CorrectionNotice.objects.get().pk)
    assert Correction.objects.get().turn_id == turns[1].pk


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"who": "ticked", "text": WRONG}, "Tick the answers"),
        ({"who": "all", "text": " "}, "Write what citizens should know"),
        ({"who": "all", "text": "a" * 1001}, "1,001 characters"),
    ],
)
def test_it_says_what_is_wrong_and_keeps_the_draft(
    ask: Ask, desk: Client, more: dict[str, str], problem: str
) -> None:
    response = desk.post(WRITE, of(ask(), **more))
    assert response.status_code == 422
    assert problem in response.content.decode()
    assert more["text"].strip() in response.content.decode()
    assert not CorrectionNotice.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"agency": "atlantis"},
        {"service": "none"},
        {"service": "a\0b"},
        {"version": "nonsense"},
        {"who": "ticked", "turn": "nonsense"},
    ],
)
def test_what_there_is_not_is_not_found(ask: Ask, desk: Client, wrong: dict[str, str]) -> None:
    values = of(ask(), **wrong)
    assert desk.get(SERVICE, values).status_code == 404
    assert desk.post(WRITE, values).status_code == 404


def test_another_agency_s_answers_are_not_there(ask: Ask, desk: Client) -> None:
    turn = ask()
    desk.post(SEND, of(turn, who="all", text=WRONG))
    notice = CorrectionNotice.objects.get().pk
    vic = browser(person("vic", Role.EDITOR, "vehicles"))
    for path in (SERVICE, CSV):
        assert vic.get(path, of(turn)).status_code == 404
    for path in (WRITE, SEND):
        assert vic.post(path, of(turn, who="all", text="No.")).status_code == 404
    assert vic.get(f"/knowledge/recall/corrections/{notice}/").status_code == 404
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
