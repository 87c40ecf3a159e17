"""A connection that is lost: what was written is kept, sent when it is back, and never twice."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.browser.steps import PASSPORT, VISA, ask, assert_accessible, connected, expect_answer

pytestmark = pytest.mark.browser

KEPT = "Your question is kept, and it is sent as soon as the connection is back."


@dataclass
class Line:
    """What lies between a page and the site; ``deaf`` lets nothing back to the page."""

    up: bool = True
    deaf: bool = False
    sockets: list[WebSocketRoute] = field(default_factory=list)

    def socket(self, page: WebSocketRoute) -> None:
        if not self.up:
            page.close(code=1011)
            return
        self.sockets.append(page)
        server = page.connect_to_server()
        server.on_message(lambda said: None if self.deaf else page.send(said))

    def request(self, route: Route) -> None:
        if self.up and not self.deaf:
            route.continue_()
        elif self.up:
            route.fetch()  # It arrives, and its answer does not.
            route.abort()
        else:
            route.abort("internetdisconnected")

    def cut(self) -> None:
        """End it for the open page, and for every other try."""
        self.up = False
        for socket in self.sockets:
            socket.close(code=1011)
        self.sockets.clear()

    def mend(self) -> None:
        """Let everything through again."""
        self.up, self.deaf = True, False


@pytest.fixture
def line(page: Page) -> Iterator[Line]:
    """The line of ``page``, which is open and connected."""
    line = Line()
    page.route_web_socket("**/ws/chat/**", line.socket)
    page.goto("/")
    connected(page)
    page.route("**/*", line.request)
    yield line
    page.unroute_all(behavior="ignoreErrors")


def sent_once(page: Page, text: str = VISA, number: int = 1) -> None:
    """Fail unless the question is answered, and stands there once, also for who looks anew."""
    expect_answer(page, number)
    expect(page.locator("#question")).to_have_value("")
    expect(page.locator("#connection")).to_be_empty()
    page.reload()
    expect_answer(page, number)
    expect(page.locator(".message__text", has_text=text)).to_have_count(1)


@pytest.mark.whole
def test_it_says_so_and_comes_back(page: Page, line: Line) -> None:
    page.locator("#question").fill("a draft")
    line.cut()
    expect(page.locator("#connection")).to_contain_text("Connection lost. Trying again")
    assert_accessible(page)
    line.mend()
    connected(page)
    expect(page.locator("#connection")).to_be_empty()
    expect(page.locator("#question")).to_have_value("a draft")


@pytest.mark.whole
def test_what_is_asked_without_one_is_sent_when_it_is_back(page: Page, line: Line) -> None:
    address = page.url
    line.cut()
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    ask(page)
    expect(page.locator("#connection")).to_contain_text(KEPT)
    expect(page.locator("#question")).to_have_value(VISA)
    expect(page.locator(".turn")).to_have_count(0)
    assert_accessible(page)
    page.get_by_role("button", name="Ask", exact=True).click(force=True)  # and nothing more is sent
    assert page.url == address
    line.mend()
    sent_once(page)


def test_a_question_whose_echo_is_lost_is_not_asked_twice(page: Page, line: Line) -> None:
    line.deaf = True
    ask(page)
    expect(page.locator("#connection")).to_contain_text(re.compile("Your (text|question) is kept"))
    line.cut()
    expect(page.locator("#connection")).to_contain_text(KEPT)
    line.mend()
    sent_once(page)


def test_a_question_that_met_a_database_that_was_away_is_sent_again(page: Page) -> None:
    away = threading.Event()
    away.set()

    def answer(tab: WebSocketRoute) -> None:
        server = tab.connect_to_server()
        tab.on_message(lambda said: tab.close(code=1013) if away.is_set() else server.send(said))

    page.route_web_socket("**/ws/chat/**", answer)
    page.route("**/ask/", lambda route: route.fulfill(status=503) if away.is_set() else None)
    page.goto("/")
    connected(page)
    with page.expect_response("**/ask/") as posted:  # as the socket brings it nowhere
        ask(page)
        expect(page.locator("#connection")).to_contain_text(KEPT)
        expect(page.locator("#question")).to_have_value(VISA)
    assert posted.value.status == 503
    page.unroute_all(behavior="ignoreErrors")
    away.clear()
    sent_once(page)


@pytest.mark.whole
def test_nor_is_one_that_was_posted(page: Page, line: Line) -> None:
    line.cut()
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    line.up, line.deaf = True, True
    page.route_web_socket("**/ws/chat/**", lambda socket: socket.close(code=1011))
    ask(page)
    expect(page.locator("#connection")).to_contain_text(KEPT)
    line.mend()
    sent_once(page)


@pytest.mark.whole
def test_it_is_sent_after_a_reload_too(page: Page, line: Line) -> None:
    line.cut()
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    ask(page)
    expect(page.locator("#connection")).to_contain_text(KEPT)
    line.mend()
    page.reload()
    sent_once(page)
    ask(page, PASSPORT)
    sent_once(page, PASSPORT, 2)


@pytest.mark.whole
def test_a_button_of_an_answer_can_be_pressed_again(page: Page, line: Line) -> None:
    ask(page)
    expect_answer(page)
    line.cut()
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    yes = page.get_by_role("button", name="Yes", exact=True)
    yes.click()
    expect(page.locator("#connection")).to_contain_text("Please press the button again")
    line.mend()
    connected(page)
    yes.click()
    expect(page.get_by_text("Thank you.").last).to_be_visible()
