"""An editor plans the review of a service, without JavaScript too."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.studio import test_recall
from tests.browser.studio.test_recall import Open, fine, sign_in

pytestmark = pytest.mark.browser
people = test_recall.people


def test_an_editor_plans_a_review_and_sees_the_links(people: Open) -> None:
    editor = people()
    sign_in(editor, "/knowledge/fresh/")
    fine(editor)
    editor.get_by_role("link", name="Extend a tourist visa").click()
    fine(editor)
    editor.get_by_label("Source").fill("nothing but words")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_role("alert")).to_contain_text("Enter a valid URL.")
    fine(editor)
    editor.get_by_label("Source").fill("https://law.example/visa")
    editor.get_by_label("Review by").fill("2027-03-31")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Review by 31 March 2027.")).to_be_visible()
    fine(editor)
    editor.get_by_role("link", name="See the links that do not work").click()
    expect(editor.get_by_text("Links are not checked")).to_be_visible()
    fine(editor)


def test_it_works_without_javascript(people: Open) -> None:
    editor = people(script=False)
    sign_in(editor, "/knowledge/fresh/")
    editor.get_by_role("link", name="Apply for a tourist visa").click()
    editor.get_by_label("Review by").fill("2020-01-01")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("is due for review.")).to_be_visible()
