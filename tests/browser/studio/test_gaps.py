"""An editor sees to questions that ended badly, without JavaScript too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests import live
from tests.browser.studio import test_recall
from tests.browser.studio.test_recall import Open, fine, sign_in
from tests.fixtures import VISA
from tests.studio.gaps.gapping import OUTSIDE

pytestmark = pytest.mark.browser
people = test_recall.people
HELD = f"""
from tests.studio.gaps.gapping import collecting, turn
turn({VISA!r}, state="needs_review")
turn({OUTSIDE!r}, state="needs_review")
collecting.collect()
"""


@pytest.fixture(scope="module")
def live_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site with two groups of one question each."""
    with live.site(tmp_path_factory.mktemp("gaps")) as site:
        site.manage("shell", "-c", HELD)
        yield site.base_url


def test_a_question_becomes_an_example(people: Open) -> None:
    editor = people()
    sign_in(editor, "/knowledge/gaps/")
    fine(editor)
    editor.get_by_role("link", name=VISA).click()
    fine(editor)
    editor.get_by_label("The question").fill("Mail mia@example.org about three more weeks")
    editor.get_by_role("button", name="Add as an example question").click()
    expect(editor.get_by_role("alert")).to_contain_text("Nothing was changed")
    fine(editor)
    editor.get_by_label("The question").fill("May I stay for three more weeks?")
    editor.get_by_role("button", name="Add as an example question").click()
    expect(editor.get_by_text("Done: made an example question.")).to_be_visible()
    fine(editor)
    editor.goto("/knowledge/gaps/services/")
    fine(editor)


def test_no_gap_works_without_javascript(people: Open) -> None:
    editor = people(script=False)
    sign_in(editor, "/knowledge/gaps/")
    editor.get_by_role("link", name=OUTSIDE).click()
    editor.get_by_label("Or is there no gap?").fill("A test of our own")
    editor.get_by_role("button", name="No gap").click()
    expect(editor.get_by_text("Done: no gap.")).to_be_visible()
    editor.goto("/knowledge/gaps/")
    expect(editor.get_by_role("link", name=OUTSIDE)).to_have_count(0)
