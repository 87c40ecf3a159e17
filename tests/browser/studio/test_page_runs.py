"""An editor gives saved pages, sees them read, and why one could not be."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.studio import test_recall
from tests.browser.studio.test_recall import Open, fine, sign_in
from tests.studio.webpages.site import RENEW

pytestmark = pytest.mark.browser
people = test_recall.people


def give(editor: Page, name: str, body: bytes) -> None:
    file: FilePayload = {"name": name, "mimeType": "text/html", "buffer": body}
    editor.get_by_label("Saved pages").set_input_files([file])
    editor.get_by_role("button", name="Read the pages").click()


def test_an_editor_has_saved_pages_read(people: Open) -> None:
    editor = people()
    sign_in(editor, "/knowledge/webpages/")
    fine(editor)
    give(editor, "form.pdf", b"%PDF")
    expect(editor.get_by_role("alert")).to_contain_text("give pages saved as .html")
    fine(editor)
    give(editor, "renew.html", RENEW)
    # The list comes along by itself, and leaves the filter that somebody is changing alone.
    editor.get_by_label("State").focus()
    editor.get_by_label("State").select_option("failed")
    expect(editor.get_by_text("Renew a passport")).to_be_visible(timeout=30_000)
    expect(editor.get_by_label("State")).to_have_value("failed")
    expect(editor.get_by_label("State")).to_be_focused()
    expect(editor.get_by_text("drafted", exact=True)).to_be_visible()
    fine(editor)


def test_it_works_without_javascript(people: Open) -> None:
    editor = people(script=False)
    sign_in(editor, "/knowledge/webpages/")
    give(editor, "void.html", b"<html><script>1</script></html>")
    expect(editor.get_by_text("The pages are being read.")).to_be_visible()
    for _ in range(30):
        editor.goto("/knowledge/webpages/pages/?state=failed")
        if editor.get_by_text("no text of its own").count():
            break
        editor.wait_for_timeout(1000)
    expect(
        editor.get_by_text("It has no text of its own: only menus, scripts or pictures.")
    ).to_be_visible()
