"""A file as the body of a request, in one of several media types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any, ClassVar

from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from conversations.api.errors import TooLarge
from conversations.api.parsing import JSONOnly
from ieim.knowledge.bundles.formats import MAX_FILE_BYTES
from ieim.knowledge.bundles.rows import TABLES
from ieim.studio.exchange.formats import formats_of
from ieim.studio.exchange.reading import MAX_BYTES

TABLE_TYPES: Mapping[str, str] = {
    made.mime.partition(";")[0]: made.kind for made in formats_of(TABLES[0])
}
"""The kind of file that a media type is."""
STANDARD_TYPES = ("application/json", "application/ld+json")


@dataclass(frozen=True, slots=True)
class Sent:
    """A file, and the media type that it was said to be."""

    media_type: str
    data: bytes


class FileParser(BaseParser):
    """The body is the file."""

    media_type = "*/*"
    limit: ClassVar[int]

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the file as :class:`Sent`; raises TooLarge."""
        data = stream.read(self.limit + 1)
        if len(data) > self.limit:
            raise TooLarge(f"The file is too large. Send no more than {self.limit // 2**20} MiB.")
        return Sent(_plain(media_type), data)


class TableParser(FileParser):
    """A file of one table."""

    limit = MAX_BYTES


class StandardParser(FileParser):
    """A file of a standard."""

    limit = MAX_FILE_BYTES


class AFile(JSONOnly):
    """One of the media types of ``accepted`` comes in; the answer is JSON, whatever is asked."""

    accepted: ClassVar[frozenset[str]]

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        """Return the parser when the body says that it is such a file."""
        return parsers[0] if _plain(request.content_type) in self.accepted else None


class ATable(AFile):
    """CSV, XLSX, YAML or JSON."""

    accepted = frozenset(TABLE_TYPES)


class AStandard(AFile):
    """JSON, or JSON-LD."""

    accepted = frozenset(STANDARD_TYPES)


def _plain(media_type: str | None) -> str:
    return (media_type or "").partition(";")[0].strip().lower()
