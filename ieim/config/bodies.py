"""The limit on the size of a request's body, and the answer to one that is too large.

Django under ASGI waits for a whole body, and stores it on disk, before anything else sees the
request, so this wraps it. A request that is too large goes to Django without its body, for the
answer 413. How long a body may take is for the proxy to limit (``deploy/nginx/site.conf``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponse
from django.http.cookie import parse_cookie
from django.shortcuts import render

from conversations.api import errors
from ieim.knowledge.bundles.formats import MAX_FILE_BYTES

EVERYBODY = 64 * 1024
"""Bytes: a message of the longest characters has 24,000, escaped as forms do."""
STAFF = MAX_FILE_BYTES + 1024 * 1024
"""Bytes from who is logged in, at the addresses of staff; each import has its own limit below."""
STAFF_ADDRESSES = (
    *("/admin/", "/knowledge/", "/review/", "/settings/", "/staff/"),
    *("/api/v1/knowledge/", "/api/v1/review/"),
)

_TOO_LARGE = "ieim.too_large"


class _TooLarge(Exception):
    """A body is larger than its limit."""


def limit_bodies(application: Any) -> Any:
    """Return the ASGI application behind the limit."""

    async def limited(scope: Any, receive: Any, send: Any) -> None:
        length = _length(scope)
        limit = EVERYBODY
        if length is None or length > limit:
            limit = await _limit(scope)
        size = 0

        async def receive_counted() -> Any:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                raise _TooLarge
            return message

        try:
            if length is not None and length > limit:
                raise _TooLarge
            await application(scope, receive_counted, send)
        except _TooLarge:
            # Django has read no more than the body: nothing has been answered yet.
            await application({**scope, _TOO_LARGE: True}, _empty_body(), send)

    return limited


def _length(scope: Mapping[str, Any]) -> int | None:
    """Return the declared length of the body, None where it is sent in chunks."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return None
    length: bytes = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else None


async def _limit(scope: Mapping[str, Any]) -> int:
    """Return how many bytes may come."""
    if not scope["path"].startswith(STAFF_ADDRESSES):
        return EVERYBODY
    cookies = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    key = parse_cookie(cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    # Not the session's own `aget`: that would keep a connection, and one that broke for ever.
    signed_in = key and await database_sync_to_async(session.get)(SESSION_KEY)
    return STAFF if signed_in else EVERYBODY


def _empty_body() -> Any:
    """Return a ``receive`` of an empty body. It leaves the real one unread."""
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        if not messages:
            await asyncio.Event().wait()  # until Django has answered, and cancels it
        return messages.pop()

    return receive


def too_large_page(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: 413 for a request whose body is too large."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if _TOO_LARGE not in getattr(request, "scope", {}):
            return get_response(request)
        is_staff_address = request.path.startswith(STAFF_ADDRESSES)
        if request.path.startswith(errors.ROOT):
            detail = "The body is too large."
            if is_staff_address:
                detail += " More than 64 KiB are taken from who is logged in, up to 65 MiB."
            response = errors.answer(413, detail)
        else:
            response = render(request, "413.html", {"at_work": is_staff_address}, status=413)
        response.headers["Connection"] = "close"  # the rest of the body is still under way
        return response

    return middleware
