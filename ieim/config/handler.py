"""Django's handler of HTTP requests, for a project whose middleware and views are synchronous.

Django's own goes back to the event loop between the middleware and the view, and so changes threads
twice more for each request. Here one thread does the whole of a request.
"""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class ThreadHandler(ASGIHandler):
    """Serves each request in one thread, as a WSGI server would."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the middleware and the views as synchronous ones, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response to a request; its work is done in the request's thread."""
        return await sync_to_async(self.get_response)(request)
