"""The same journey with less: no JavaScript, no socket, no light."""

from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory
from playwright.sync_api import Browser, Page, expect

from tests.browser.steps import (
    PASSPORT,
    VISA,
    ask,
    assert_accessible,
    assert_fits,
    connected,
    expect_answer,
)
from tests.selection import sample

pytestmark = pytest.mark.browser


def test_it_works_without_javascript(browser: Browser, live_site: str) -> None:
    context = browser.new_context(base_url=live_site, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.get_by_role("button", name=VISA).click()
    expect(page).to_have_url(re.compile("/#turn-"))
    # No click: the page looks again by itself.
    expect_answer(page)
    ask(page, PASSPORT)
    expect_answer(page, 2)
    ask(page, " ")
    expect(page).to_have_title(re.compile("^Error: "))
    context.close()


def test_it_works_where_sockets_are_blocked(page: Page) -> None:
    page.route_web_socket("**/ws/chat/**", lambda socket: socket.close(code=1011))
    page.goto("/")
    ask(page)
    expect_answer(page)
    expect(page.locator("#question")).to_have_value("")
    ask(page, " ")
    expect(page.locator("#question-error")).to_contain_text("Error:")
    ask(page, PASSPORT)
    expect_answer(page, 2)


ERRORS = ["400", "403", "403_csrf", "404", "405", "413", "500"]


@pytest.mark.parametrize("path", sample(["/", "/help/", "/accessibility/", "/privacy/", *ERRORS]))
@pytest.mark.parametrize("scheme", sample(["light", "dark"]))
def test_it_has_accessible_pages(browser: Browser, live_site: str, path: str, scheme: str) -> None:
    context = browser.new_context(
        base_url=live_site,
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": 320, "height": 640},
    )
    page = context.new_page()
    if path in ERRORS:
        # A development server has Django's own pages for these; citizens get ours.
        html = render_to_string(f"{path}.html", request=RequestFactory().get("/"))
        page.route(f"**/{path}", lambda route: route.fulfill(status=500, body=html))
    page.goto(path if path.startswith("/") else f"/{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    context.close()


@pytest.mark.whole
def test_help_lines_stay_in_view_when_a_person_will_answer(quiet_page: Page) -> None:
    page = quiet_page
    page.set_viewport_size({"width": 360, "height": 640})
    page.goto("/")
    connected(page)
    ask(page, "I will kill myself and he hits me when I ask")
    expect(page.get_by_role("heading", name="A person will answer this question")).to_be_attached()
    expect(page.get_by_role("heading", name="Please get help now")).to_be_in_viewport()
