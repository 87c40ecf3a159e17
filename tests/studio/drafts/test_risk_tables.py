"""Help lines and examples of risk flags as tables of the knowledge: bundles, files, the draft."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ieim.knowledge import selectors
from ieim.knowledge.bundles import columns
from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.studio.checks import at_once
from ieim.studio.drafts import editing
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import Change, DraftEntry, HelpLine, RiskExample
from ieim.studio.proposals.differences import Kind, differences
from tests.fixtures import DEMO
from tests.knowledge.bundles import Tables, errors, tables, write
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, filled, said

LINE = {"language": "fr", "flag": "threat", "text": "Appelez le 112."}
EXAMPLE = {"language": "de", "text": "Er wartet draußen", "flag": "threat", "kind": "danger"}


def more(**rows: Any) -> Tables:
    return {**tables(), "help_lines": [LINE], "risk_examples": [EXAMPLE], **rows}


@pytest.fixture
def whole(tmp_path: Path) -> Bundle:
    """The small good bundle, with a help line and an example."""
    return read_bundle(write(tmp_path / "whole", more()))


@pytest.fixture
def eve(db: None, whole: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=whole, by=None)
    return person("eve", Role.EDITOR, name="Eve Every")


def save(by: User, table: Table, seen: int | None, **values: Any) -> DraftEntry:
    return editing.save(table=table, values=values, by=by, seen=seen, source=Change.Source.API)


def test_a_bundle_brings_them_and_keeps_them(whole: Bundle) -> None:
    assert whole.release().help_lines[0].text == "Appelez le 112."
    assert whole.release().risk_examples[0].kind == "danger"
    assert Bundle.from_content(whole.content) == whole


def test_a_release_without_them_keeps_its_digest(bundle: Bundle) -> None:
    assert bundle.content.keys() == {"agencies", "dictionary", "services", "labels"}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({"help_lines": [{**LINE, "flag": "x"}]}, "flag 'x' is not among the labels of risk_flags"),
        ({"help_lines": [{**LINE, "flag": "apply"}]}, "flag 'apply' is not among the labels"),
        ({"help_lines": [{**LINE, "text": " "}]}, "text is missing"),
        ({"help_lines": [{**LINE, "language": "French"}]}, "use a code of ISO 639"),
        ({"help_lines": [LINE, LINE]}, "has the same language and flag as line 1"),
        ({"risk_examples": [{**EXAMPLE, "flag": "x"}]}, "flag 'x' is not among the labels"),
        ({"risk_examples": [{**EXAMPLE, "kind": "harmless"}]}, "use danger or near_miss"),
        ({"risk_examples": [EXAMPLE, EXAMPLE]}, "has the same language and text as line 1"),
        ({"risk_examples": [{**EXAMPLE, "text": "x" * 401}]}, "401 characters: 400 is the limit"),
    ],
)
def test_it_says_what_is_wrong(tmp_path: Path, rows: Any, says: str) -> None:
    assert any(says in error for error in errors(write(tmp_path / "bundle", more(**rows))))


def test_there_is_a_limit_to_the_examples(tmp_path: Path) -> None:
    many = [{**EXAMPLE, "text": f"number {n}"} for n in range(columns.EXAMPLES_LIMIT + 1)]
    (error,) = errors(write(tmp_path / "bundle", more(risk_examples=many)))
    assert "has 501 risk_examples: 500 is the limit" in error


def test_a_bundle_without_labels_has_the_default_flags(tmp_path: Path) -> None:
    rows = more(help_lines=[{**LINE, "flag": "self_harm"}], risk_examples=[])
    del rows["labels"]
    assert read_bundle(write(tmp_path / "bundle", rows)).help_lines


def test_differences_show_them(bundle: Bundle, whole: Bundle) -> None:
    found = differences(bundle.release(), whole.release())
    assert [(each.table, each.kind, each.entry) for each in found] == [
        ("help_lines", Kind.ADDED, "fr threat"),
        ("risk_examples", Kind.ADDED, "de Er wartet draußen"),
    ]
    assert differences(whole.release(), whole.release()) == []


def test_a_release_has_what_the_draft_had(eve: User) -> None:
    publish(note="", by=eve)
    release = selectors.current_release()
    assert release is not None
    assert (len(release.help_lines), len(release.risk_examples)) == (1, 1)


def test_checks_name_a_number_that_is_not_the_labels(tmp_path: Path) -> None:
    rows = more()
    rows["labels"][2]["description"] = "Call 113."
    remarks = at_once(read_bundle(write(tmp_path / "bundle", rows)), budget=None)
    (found,) = [each for each in remarks if each.table == "help_lines"]
    assert (found.code, found.entry) == ("translation.figures", "fr threat")
    assert "113" in found.sentence


def test_editing_holds_the_same_rules(eve: User) -> None:
    with pytest.raises(editing.Invalid, match="not among the labels"):
        save(eve, "help_lines", None, **{**LINE, "language": "de", "flag": "none"})
    with pytest.raises(editing.Invalid, match="danger or near_miss"):
        save(eve, "risk_examples", 1, **{**EXAMPLE, "kind": "harmless"})
    label: Any = {"table": "labels", "identity": {"set": "risk_flags", "code": "threat"}}
    with pytest.raises(editing.Invalid, match="still has 1 help lines and 1 examples"):
        editing.remove(**label, by=eve, seen=1, source=Change.Source.ADMIN)
    saved = save(eve, "risk_examples", 1, **{**EXAMPLE, "kind": "near_miss"})
    assert saved.version == 2


def test_editing_takes_no_more_examples_than_the_limit(
    eve: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ieim.studio.drafts.entries.EXAMPLES_LIMIT", 2)
    save(eve, "risk_examples", None, **{**EXAMPLE, "text": "the second"})
    with pytest.raises(editing.Invalid, match="there are 2 examples, which is the limit"):
        save(eve, "risk_examples", None, **{**EXAMPLE, "text": "the third"})
    save(eve, "risk_examples", 1, **{**EXAMPLE, "kind": "near_miss"})
    assert RiskExample.objects.count() == 2


def test_the_admin_edits_them(eve: User) -> None:
    client = browser(eve)
    place = address("helpline", "add")
    client.post(place, filled(client, place, language="de", flag="threat", text="112 anrufen."))
    assert HelpLine.objects.get(language="de").text == "112 anrufen."
    place = address("riskexample", "add")
    values = {"language": "fr", "text": "Il attend dehors", "flag": "nobody", "kind": "danger"}
    assert "not among the labels" in said(client.post(place, filled(client, place, **values)))
    client.post(place, filled(client, place, **{**values, "flag": "threat"}))
    assert RiskExample.objects.filter(language="fr").exists()
    assert "Il attend dehors" in said(client.get(address("riskexample", "changelist")))


def test_they_are_for_editors_of_every_agency(eve: User) -> None:
    client = browser(person("pam", Role.EDITOR, "passports"))
    for model in ("helpline", "riskexample"):
        assert client.get(address(model, "changelist")).status_code == 403
        assert client.get(address(model, "add")).status_code == 403


def test_the_demo_tells_everybody_in_danger_whom_to_call() -> None:
    demo = read_bundle(DEMO)
    flags = {label.code for label in demo.labels if label.escalates}
    languages = {line.language for line in demo.help_lines}
    assert languages >= {translation.language for translation in demo.translations}
    # Those of the citizens' pages beside English, which the labels' descriptions are in.
    assert languages >= {"ar", "de", "es", "fr", "tl", "zh"}
    assert {(line.language, line.flag) for line in demo.help_lines} == {
        (language, flag) for language in languages for flag in flags
    }
    remarks = at_once(demo, budget=None)
    assert [each for each in remarks if each.table == "help_lines"] == []
