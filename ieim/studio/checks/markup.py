"""Texts with HTML in them: it is never run, so people read the signs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, TABLES
from ieim.knowledge.headings import headings
from ieim.studio.checks.remarks import Remark, Severity

CODE = "text.markup"

_SHOWN = 3
# A tag with nothing beside its name, or with an attribute: "<your name>" is none.
_TAG = re.compile(r"</?[a-z][a-z0-9-]*(?:\s+[a-z-]+\s*=[^<>]*|\s*)/?>|<!--", re.IGNORECASE)


def markup(bundle: Bundle) -> Iterator[Remark]:
    """Yield a warning for each text with tags that somebody reads: examples only teach."""
    for table in TABLES:
        if table == "risk_examples":
            continue
        for row in getattr(bundle, table):
            entry = " ".join(filter(None, (getattr(row, name) for name in IDENTITY[table])))
            agency = row.id if table == "agencies" else getattr(row, "agency", "")
            for column in COLUMNS[table]:
                if tags := _tags(getattr(row, column)):
                    name = headings().get(column, column.replace("_", " ").capitalize())
                    sentence = (
                        f"There is markup in “{name}” ({', '.join(tags[:_SHOWN])}). It is shown "
                        "as it was typed: write plain text."
                    )
                    yield Remark(CODE, Severity.WARNING, table, entry, agency, sentence)


def _tags(value: object) -> list[str]:
    text = "\n".join(value) if isinstance(value, tuple) else value
    if not isinstance(text, str) or "<" not in text:
        return []
    return list(dict.fromkeys(tag[:40] for tag in _TAG.findall(text)))
