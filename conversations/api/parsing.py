"""Reading a request's body: one strict JSON object, and not too much of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from conversations.api.errors import TooLarge
from ieim.pipeline.gate import strict_json

MAX_BODY = 32 * 1024
"""Bytes of a body that are read: the longest message has room, with every character escaped."""


class StrictJSONParser(BaseParser):
    """JSON as RFC 8259 has it, in UTF-8 whatever the request says, with every key once."""

    media_type = "application/json"
    limit = MAX_BODY

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the object; raises TooLarge or ParseError."""
        body = stream.read(self.limit + 1)
        if len(body) > self.limit:
            raise TooLarge(f"The body is too large. Send no more than {self.limit // 1024} KiB.")
        parsed, findings = strict_json.parse(body.decode("utf-8", "surrogateescape"))
        if parsed is None:
            error = ParseError(
                "The body is not one JSON object in UTF-8, or has a key twice, a NUL or half a "
                "surrogate pair in it, a number out of range, or more than 32 levels."
            )
            places = dict.fromkeys(finding.path for finding in findings if finding.path)
            error.errors = [  # type: ignore[attr-defined]  # for the exception handler
                {"pointer": place, "detail": "This value cannot be used."} for place in places
            ]
            raise error
        return parsed


class JSONOnly(BaseContentNegotiation):
    """Always JSON, whatever ``Accept`` asks for: there is nothing else to choose from."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        """Return the parser when the body says that it is JSON."""
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        return parsers[0] if media_type == parsers[0].media_type else None

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the only renderer."""
        return renderers[0], renderers[0].media_type
