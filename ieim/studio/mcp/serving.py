"""The Model Context Protocol over HTTP, with the limits of the REST API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any, Final

from asgiref.sync import ThreadSensitiveContext
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError
from django.http.request import split_domain_port, validate_host

from conversations.api import errors
from conversations.api.base import MAX_BODY
from conversations.turns import limits
from ieim.administration import selectors as administration
from ieim.knowledge import selectors
from ieim.people import addresses

PATH: Final = "/mcp"
RETRY_AFTER: Final = 10
"""Seconds after which it is worth asking again while the database is away."""

Application = Callable[[Any, Any, Any], Awaitable[None]]


def with_mcp(application: Application) -> Application:
    """Return the ASGI ``application`` (HTTP) with the MCP server at :data:`PATH`.

    Each request stands alone, so that any web process can answer it: there are no sessions and no
    streams. The SDK checks Host and Origin, and the size of the body.
    """
    if not settings.IEIM_MCP:
        return application

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] != PATH:
            await application(scope, receive, send)
            return
        # As for a request to Django: a thread of its own for what uses the database.
        async with ThreadSensitiveContext():
            refused = await database_sync_to_async(_refusal)(scope)
            await (refused or _serve)(scope, receive, send)

    return wrapped


async def _serve(scope: Any, receive: Any, send: Any) -> None:
    # In a thread: the first time, it imports for a second.
    server = (await asyncio.to_thread(import_module, "ieim.studio.mcp.server")).server()
    from mcp.server.transport_security import TransportSecuritySettings

    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    # Of this site, by Django's rules. Only its own pages have an origin: programs send none.
    known, url = settings.ALLOWED_HOSTS, settings.IEIM_PUBLIC_URL
    hosts = [host for host in hosts if validate_host(split_domain_port(host)[0], known)]
    origins = [url] if url else [f"http://{host}:*" for host in known]
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
    )
    # A manager of requests can be run once, and is made with the application.
    async with server.session_manager.run():
        await application(scope, receive, send)


def _refusal(scope: Any) -> Application | None:
    """Return the answer to a request that is not served, None for one that is. It is counted."""
    if scope["method"] != "POST":
        detail = "Send JSON-RPC by POST: there are no streams here."
        return _problem(405, detail, headers={"Allow": "POST"})
    try:
        is_published = selectors.current_number() is not None
    except DatabaseError:
        detail = "The database does not answer. Please try again."
        return _problem(503, detail, headers={"Retry-After": str(RETRY_AFTER)})
    if administration.current().is_off("api"):
        return _problem(503, "An administrator has switched this off.", "switched-off")
    if wait := limits.take("address", addresses.of_scope(scope)):
        detail = f"Too many requests. Please wait {wait} seconds."
        return _problem(429, detail, "rate-limit", {"Retry-After": str(wait)})
    if not is_published:
        return _problem(503, "Nothing has been published yet.", "not-ready")
    return None


def _problem(
    status: int,
    detail: str,
    slug: errors.Slug | None = None,
    headers: Mapping[str, str] | None = None,
) -> Application:
    from starlette.responses import JSONResponse  # as late as the SDK, which brings it

    body = errors.problem(status, detail, slug=slug)
    return JSONResponse(
        body, status, {"Cache-Control": "no-store", **(headers or {})}, errors.MEDIA_TYPE
    )
