"""The answers of a recall as a table for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conversations.models import Citation
from ieim.knowledge.bundles.cells import csv_lines

HEADER = ("reference", "question", "answered_at", "language", "origin", "release", "version")


def lines(found: Iterable[Citation]) -> Iterator[str]:
    """Yield the answers as CSV, line by line, with a header.

    Times are UTC (ISO 8601). No column holds words of a citizen's.
    """
    return csv_lines(HEADER, map(_row, found))


def _row(each: Citation) -> tuple[str | int | None, ...]:
    reply, turn = each.reply, each.reply.turn
    return (
        turn.session.reference,
        turn.number,
        reply.created_at.isoformat(),
        turn.language,
        reply.origin,
        turn.release_number,
        each.service_sha256,
    )
