"""Which sites' scripts may read what REST answers, asked by django-cors-headers at each request."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from ieim.administration import selectors as administration


def is_of_an_allowed_site(sender: Any, request: HttpRequest, **_: Any) -> bool:
    """Whether the citizens' API is asked by a site that the settings name.

    The middleware asks for every address, and takes a yes for any of them.
    """
    if not re.match(settings.CORS_URLS_REGEX, request.path_info):
        return False
    origin = request.headers.get("Origin", "")
    return bool(origin) and origin in administration.current().other_sites
