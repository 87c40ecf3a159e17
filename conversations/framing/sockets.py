"""The page's socket in a frame: below ``/embed/`` as the page is, with what the frame carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.chat import cookies
from conversations.framing import carrying
from conversations.framing.addresses import prefix_of


def of_scope(scope: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return what stands before the addresses of a socket's page, and its citizen's secret."""
    if not scope["path"].startswith(carrying.ROOT):
        return "/", cookies.secret_of_scope(scope)
    token = scope["url_route"]["kwargs"].get("token")
    brought = scope.get("cookies", {}).get(carrying.COOKIE, "") if token is None else token
    carried = carrying.opened(brought)
    return prefix_of(token), carried.secret if carried else None
