"""What is said to a message that is no question, as a table of the knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ieim.knowledge import selectors
from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.pipeline.knowledge import CASES
from ieim.pipeline.reply import guidance
from ieim.studio.checks import Remark, at_once
from ieim.studio.checks import services as checks
from ieim.studio.drafts import editing
from ieim.studio.drafts import selectors as drafts
from ieim.studio.drafts.publishing import publish
from ieim.studio.drafts.services import import_bundle
from ieim.studio.models import CaseText, Change
from ieim.studio.proposals.differences import Kind, differences
from tests.fixtures import DEMO
from tests.knowledge.bundles import Tables, errors, tables, write
from tests.review.people import browser, person
from tests.studio.admin.admin_pages import address, filled, said

TEXT = {"case": "greeting", "language": "en", "text": "Good day. Ask us about passports."}
FRENCH = {"language": "fr", "agency": "tax", "name": "Le fisc"}


def more(*texts: dict[str, str], **rows: Any) -> Tables:
    return {**tables(), "texts": list(texts or [TEXT]), **rows}


@pytest.fixture
def whole(tmp_path: Path) -> Bundle:
    """The small good bundle, with a text."""
    return read_bundle(write(tmp_path / "whole", more()))


@pytest.fixture
def eve(db: None, whole: Bundle) -> User:
    """An editor of every agency, with the draft."""
    import_bundle(bundle=whole, by=None)
    return person("eve", Role.EDITOR, name="Eve Every")


def test_a_bundle_brings_them_and_keeps_them(whole: Bundle) -> None:
    assert whole.release().texts[0].text == TEXT["text"]
    assert Bundle.from_content(whole.content) == whole


def test_a_release_without_them_keeps_its_digest(bundle: Bundle) -> None:
    assert "texts" not in bundle.content


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{**TEXT, "case": "small_talk"}], "'small_talk': use one of greeting, thanks, off_topic"),
        ([{**TEXT, "case": ""}], "case is missing"),
        ([{**TEXT, "text": " "}], "text is missing"),
        ([{**TEXT, "text": "x" * 801}], "801 characters: 800 is the limit"),
        ([{**TEXT, "language": "English"}], "use a code of ISO 639"),
        ([TEXT, TEXT], "has the same case and language as line 1"),
    ],
)
def test_it_says_what_is_wrong(tmp_path: Path, rows: list[dict[str, str]], says: str) -> None:
    assert any(says in error for error in errors(write(tmp_path / "bundle", more(*rows))))


def test_differences_show_them(bundle: Bundle, whole: Bundle) -> None:
    found = differences(bundle.release(), whole.release())
    assert [(each.table, each.kind, each.entry) for each in found] == [
        ("texts", Kind.ADDED, "greeting en")
    ]


def test_a_release_has_what_the_draft_had(eve: User) -> None:
    publish(note="", by=eve)
    release = selectors.current_release()
    assert release is not None
    assert [each.text for each in release.texts] == [TEXT["text"]]


def told_of(bundle: Bundle, *languages: str) -> list[Remark]:
    remarks = at_once(bundle, budget=None, languages=languages)
    return [each for each in remarks if each.code == "text.missing"]


def test_checks_warn_where_a_case_has_no_text_in_a_language(
    bundle: Bundle, whole: Bundle, tmp_path: Path
) -> None:
    assert told_of(bundle, "en", "fr", "zh") == []  # what is shipped stands in
    assert [each.entry for each in told_of(bundle, "en", "pl")] == [f"{c} pl" for c in CASES]
    # Who has begun to write their own text of a case has it in one language only.
    assert [each.entry for each in told_of(whole, "en", "de")] == ["greeting de"]
    french = read_bundle(write(tmp_path / "fr", more(translations=[FRENCH])))
    (found,) = told_of(french, "en")
    assert (found.table, found.entry, found.agency) == ("texts", "greeting fr", "")
    assert "so people read the one that is shipped" in found.sentence
    both = read_bundle(write(tmp_path / "two", more(TEXT, {**TEXT, "language": "fr"})))
    assert told_of(both, "en", "fr") == []


def test_the_draft_is_checked_in_the_languages_of_the_deployment(eve: User, settings: Any) -> None:
    settings.IEIM_MODEL = {**settings.IEIM_MODEL, "LANGUAGES": ["en", "it"]}
    bundle = drafts.draft()
    remarks = checks.checked(bundle, bundle.release()).remarks
    assert {each.entry for each in remarks if each.code == "text.missing"} == {
        f"{case} it" for case in CASES
    }


def test_editing_holds_the_same_rules(eve: User) -> None:
    def save(seen: int | None, **values: str) -> Any:
        return editing.save(
            table="texts", values=values, by=eve, seen=seen, source=Change.Source.API
        )

    with pytest.raises(editing.Invalid, match="use one of greeting, thanks"):
        save(None, **{**TEXT, "case": "other"})
    assert save(1, **{**TEXT, "text": "Hello."}).version == 2


def test_the_admin_edits_them(eve: User) -> None:
    client = browser(eve)
    place = address("casetext", "add")
    client.post(place, filled(client, place, case="abuse", language="de", text="Wir helfen gern."))
    assert CaseText.objects.get(case="abuse").text == "Wir helfen gern."
    assert "Wir helfen gern." in said(client.get(address("casetext", "changelist")))


def test_they_are_for_editors_of_every_agency(eve: User) -> None:
    client = browser(person("pam", Role.EDITOR, "passports"))
    assert client.get(address("casetext", "changelist")).status_code == 403


def test_the_demo_has_its_own_where_it_says_more() -> None:
    demo = read_bundle(DEMO)
    shipped = {(each.case, each.language): each.text for each in guidance.shipped()}
    assert demo.texts
    assert not [each for each in demo.texts if shipped[each.case, each.language] == each.text]
    assert told_of(demo, "en", *guidance.languages(demo.release())) == []
