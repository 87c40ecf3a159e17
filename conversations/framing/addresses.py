"""The addresses of pages in frames: those of the citizen's pages, below ``/embed/``.

``/embed/help/`` is ``/help/`` in a frame, and ``/embed/~PASS/help/`` the same for a browser that
refuses every cookie there. What is not below ``/embed/`` can never be framed.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import Resolver404, resolve

from conversations.framing.carrying import ROOT

PAGES = "conversations:"
NEVER = frozenset(
    f"{PAGES}{name}" for name in ("resume", "mail_link", "mail_link_stop", "offline", "worker")
)
"""Private links and those of e-mails are for a window of their own; and so is what is shown without
a connection: the page around would not be there either."""
BESIDE = ("administration:colours", "administration:logo")
"""What these pages fetch: the same for everybody, and never framed itself."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address below ``/embed/``: ``prefix`` is what it has before that of the page itself.

    ``token`` is the text of a pass, None where a cookie carries; ``page`` is false for what pages
    fetch.
    """

    prefix: str
    path: str
    token: str | None
    page: bool


def framed(path: str) -> Address | None:
    """Return what an address is in a frame, None where it is nothing there."""
    if not path.startswith(ROOT):
        return None
    token, rest = None, path.removeprefix(ROOT)
    if rest.startswith("~"):
        token, slash, rest = rest.removeprefix("~").partition("/")
        if not slash:
            return None
    prefix = prefix_of(token)
    try:
        name = resolve(f"/{rest}").view_name
    except Resolver404:
        return None
    if name in BESIDE or (name.startswith(PAGES) and name not in NEVER):
        return Address(prefix, f"/{rest}", token, name not in BESIDE)
    return None


def prefix_of(token: str | None) -> str:
    """Return what stands before every address of a frame."""
    return ROOT if token is None else f"{ROOT}~{token}/"
