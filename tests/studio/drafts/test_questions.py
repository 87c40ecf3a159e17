"""Example questions: in bundles, in the draft, on a service's form, and apart from golden ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.test import Client

from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.knowledge import ExampleQuestion as Question
from ieim.studio.checks import services as checks
from ieim.studio.drafts import cached, editing
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Change, ExampleQuestion, GoldenQuestion, Service
from ieim.studio.trying.services import GoldenError, store_written
from tests.fixtures import DEMO
from tests.knowledge.bundles import errors, tables, write
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import said
from tests.studio.editor.entry_pages import RENEW as PAGE
from tests.studio.editor.entry_pages import filled

RENEW = {"agency": "passports", "service": "renew", "language": "en", "text": "it ran out"}
NOTHING = {"inquiry": True, "agencies": [], "service": None, "acceptable_services": []}


@pytest.fixture
def whole(tmp_path: Path) -> Bundle:
    """The small good bundle, with two questions of a service."""
    rows = [RENEW, {**RENEW, "language": "fil", "text": "paso na", "origin": "import"}]
    return read_bundle(write(tmp_path / "whole", {**tables(), "questions": rows}))


@pytest.fixture
def eve(db: None, whole: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=whole, by=None)
    return person("eve", Role.EDITOR, name="Eve Every")


@pytest.fixture
def editor(eve: User) -> Client:
    return browser(eve)


def save(by: User, **values: str) -> None:
    values = {**RENEW, **values}
    editing.save(
        table="questions", values=values, by=by, expected_version=None, source=Change.Source.API
    )


def typed(client: Client, questions: str, **changes: str) -> Any:
    """Save the form of the passport service with these questions, as a browser would."""
    return client.post(PAGE, filled(client, PAGE, questions=questions, **changes))


def lines() -> list[tuple[str, str, str]]:
    rows = ExampleQuestion.objects.values_list("language", "text", "origin")
    return sorted(rows)


def test_a_release_has_them_in_the_detectors_languages(eve: User, whole: Bundle) -> None:
    publish(note="", by=eve)
    release = selectors.current_release()
    assert release is not None
    assert release.questions == (
        Question("passports", "renew", "en", "it ran out"),
        Question("passports", "renew", "tl", "paso na", "import"),
    )
    assert Bundle.from_content(whole.content) == whole


OTHER = {**RENEW, "agency": "tax", "service": "return", "text": "It  RAN out"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"service": "x"}, "service 'x' is not among the services of 'passports'"),
        ({"origin": "x"}, "'x': use one of editor, citizen, model, import"),
        ({"text": "mail me: eva@home.example"}, "an e-mail address ('eva@home.example')"),
        (OTHER, "is a question of passports renew already"),
        ({"text": "it ran out"}, "has the same agency and service and language and text as line 1"),
    ],
)
def test_it_says_what_is_wrong_and_where(tmp_path: Path, row: dict[str, str], message: str) -> None:
    content = {**tables(), "questions": [RENEW, {**RENEW, "text": "next", **row}]}
    result = errors(write(tmp_path / "bundle", content))
    assert any("questions.jsonl:2: " in error and message in error for error in result)


def test_a_service_has_a_limit(tmp_path: Path, eve: User) -> None:
    many = [{**RENEW, "text": f"way {n} to ask"} for n in range(51)]
    (error,) = errors(write(tmp_path / "bundle", {**tables(), "questions": many}))
    assert "questions.jsonl:51: passports renew has more than 50 questions" in error
    for row in many[:48]:
        save(eve, text=row["text"])
    with pytest.raises(editing.Invalid, match="more than 50 questions"):
        save(eve, text="one more")


def test_editing_refuses_the_same(eve: User) -> None:
    with pytest.raises(editing.Invalid, match="is a question of passports renew already"):
        save(eve, **OTHER)


def test_who_writes_a_question_on_the_form_writes_a_line(editor: Client) -> None:
    page = editor.get(PAGE)
    assert said(page).count("it ran out\nfil: paso na") == 2  # to see, and to compare with
    assert 'name="initial-questions"' in said(page)
    assert typed(editor, "it ran out\nde: Er ist abgelaufen\n\nmine is old").status_code == 303
    assert lines() == [
        ("de", "Er ist abgelaufen", "editor"),
        ("en", "it ran out", "editor"),
        ("en", "mine is old", "editor"),
    ]


def test_who_may_only_read_reads_them(editor: Client) -> None:
    reader = browser(person("pat", Role.PUBLISHER))
    page = said(reader.get(PAGE))
    assert "it ran out\nfil: paso na" in page
    assert '<fieldset class="e-fields" disabled>' in page


def test_what_somebody_else_added_meanwhile_stays(editor: Client, eve: User) -> None:
    page = filled(editor, questions="it ran out\nis it still good")
    save(eve, text="too old to fly")
    assert editor.post(PAGE, page).status_code == 303
    assert [text for _, text, _ in lines()] == ["is it still good", "it ran out", "too old to fly"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("xx: what is this", "there is no language “xx”"),
        ("born on 3 March 1980, call 020 7946 0958", "a telephone number"),
        ("x" * 201, "201 characters"),
    ],
)
def test_a_line_that_is_refused_changes_nothing(editor: Client, line: str, message: str) -> None:
    before = lines()
    page = typed(editor, line, name="Another name")
    assert page.status_code == 422
    assert message in said(page)
    assert line in said(page)
    assert lines() == before
    assert Service.objects.get(key="renew").name == "Renew a passport"


def test_they_go_with_their_service(eve: User) -> None:
    identity = {"agency": "passports", "key": "renew"}
    editing.remove(
        table="services", identity=identity, by=eve, expected_version=1, source=Change.Source.ADMIN
    )
    assert lines() == []


def test_no_text_teaches_and_tests(eve: User, bundle: Bundle) -> None:
    with pytest.raises(GoldenError, match="none can be both"):
        store_written(text="It ran  OUT", expected=NOTHING, note="", by=eve)
    store_written(text="Mine is torn", expected=NOTHING, note="", by=eve)
    with pytest.raises(editing.Invalid, match="no text can be both"):
        save(eve, text="mine is torn")
    assert checks.checked_draft(cached.draft()).errors == []
    GoldenQuestion.objects.update(case={**GoldenQuestion.objects.get().case, "text": "Paso na"})
    (error,) = checks.checked_draft(cached.draft()).errors
    assert (error.code, error.entry) == ("question.golden", "passports renew fil paso na")


def words(value: Any) -> set[str]:
    """Return every string in ``value``, letters and digits only."""
    if isinstance(value, str):
        bare = "".join(c if c.isalnum() else " " for c in value.casefold())
        return {" ".join(bare.split())}
    children = value.values() if isinstance(value, dict) else value
    return set().union(*map(words, children)) if isinstance(value, dict | list) else set()


def test_the_demos_are_in_no_test_set() -> None:
    held_out = Path(settings.BASE_DIR) / "benchmarks" / "questions"
    tests: set[str] = set()
    for path in [DEMO / "golden.jsonl", *held_out.glob("*.jsonl")]:
        tests |= words([json.loads(line) for line in path.read_text("utf-8").splitlines() if line])
    for path in held_out.glob("*.yaml"):
        tests |= words(yaml.safe_load(path.read_text("utf-8")))
    demo = read_bundle(DEMO)
    questions = demo.questions
    results = {(question.agency, question.service, question.situation) for question in questions}
    services = {(service.agency, service.key, "") for service in demo.services}
    assert results == services | {("", "", situation.key) for situation in demo.situations}
    assert tests & words([question.text for question in questions]) == set()
