"""An agency's own site beside IEIM: another origin, with a strict policy of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from tests import live
from tests.model_server import QUICK

ASK = "Ask about a public service"
PAGE = """<!doctype html><html lang="{language}" dir="{direction}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Office</title>
<script src="{ieim}/embed.js" defer></script></head>
<body><main><h1>Office</h1><p>What an office says of itself.</p><button>Theirs</button></main>
<noscript><a href="{ieim}/">Ask a question</a></noscript></body></html>"""


@dataclass
class Host:
    """``allowed`` and ``foreign`` are the same pages by two names, of which IEIM knows one."""

    ieim: str
    allowed: str
    foreign: str


@contextmanager
def hosted(folder: Path) -> Iterator[Host]:
    """Serve IEIM, and an agency's site that it lets in."""
    with live.site(folder) as site, _pages(site.base_url) as port:
        host = Host(site.base_url, f"http://localhost:{port}", f"http://127.0.0.1:{port}")
        change = (
            "from ieim.administration import forms, services; "
            f"form = forms.OtherSitesForm(None, {{'origins': '{host.allowed}'}}); "
            "form.is_valid(); services.change(form=form, version=0, by=None)"
        )
        site.manage("shell", "-c", change)
        yield host


@contextmanager
def _pages(ieim: str) -> Iterator[int]:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            language = query.get("lang", ["en"])[0]
            direction = "rtl" if language == "ar" else "ltr"
            page = PAGE.format(ieim=ieim, language=language, direction=direction)
            if urlsplit(self.path).path == "/framing":
                # What a site does that is not let in and does not ask the script.
                page = f'<!doctype html><title>F</title><iframe src="{query["src"][0]}"></iframe>'
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            policy = f"default-src 'none'; script-src {ieim}; frame-src {ieim}"
            trusted = "require-trusted-types-for 'script'"
            self.send_header("Content-Security-Policy", f"{policy}; {trusted}")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, kwargs=QUICK, daemon=True).start()
        yield server.server_port
        server.shutdown()


def visit(browser: Browser, url: str, **options: Any) -> Page:
    """Open an agency's page in a browser that nobody has used."""
    page = browser.new_context(**options).new_page()
    page.goto(url)
    return page


def opened(page: Page, name: str = ASK) -> FrameLocator:
    """Press the button and return what is in the frame."""
    page.get_by_role("button", name=name, exact=True).click()
    return inside(page)


def inside(page: Page) -> FrameLocator:
    """Return what is in the frame, once its socket is there."""
    frame = page.frame_locator("iframe")
    expect(frame.locator("html.app-live")).to_be_attached()
    return frame


def ask(frame: FrameLocator, text: str) -> None:
    """Ask, and wait for the answer."""
    frame.get_by_role("textbox").fill(text)
    frame.get_by_role("button", name="Ask", exact=True).click()
    expect(answers(frame)).to_have_count(1)


def answers(frame: FrameLocator) -> Locator:
    """Return what comes last of each answer."""
    return frame.get_by_text("Why this answer")
