"""Help lines, examples of risk flags and texts of cases: tables that belong to no single agency."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ieim.knowledge.bundles import columns
from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.knowledge import CASES
from ieim.pipeline.message.language import detected_code
from ieim.pipeline.reply import guidance
from ieim.studio.checks import Remark, at_once
from ieim.studio.checks import services as checks
from ieim.studio.drafts import editing
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import CaseText, Change, DraftEntry, HelpLine, RiskExample
from tests.fixtures import DEMO
from tests.knowledge.bundles import Tables, errors, tables, write
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, filled, said

LINE = {"language": "fr", "flag": "threat", "text": "Appelez le 112."}
EXAMPLE = {"language": "de", "text": "Er wartet draußen", "flag": "threat", "kind": "danger"}
TEXT = {"case": "greeting", "language": "en", "text": "Good day. Ask us about passports."}
FRENCH = {"language": "fr", "agency": "tax", "name": "Le fisc"}


def more(**rows: Any) -> Tables:
    shared = {"help_lines": [LINE], "risk_examples": [EXAMPLE], "texts": [TEXT]}
    return {**tables(), **shared, **rows}


@pytest.fixture
def whole(tmp_path: Path) -> Bundle:
    """The small good bundle, with an entry of each of these tables."""
    return read_bundle(write(tmp_path / "whole", more()))


@pytest.fixture
def eve(db: None, whole: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=whole, by=None)
    return person("eve", Role.EDITOR, name="Eve Every")


def save(by: User, table: Table, seen: int | None, **values: Any) -> DraftEntry:
    return editing.save(
        table=table, values=values, by=by, expected_version=seen, source=Change.Source.API
    )


def test_a_bundle_brings_them_and_keeps_them(whole: Bundle) -> None:
    release = whole.release()
    assert release.help_lines[0].text == LINE["text"]
    assert release.risk_examples[0].kind == "danger"
    assert release.texts[0].text == TEXT["text"]
    assert Bundle.from_content(whole.content) == whole


def test_a_release_without_them_keeps_its_digest(bundle: Bundle) -> None:
    assert bundle.content.keys() == {"agencies", "dictionary", "services", "labels"}


@pytest.mark.parametrize(
    ("table", "rows", "message"),
    [
        ("help_lines", [{**LINE, "flag": "x"}], "flag 'x' is not among the labels of risk_flags"),
        ("help_lines", [{**LINE, "flag": "apply"}], "flag 'apply' is not among the labels"),
        ("help_lines", [LINE, LINE], "has the same language and flag as line 1"),
        ("risk_examples", [{**EXAMPLE, "flag": "x"}], "flag 'x' is not among the labels"),
        ("risk_examples", [{**EXAMPLE, "kind": "harmless"}], "use danger or near_miss"),
        ("risk_examples", [EXAMPLE, EXAMPLE], "has the same language and text as line 1"),
        ("risk_examples", [{**EXAMPLE, "text": "x" * 401}], "401 characters: 400 is the limit"),
        ("texts", [{**TEXT, "case": "x"}], "'x': use one of greeting, thanks, off_topic"),
        ("texts", [{**TEXT, "text": "x" * 801}], "801 characters: 800 is the limit"),
        ("texts", [TEXT, TEXT], "has the same case and language as line 1"),
    ],
)
def test_it_says_what_is_wrong(tmp_path: Path, table: str, rows: Any, message: str) -> None:
    result = errors(write(tmp_path / "bundle", more(**{table: rows})))
    assert any(message in error for error in result)


def test_there_is_a_limit_to_the_examples(tmp_path: Path) -> None:
    many = [{**EXAMPLE, "text": f"number {n}"} for n in range(columns.EXAMPLES_LIMIT + 1)]
    (error,) = errors(write(tmp_path / "bundle", more(risk_examples=many)))
    assert "has 501 risk_examples: 500 is the limit" in error


def test_a_bundle_without_labels_has_the_default_flags(tmp_path: Path) -> None:
    rows = more(help_lines=[{**LINE, "flag": "self_harm"}], risk_examples=[])
    del rows["labels"]
    assert read_bundle(write(tmp_path / "bundle", rows)).help_lines


def test_checks_name_a_number_that_is_not_the_labels(tmp_path: Path) -> None:
    rows = more()
    rows["labels"][2]["description"] = "Call 113."
    remarks = at_once(read_bundle(write(tmp_path / "bundle", rows)), budget=None)
    (result,) = [remark for remark in remarks if remark.table == "help_lines"]
    assert (result.code, result.entry) == ("translation.figures", "fr threat")
    assert "113" in result.sentence


def missing(bundle: Bundle, *languages: str) -> list[Remark]:
    remarks = at_once(bundle, budget=None, languages=languages)
    return [remark for remark in remarks if remark.code == "text.missing"]


def test_checks_warn_where_a_case_has_no_text_in_a_language(
    bundle: Bundle, whole: Bundle, tmp_path: Path
) -> None:
    assert missing(bundle, "en", "fr", "zh") == []  # the shipped texts are used
    assert [entry.entry for entry in missing(bundle, "en", "pl")] == [f"{c} pl" for c in CASES]
    # Who has begun to write their own text of a case has it in one language only.
    assert [entry.entry for entry in missing(whole, "en", "de")] == ["greeting de"]
    french = read_bundle(write(tmp_path / "fr", more(translations=[FRENCH])))
    (result,) = missing(french, "en")
    assert (result.table, result.entry, result.agency) == ("texts", "greeting fr", "")
    assert "so people read the one that is shipped" in result.sentence
    both = read_bundle(write(tmp_path / "two", more(texts=[TEXT, {**TEXT, "language": "fr"}])))
    assert missing(both, "en", "fr") == []


def test_the_draft_is_checked_in_the_languages_of_the_deployment(eve: User, settings: Any) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["en", "it"]}
    bundle = drafts.draft()
    remarks = checks.checked(bundle, bundle.release()).remarks
    assert {remark.entry for remark in remarks if remark.code == "text.missing"} == {
        f"{case} it" for case in CASES
    }


def test_editing_holds_the_same_rules(eve: User) -> None:
    wrong: tuple[tuple[Table, dict[str, str], str], ...] = (
        ("help_lines", {**LINE, "language": "de", "flag": "none"}, "not among the labels"),
        ("risk_examples", {**EXAMPLE, "kind": "harmless"}, "danger or near_miss"),
        ("texts", {**TEXT, "case": "other"}, "use one of greeting, thanks"),
    )
    for table, values, message in wrong:
        with pytest.raises(editing.Invalid, match=message):
            save(eve, table, None, **values)
    label: Any = {"table": "labels", "identity": {"set": "risk_flags", "code": "threat"}}
    with pytest.raises(editing.Invalid, match="still has 1 help lines and 1 examples"):
        editing.remove(**label, by=eve, expected_version=1, source=Change.Source.ADMIN)
    assert save(eve, "risk_examples", 1, **{**EXAMPLE, "kind": "near_miss"}).version == 2
    assert save(eve, "texts", 1, **{**TEXT, "text": "Hello."}).version == 2


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

    def add(model: str, **values: str) -> str:
        url = address(model, "add")
        return said(client.post(url, filled(client, url, **values)))

    add("helpline", language="de", flag="threat", text="112 anrufen.")
    assert HelpLine.objects.get(language="de").text == "112 anrufen."
    values = {"language": "fr", "text": "Il attend dehors", "kind": "danger"}
    assert "not among the labels" in add("riskexample", **values, flag="nobody")
    add("riskexample", **values, flag="threat")
    assert "Il attend dehors" in said(client.get(address("riskexample", "changelist")))
    add("casetext", case="abuse", language="de", text="Wir helfen gern.")
    assert CaseText.objects.get(case="abuse").text == "Wir helfen gern."


def test_they_are_for_editors_of_every_agency(eve: User) -> None:
    client = browser(person("pam", Role.EDITOR, "passports"))
    for model in ("helpline", "riskexample", "casetext"):
        assert client.get(address(model, "changelist")).status_code == 403
        assert client.get(address(model, "add")).status_code == 403


def test_the_demo_shows_everybody_in_danger_whom_to_call() -> None:
    demo = read_bundle(DEMO)
    flags = {label.code for label in demo.labels if label.escalates}
    languages = {line.language for line in demo.help_lines}
    assert languages >= {detected_code(text.language) for text in demo.translations}
    # Those of the citizens' pages beside English, which the labels' descriptions are in.
    assert languages >= {"ar", "de", "es", "fr", "tl", "zh"}
    assert {(line.language, line.flag) for line in demo.help_lines} == {
        (language, flag) for language in languages for flag in flags
    }
    remarks = at_once(demo, budget=None)
    assert [remark for remark in remarks if remark.table == "help_lines"] == []


def test_the_demo_has_its_own_texts_where_it_says_more() -> None:
    demo = read_bundle(DEMO)
    shipped = {(entry.case, entry.language): entry.text for entry in guidance.shipped()}
    assert demo.texts
    assert not [text for text in demo.texts if shipped[text.case, text.language] == text.text]
    assert missing(demo, "en", *guidance.languages(demo.release())) == []
