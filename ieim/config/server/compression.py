"""Text leaves compressed, also where what serves it has not done so: pages, files in development.

In production WhiteNoise has compressed each file beforehand. Pages hold secrets: Django puts random
bytes into each compressed one, so that its length tells nothing of them (Heal the BREACH).
"""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXT = ("text/", "application/javascript", "image/svg+xml")
"""What browsers read. REST answers programs, which ask their proxy where they want less."""


class Compression(GZipMiddleware):
    """Compress what is text: a typeface or a picture is compressed already."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return ``response``, compressed where the browser takes that and it is worth it."""
        if not response.headers.get("Content-Type", "").startswith(TEXT):
            return response
        return super().process_response(request, response)
