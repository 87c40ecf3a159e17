"""The answers of a recall as a table for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from conversations.models import Citation

BOM = "\ufeff"
"""Spreadsheets take a file for UTF-8 only where it begins with this."""
HEADER = ("reference", "question", "answered_at", "language", "origin", "release", "version")


class _Line:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def lines(found: Iterable[Citation]) -> Iterator[str]:
    """Yield the answers as CSV (RFC 4180), line by line, with a header.

    Times are UTC (ISO 8601). No column holds words of a citizen's.
    """
    writer = csv.writer(_Line())
    yield BOM + writer.writerow(HEADER)
    for each in found:
        reply, turn = each.reply, each.reply.turn
        yield writer.writerow(
            [
                turn.session.reference,
                turn.number,
                reply.created_at.isoformat(),
                turn.language,
                reply.origin,
                turn.release_number,
                each.service_sha256,
            ]
        )
