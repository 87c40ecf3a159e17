"""How large a request's body may be, how long it may take, and the answer to one that is too much.

Django under ASGI waits for a whole body, and stores it on disk, before anything else sees the
request, so this wraps it. A request that is too large, or whose body does not come, goes to Django
without its body, for the answer 413 or 408.
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
"""Bytes, of who is logged in, at the addresses of staff; each import has its own limit below it."""
STAFF_ADDRESSES = (
    *("/admin/", "/knowledge/", "/review/", "/settings/", "/staff/"),
    *("/api/v1/knowledge/", "/api/v1/review/"),
)

SECONDS = 30.0
"""In which the body of everybody has to come: 64 KiB over the slowest line of a telephone."""
STAFF_SECONDS = 600.0
"""In which a larger one has to: 65 MiB at 1 Mbit/s."""

_INSTEAD = "ieim.status"


class _NotTaken(Exception):
    """A body is not waited for; ``args[0]`` is the status of the answer."""


def limited(application: Any) -> Any:
    """Return the ASGI application behind the limit."""

    async def in_front(scope: Any, receive: Any, send: Any) -> None:
        length = _length(scope)
        limit = EVERYBODY
        if length is None or length > limit:
            limit = await _limit(scope)
        read, whole = 0, False
        seconds = SECONDS if limit == EVERYBODY else STAFF_SECONDS
        deadline = asyncio.get_running_loop().time() + seconds

        async def counted() -> Any:
            nonlocal read, whole
            if whole:
                return await receive()  # that they have gone, some time
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as late:
                raise _NotTaken(408) from late
            read += len(message.get("body", b""))
            if read > limit:
                raise _NotTaken(413)
            whole = not message.get("more_body", False)
            return message

        try:
            if length is not None and length > limit:
                raise _NotTaken(413)
            await application(scope, counted, send)
        except _NotTaken as why:
            # Django has read no more than the body: nothing has been answered yet.
            await application({**scope, _INSTEAD: why.args[0]}, _no_body(), send)

    return in_front


def _length(scope: Mapping[str, Any]) -> int | None:
    """Return the declared length of the body, None where it is sent in chunks."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return None
    length: bytes = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else None


async def _limit(scope: Mapping[str, Any]) -> int:
    """Return the bytes that may come."""
    if not scope["path"].startswith(STAFF_ADDRESSES):
        return EVERYBODY
    cookies = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    key = parse_cookie(cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
    session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    # Not the session's own `aget`: that would keep a connection, and one that broke for ever.
    signed_in = key and await database_sync_to_async(session.get)(SESSION_KEY)
    return STAFF if signed_in else EVERYBODY


def _no_body() -> Any:
    """Return a ``receive`` of an empty body. It leaves the real one unread."""
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        if not messages:
            await asyncio.Event().wait()  # until Django has answered, and cancels it
        return messages.pop()

    return receive


def not_taken_page(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: 413 or 408 for what came without its body."""

    def middleware(request: HttpRequest) -> HttpResponse:
        scope: Mapping[str, Any] = getattr(request, "scope", {})
        status: int | None = scope.get(_INSTEAD)
        if status is None:
            return get_response(request)
        at_work = request.path.startswith(STAFF_ADDRESSES)
        if request.path.startswith(errors.ROOT):
            detail = "The body is too large." if status == 413 else "The body did not come in time."
            if at_work and status == 413:
                detail += " More than 64 KiB are taken from who is logged in, up to 65 MiB."
            response = errors.answer(status, detail)
        else:
            page = "413.html" if status == 413 else "400.html"  # the words there fit
            response = render(request, page, {"at_work": at_work}, status=status)
        response.headers["Connection"] = "close"  # the rest of the body is still under way
        return response

    return middleware
