"""The check of every link of the draft and of the current release, by a worker."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import zip_longest

import httpx2
from django.conf import settings

from conversations.turns.executor import release_connection
from conversations.webhooks.sending import ForbiddenAddress, request
from ieim.studio import runs
from ieim.studio.fresh import selectors
from ieim.studio.models import LinkRun

Outcome = LinkRun.Outcome
PAUSE = 1.0
"""Seconds between two requests to one host."""
MAX_REDIRECTS = 5
MAX_SILENT = 3
"""Links of one host that get no answer; its others are not tried in that run."""
_GONE = (404, 410)
_PERMANENT = (301, 308)


def run_link_check(*, run_id: int) -> None:
    """Check the links of a run; see :func:`ieim.studio.runs.execute`."""
    runs.execute(LinkRun, run_id, _run)


def _run(claim: runs.Claim) -> None:
    if not settings.IEIM_LINK_CHECK:
        raise runs.RunFailed("IEIM_LINK_CHECK is false: no link is opened.")
    last = LinkRun.objects.filter(state=LinkRun.State.DONE).first()
    previous = last.faults if last else {}
    links, faults, browser = _in_turns(selectors.links()), {}, _Browser()
    for done, link in enumerate(links):
        claim.write(done=done, total=len(links))
        release_connection()
        outcome, target = browser.check(link)
        if outcome:
            before = previous.get(link, {})
            failures = before["failures"] + 1 if before.get("outcome") == outcome else 1
            faults[link] = {"outcome": outcome.value, "target": target, "failures": failures}
    claim.write(state=LinkRun.State.DONE, done=len(links), total=len(links), faults=faults)


def _in_turns(links: Iterable[str]) -> list[str]:
    """Return the links so that those of one host stand far apart."""
    hosts: dict[str, list[str]] = defaultdict(list)
    for link in sorted(links):
        hosts[link.split("/")[2].lower()].append(link)
    return [link for row in zip_longest(*hosts.values()) for link in row if link]


class _Browser:
    """Opens links, with a pause before a host is asked again."""

    def __init__(self) -> None:
        self._asked_at: dict[str, float] = {}
        self._silent: dict[str, int] = defaultdict(int)

    def check(self, link: str) -> tuple[Outcome | None, str]:
        """Return what is wrong with a link, None for nothing, and the address that it moved to."""
        host = link.split("/")[2].lower()
        if self._silent[host] >= MAX_SILENT:
            return Outcome.UNREACHABLE, ""
        try:
            status, target = self._follow(link.partition("#")[0])
        except (ForbiddenAddress, httpx2.InvalidURL, UnicodeError):
            return Outcome.FORBIDDEN, ""
        except (OSError, httpx2.HTTPError) as error:
            if _is_certificate(error):
                return Outcome.CERTIFICATE, ""
            self._silent[host] += 1
            return Outcome.UNREACHABLE, ""
        self._silent[host] = 0
        if status in _GONE:
            return Outcome.GONE, ""
        if status >= 500:
            return Outcome.UNREACHABLE, ""
        # Another refusal (401, 403, 429) is meant for programs: nothing is known of the page.
        return (Outcome.MOVED, target) if target else (None, "")

    def _follow(self, link: str) -> tuple[int, str]:
        """Return the last status, and where permanent redirects lead, "" where there is none."""
        parts, target, is_permanent = httpx2.URL(link), "", True
        for _ in range(MAX_REDIRECTS + 1):
            if parts.scheme not in ("http", "https") or not parts.host or parts.userinfo:
                raise ForbiddenAddress(link)
            response = self._ask("HEAD", parts)
            if response.is_error:
                # Some servers know no HEAD. The body of a page is never read.
                response = self._ask("GET", parts)
            if not response.has_redirect_location:
                return response.status_code, target
            parts = parts.join(response.headers["Location"]).copy_with(fragment=None)
            is_permanent = is_permanent and response.status_code in _PERMANENT
            target = str(parts) if is_permanent else target
        raise httpx2.TooManyRedirects(link)

    def _ask(self, method: str, parts: httpx2.URL) -> httpx2.Response:
        pause = self._asked_at.get(parts.host, -PAUSE) + PAUSE - time.monotonic()
        time.sleep(max(0.0, pause))
        try:
            headers = {"User-Agent": f"IEIM-link-check (+{settings.IEIM_PUBLIC_URL})"}
            answer = request(method, parts, private=False, plain=True, headers=headers)
            response, _ = asyncio.run(answer)
            return response
        finally:
            self._asked_at[parts.host] = time.monotonic()


def _is_certificate(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None
