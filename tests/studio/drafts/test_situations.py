"""Situations: in bundles, in the draft, on their form, in files and over REST; their questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.knowledge import ExampleQuestion as Question
from ieim.pipeline.knowledge import Situation, Step
from ieim.studio.checks import services as checks
from ieim.studio.drafts import cached, editing
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Change, ExampleQuestion
from ieim.studio.models import Situation as Stored
from ieim.studio.proposals.differences import differences
from tests.knowledge.bundles import errors, tables, write
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import said
from tests.studio.api.editing_api import Editor
from tests.studio.editor.entry_pages import filled
from tests.studio.exchange.files import KINDS, confirm, export, preview

RENEW, RETURN = "passports/renew", "tax/return"
MOVING: dict[str, Any] = {
    "key": "moving",
    "kind": "life",
    "name": "Moving house",
    "description": "You live somewhere else now.",
    "services": [f"{RETURN} | if you work", RENEW],
}
SAID: dict[str, Any] = {"situation": "moving", "language": "en", "text": "we have a new flat"}


@pytest.fixture
def whole(tmp_path: Path) -> Bundle:
    """The small good bundle, with a situation and a question of it."""
    content = {**tables(), "situations": [MOVING], "questions": [SAID]}
    return read_bundle(write(tmp_path / "whole", content))


@pytest.fixture
def eve(db: None, whole: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=whole, by=None)
    return person("eve", Role.EDITOR, name="Eve Every")


@pytest.fixture
def editor(eve: User) -> Client:
    return browser(eve)


def save(by: User, table: Any = "situations", seen: int | None = None, **values: Any) -> None:
    editing.save(table=table, values=values, by=by, expected_version=seen, source=Change.Source.API)


def remove(by: User, table: Any, **identity: str) -> None:
    source = Change.Source.API
    editing.remove(table=table, identity=identity, by=by, expected_version=1, source=source)


PAGE = "/knowledge/situations/moving/"


def codes() -> list[tuple[str, str]]:
    remarks = checks.checked_draft(cached.draft()).remarks
    return [
        (entry.code, entry.entry) for entry in remarks if entry.table in ("situations", "questions")
    ]


def test_a_release_has_them_with_their_services_in_order(eve: User, whole: Bundle) -> None:
    publish(note="", by=eve)
    release = selectors.current_release()
    assert release is not None
    steps = (Step("tax", "return", "if you work"), Step("passports", "renew"))
    about = ("Moving house", "You live somewhere else now.")
    assert release.situations == {"moving": Situation("moving", "life", *about, steps)}
    assert release.questions == (Question("", "", "en", SAID["text"], situation="moving"),)
    assert Bundle.from_content(whole.content) == whole == drafts.draft()


def test_a_release_without_them_keeps_its_digest(tmp_path: Path) -> None:
    question = {"agency": "passports", "service": "renew", "language": "en", "text": "it ran out"}
    bundle = read_bundle(write(tmp_path / "bundle", {**tables(), "questions": [question]}))
    assert "situations" not in bundle.content
    assert bundle.content["questions"] == [{**question, "origin": "editor"}]


def test_differences_show_a_condition(whole: Bundle, tmp_path: Path) -> None:
    changed = {**MOVING, "services": [RETURN, RENEW]}
    content = {**tables(), "situations": [changed], "questions": [SAID]}
    after = read_bundle(write(tmp_path / "after", content))
    (result,) = differences(whole.release(), after.release())
    (field,) = result.fields
    assert (result.table, result.entry, result.agency) == ("situations", "moving", "")
    assert (field.before, field.after) == (
        f"{RETURN} | if you work\n{RENEW}",
        f"{RETURN}\n{RENEW}",
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"kind": "school"}, "kind is 'school': use life or business"),
        ({"services": ["tax/x"]}, "service 'tax/x' is not there: write agency/key"),
        ({"services": ["return"]}, "services entry 1 is 'return': write agency/key"),
        ({"services": [RETURN, f"{RETURN} | if ill"]}, "entry 2 names 'tax/return', as entry 1"),
        ({"services": [f"{RETURN} | {'x' * 201}"]}, "a condition of 201 characters: 200 is"),
        ({"description": "x" * 401}, "401 characters: 400 is the limit"),
        ({"name": ""}, "name is missing"),
    ],
)
def test_it_says_what_is_wrong_and_where(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    content = {**tables(), "situations": [{**MOVING, **row}]}
    (error,) = errors(write(tmp_path / "bundle", content))
    assert error.startswith("situations.jsonl:1: ")
    assert message in error


SERVICE: dict[str, Any] = {"agency": "passports", "service": "renew", "language": "en"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**SAID, **SERVICE}, "has a situation and a service: a question is of one of them"),
        ({**SAID, "situation": ""}, "agency is missing"),
        ({**SERVICE, "service": "", "text": "x"}, "service is missing"),
        ({**SAID, "situation": "x"}, "situation 'x' is not among the situations"),
        ({**SAID, "text": "mail eva@home.example"}, "an e-mail address"),
        ({**SAID, "text": "We have a  new flat", "situation": "b"}, "of the situation moving"),
    ],
)
def test_a_question_is_of_a_service_or_a_situation(
    tmp_path: Path, row: dict[str, str], message: str
) -> None:
    situations = [MOVING, {**MOVING, "key": "b"}]
    content = {**tables(), "situations": situations, "questions": [SAID, row]}
    result = errors(write(tmp_path / "bundle", content))
    assert any("questions.jsonl:2: " in error and message in error for error in result)


def test_a_situation_has_fifty_questions_at_most(tmp_path: Path) -> None:
    many = [{**SAID, "text": f"way {n} to say it"} for n in range(51)]
    content = {**tables(), "situations": [MOVING], "questions": many}
    (error,) = errors(write(tmp_path / "bundle", content))
    assert "questions.jsonl:51: the situation moving has more than 50 questions" in error


def test_editing_refuses_the_same(eve: User) -> None:
    with pytest.raises(editing.Invalid, match="service 'tax/x' is not there"):
        save(eve, **{**MOVING, "key": "new", "services": ["tax/x"]})
    with pytest.raises(editing.Invalid, match="not among the situations"):
        save(eve, "questions", **{**SAID, "situation": "x", "text": "y"})


def test_only_people_of_every_agency_change_them(eve: User) -> None:
    local = person("lou", Role.EDITOR, "passports")
    with pytest.raises(editing.OutOfScope):
        save(local, seen=1, key="moving", name="X")
    with pytest.raises(editing.OutOfScope):
        save(local, "questions", **{**SAID, "text": "next"})


def test_a_service_that_one_leads_to_stays(eve: User) -> None:
    with pytest.raises(editing.Invalid, match="take it out of moving first"):
        remove(eve, "services", agency="tax", key="return")
    save(eve, seen=1, key="moving", services=[RENEW])
    remove(eve, "services", agency="tax", key="return")


def test_their_questions_go_with_them_and_have_a_history(eve: User) -> None:
    remove(eve, "situations", key="moving")
    assert not ExampleQuestion.objects.exists()
    removed = Change.objects.filter(kind="removed").values_list("table", "entry", "agency")
    assert sorted(removed) == [
        ("questions", f"moving en {SAID['text']}", ""),
        ("situations", "moving", ""),
    ]


def test_a_changed_question_stays_one_row(eve: User) -> None:
    identity = {"agency": "", "service": "", **SAID}
    save(eve, "questions", seen=1, **identity, origin="citizen")
    row = ExampleQuestion.objects.get()
    assert (row.origin, row.version, row.agency_id) == ("citizen", 2, None)


def test_the_checks_warn_of_what_leads_nowhere(eve: User) -> None:
    assert codes() == []
    save(eve, **{**MOVING, "key": "bare", "services": []})
    save(eve, "questions", **SERVICE, text="We have a new  flat")
    assert codes() == [
        ("situation.empty", "bare"),
        ("situation.unasked", "bare"),
        ("question.shared", f"moving en {SAID['text']}"),
    ]


def test_the_form_has_services_and_questions_a_line_each(editor: Client) -> None:
    page = filled(editor, PAGE)
    assert said(editor.get(PAGE)).count(SAID["text"]) == 2  # to see, and to compare with
    lines = {
        "services": f"{RENEW}|if it ran out\n\n{RETURN}",
        "questions": "new address\nde: wir sind umgezogen",
    }
    assert editor.post(PAGE, {**page, **lines}).status_code == 303
    assert Stored.objects.get().services == [f"{RENEW} | if it ran out", RETURN]
    rows = ExampleQuestion.objects.values_list("situation", "language", "text")
    assert sorted(rows) == [
        ("moving", "de", "wir sind umgezogen"),
        ("moving", "en", "new address"),
    ]


def test_what_is_refused_stands_at_its_field_and_changes_nothing(editor: Client) -> None:
    page = filled(editor, PAGE, services="tax/x", name="Another name")
    response = editor.post(PAGE, page)
    assert "Service &#x27;tax/x&#x27; is not there" in said(response)
    assert Stored.objects.get().name == "Moving house"


def test_the_desk_leads_to_them_for_who_may_edit_them(editor: Client) -> None:
    assert f'href="{PAGE}"' in said(editor.get("/knowledge/services/"))
    local = browser(person("lou", Role.EDITOR, "passports"))
    assert PAGE not in said(local.get("/knowledge/services/"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_brings_back_what_it_took(editor: Client, kind: str) -> None:
    before = list(Stored.objects.values(*MOVING)), list(ExampleQuestion.objects.values(*SAID))
    files = {model: export(editor, model, kind) for model in ("situation", "examplequestion")}
    ExampleQuestion.objects.all().delete()
    Stored.objects.all().delete()
    for model, data in files.items():
        assert confirm(editor, model, preview(editor, model, kind, data)).status_code == 302
    after = list(Stored.objects.values(*MOVING)), list(ExampleQuestion.objects.values(*SAID))
    assert after == before


def test_a_program_reads_and_changes_them(eve: User) -> None:
    program = Editor(eve)
    read = program.get("situations/entry/", key="moving")
    assert read.json() == {**MOVING, "version": 1}
    body, query = {"services": [RENEW]}, {"key": "moving"}
    changed = program.send(
        "PUT", "situations/entry/", body, query=query, If_Match=read["ETag"]
    ).json()
    assert (changed["services"], changed["name"], changed["version"]) == (
        [RENEW],
        "Moving house",
        2,
    )
    question = program.get("questions/entry/", **SAID).json()
    assert question == {
        "agency": "",
        "service": "",
        "origin": "editor",
        "version": 1,
        **SAID,
    }
