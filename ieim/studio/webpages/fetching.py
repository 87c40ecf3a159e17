"""HTTP client of web pages: allowed hosts, robots.txt, and one request a second to a host."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf

import httpx2
from django.conf import settings
from django.core.cache import cache
from protego import Protego
from w3lib.encoding import resolve_encoding

from conversations.webhooks.sending import ForbiddenAddress, request
from ieim.knowledge.bundles.columns import LINK_LIMIT
from ieim.studio.webpages.reading import Unreadable

MAX_PAGE = 2 * 2**20
"""Bytes of a page."""
PAUSE = 1.0
"""Seconds between two requests to one host, unless its robots.txt asks for more."""
MAX_WAIT = 60.0
"""Seconds that a busy site is waited for; one that asks for more is asked another time."""
_WAIT, _DEADLINE = 10.0, 60.0
_MAX_REDIRECTS, _MAX_SILENT = 5, 3
_MAX_ROBOTS = 500 * 1024
_AGENT = "IEIM-pages"
_HTML = ("text/html", "application/xhtml+xml", "application/pdf", "")
"""The types of a page; that a PDF is none is said when it is read."""


class Busy(Exception):
    """A site is not to be asked now; the message is a sentence that says why."""


class Gone(Unreadable):
    """There is no such page, or no more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A body, None where it has not changed, with what a site names its version by."""

    body: bytes | None
    etag: str = ""
    last_modified: str = ""


def parse(address: str) -> httpx2.URL:
    """Return an address of a page as it is stored, without what follows ``#``.

    Raises:
        Unreadable: it is none, or its host and port are not among IEIM_PAGE_HOSTS.
    """
    try:
        parts = httpx2.URL(address.strip()).copy_with(fragment=None)
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise Unreadable(f"{address[:200]} is no address of a page.") from error
    if parts.scheme not in ("http", "https") or not parts.host or parts.userinfo:
        raise Unreadable(f"{address[:200]} is no address of a page: it begins with https://.")
    if len(str(parts)) > LINK_LIMIT:
        raise Unreadable(f"{address[:200]}… has more than {LINK_LIMIT:,} characters.")
    port = "" if parts.port is None else f":{parts.port}"
    hosts = (f"{parts.host}{port}", f"{parts.raw_host.decode()}{port}")
    allowed = [name.lower() for name in settings.IEIM_PAGE_HOSTS]
    if not any(host == name or host.endswith(f".{name}") for name in allowed for host in hosts):
        raise Unreadable(
            f"{hosts[0]} is none of the hosts that pages may be read from. Whoever runs this "
            "site can add it to IEIM_PAGE_HOSTS; or save the page and give the file."
        )
    return parts


class Fetcher:
    """Reads pages of one run, gently."""

    def __init__(self) -> None:
        self._robots: dict[str, Protego] = {}
        self._silent: dict[str, int] = defaultdict(int)
        self._busy: dict[str, str] = {}

    def page(self, address: str, *, etag: str = "", last_modified: str = "") -> Answer:
        """Return a page in HTML, UTF-8 where the site says its charset; or that it has not changed
        since it had ``etag`` and ``last_modified``.

        Raises:
            Unreadable, Busy: it cannot be had, or not now.
        """
        known = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        headers = {name: value for name, value in known.items() if value.isascii() and value}
        response, body = self._follow(parse(address), MAX_PAGE, headers)
        if response.status_code == httpx2.codes.NOT_MODIFIED:
            return Answer(None, etag, last_modified)
        media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if media_type not in _HTML:
            raise Unreadable(f"It is no web page, but {media_type[:100]}.")
        if encoding := resolve_encoding(response.charset_encoding or ""):
            with suppress(UnicodeError, LookupError):
                body = body.decode(encoding).encode()
        tag, date = (response.headers.get(name, "") for name in ("ETag", "Last-Modified"))
        return Answer(body, tag if len(tag) <= 200 else "", date if len(date) <= 64 else "")

    def read(self, address: str, limit: int) -> bytes:
        """Return what is at an address, ``limit`` bytes at most. Raises as :meth:`page`."""
        return self._follow(parse(address), limit, {})[1]

    def _follow(
        self, parts: httpx2.URL, limit: int, headers: Mapping[str, str], *, is_robots: bool = False
    ) -> tuple[httpx2.Response, bytes]:
        for _ in range(_MAX_REDIRECTS + 1):
            if not is_robots and not self._robots_of(parts).can_fetch(str(parts), _AGENT):
                raise Unreadable(
                    f"The robots.txt of {parts.host} asks programs not to read it. Ask whoever "
                    f"runs the site to allow {_AGENT}, or save the page and give the file."
                )
            response, body = self._answer(parts, limit, headers)
            if response.has_redirect_location:
                try:
                    parts = parse(str(parts.join(response.headers["Location"])))
                except (httpx2.InvalidURL, UnicodeError) as error:
                    raise Unreadable("It leads to an address that is none.") from error
                continue
            if is_robots and response.is_client_error:
                return response, b""  # it has none: everything may be read
            if response.status_code in (404, 410):
                raise Gone(f"There is no such page ({response.status_code}).")
            if response.status_code in (401, 403):
                raise Unreadable(
                    f"The site does not show it to programs ({response.status_code}): save the "
                    "page in a browser and give the file."
                )
            if response.is_error:
                raise Unreadable(f"The site answered {response.status_code}: read it again later.")
            if len(body) > limit and not is_robots:
                raise Unreadable(f"It is larger than {limit // 2**20} MiB: give a smaller one.")
            return response, body
        raise Unreadable("It leads from one address to the next: give the one that it ends at.")

    def _robots_of(self, parts: httpx2.URL) -> Protego:
        address = parts.copy_with(raw_path=b"/robots.txt")
        if str(address) not in self._robots:
            _, body = self._follow(address, _MAX_ROBOTS, {}, is_robots=True)
            self._robots[str(address)] = Protego.parse(body.decode(errors="replace"))
        return self._robots[str(address)]

    def _answer(
        self, parts: httpx2.URL, limit: int, headers: Mapping[str, str]
    ) -> tuple[httpx2.Response, bytes]:
        """Return a host's answer; it is waited for once where it is busy."""
        host = parts.host
        if host in self._busy:
            raise Busy(self._busy[host])
        response, body = self._ask(parts, limit, headers)
        wait = _retry_after(response)
        if wait is not None and wait <= MAX_WAIT:
            time.sleep(wait)
            response, body = self._ask(parts, limit, headers)
            wait = _retry_after(response)
        if wait is not None:
            status = response.status_code
            self._busy[host] = f"{host} is busy ({status}): go on with the run later."
            raise Busy(self._busy[host])
        return response, body

    def _ask(
        self, parts: httpx2.URL, limit: int, headers: Mapping[str, str]
    ) -> tuple[httpx2.Response, bytes]:
        robots = self._robots.get(str(parts.copy_with(raw_path=b"/robots.txt")))
        pause = max(PAUSE, min(robots.crawl_delay(_AGENT) or 0.0, MAX_WAIT) if robots else 0.0)
        _take_turn(parts.host, pause)
        sent = {
            "User-Agent": f"{_AGENT} (+{settings.IEIM_PUBLIC_URL})",
            "Accept-Encoding": "identity",  # the limit is of what is sent
            **headers,
        }
        sending = request(
            "GET", parts, private=False, plain=True, headers=sent, limit=limit, deadline=_DEADLINE
        )
        try:
            answer = asyncio.run(sending)
        except (ForbiddenAddress, httpx2.InvalidURL, UnicodeError) as error:
            message = f"{parts.host} is an address of an internal network: give a public one."
            raise Unreadable(message) from error
        except (OSError, httpx2.HTTPError) as error:
            self._silent[parts.host] += 1
            if self._silent[parts.host] >= _MAX_SILENT:
                self._busy[parts.host] = f"{parts.host} cannot be reached: go on with it later."
            raise Unreadable(f"{parts.host} cannot be reached: read it again later.") from error
        self._silent[parts.host] = 0
        return answer


def _take_turn(host: str, pause: float) -> None:
    """Wait until ``pause`` seconds after the last request to a host, of whatever run."""
    key, now = f"page-host:{host}", time.time()
    turn = min(max(now, cache.get(key, 0.0) + pause), now + MAX_WAIT)
    cache.set(key, turn, timeout=2 * MAX_WAIT)
    time.sleep(turn - now)


def _retry_after(response: httpx2.Response) -> float | None:
    """Return the seconds that a busy site asks to wait; None for one that is not busy."""
    if response.status_code not in (429, 503):
        return None
    value = response.headers.get("Retry-After", "")
    # A date is one that the run does not wait for.
    return float(value) if value.isdecimal() else inf if value else _WAIT
