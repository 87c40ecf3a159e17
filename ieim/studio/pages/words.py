"""What the pages call tables, columns, checks and what the citizen is shown."""

from __future__ import annotations

from collections.abc import Mapping

from ieim.knowledge.bundles.rows import Table
from ieim.knowledge.headings import headings

TABLES: Mapping[Table, str] = {
    "agencies": "Agency",
    "dictionary": "Category",
    "services": "Service",
    "labels": "Label",
    "translations": "Translation",
    "help_lines": "Help line",
    "risk_examples": "Example of a risk flag",
    "texts": "Text to what is no question",
}

COLUMNS: Mapping[str, str] = {
    "applicability_summary": "Who it is for",
    "how_to_apply": "How to apply",
    "processing_time": "Processing time",
    "url": "Link",
    "path": "Page or place",
    "value": "Category",
}
"""Where the column's own name, with a capital, would not do."""

CHECKS: Mapping[str, str] = {
    "draft.empty": "Nothing to publish",
    "entry.invalid": "Entries that break a rule",
    "reference.dangling": "References to what is not there",
    "category.unreached": "Services that no category reaches",
    "category.empty": "Categories without a service",
    "category.wordless": "Categories without words",
    "overview.empty": "Services without an overview",
    "service.outranked": "Services whose name leads to another one",
    "service.duplicate": "Services that are hard to tell apart",
    "keyword.shared": "Keywords that several categories have",
    "category.outranked": "Categories whose words lead to another one",
    "link.form": "Links that do not open or are not encrypted",
    "link.duplicate": "Links that several services have",
    "translation.figures": "Translations and help lines with other figures than the original",
    "text.missing": "What is said to a message that is no question, missing in a language",
    "budget.terms": "Entries that are too long for the token budget",
}

HEADINGS: Mapping[str, str] = headings()
"""The headings of an answer, as citizens see them."""


def column(name: str) -> str:
    """Return what a column is called."""
    return COLUMNS.get(name) or name.replace("_", " ").capitalize()
