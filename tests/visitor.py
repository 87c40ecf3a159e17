"""A citizen without JavaScript, by plain HTTP: for tests that go through the front door."""

from __future__ import annotations

import re
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

ANSWER_SECONDS = 60.0
ANSWERED = "Why this answer"


class Visitor:
    """One browser's cookies at the site with ``base_url``."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self._asked = 0

    def page(self, path: str, form: dict[str, str] | None = None) -> str:
        """The page at ``path``, or what comes of sending ``form`` there; raises HTTPError."""
        body = urllib.parse.urlencode(form).encode() if form else None
        with self._opener.open(f"{self._base_url}{path}", body, timeout=30) as response:
            return str(response.read().decode())

    def ask(self, text: str) -> str:
        """Ask ``text``; return the page once it is answered, or as it is after a minute."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.page("/"))
        assert token
        html = self.page("/ask/", {"csrfmiddlewaretoken": token[1], "text": text})
        self._asked += 1
        deadline = time.monotonic() + ANSWER_SECONDS
        while html.count(ANSWERED) < self._asked and time.monotonic() < deadline:
            time.sleep(0.1)  # between two looks
            html = self.page("/")
        return html
