"""What the pages call tables, columns, checks and what the citizen is shown."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext, gettext_noop

from ieim.knowledge.bundles.rows import Table
from ieim.knowledge.headings import headings

_TABLES: Mapping[Table, str] = {
    "agencies": gettext_noop("Agency"),
    "dictionary": gettext_noop("Category"),
    "services": gettext_noop("Service"),
    "labels": gettext_noop("Label"),
    "translations": gettext_noop("Translation"),
    "help_lines": gettext_noop("Help line"),
    "risk_examples": gettext_noop("Example of a risk flag"),
    "texts": gettext_noop("Text to what is no question"),
}

_COLUMNS: Mapping[str, str] = {
    "agency": gettext_noop("Agency"),
    "applicability_summary": gettext_noop("Who it is for"),
    "case": gettext_noop("Case"),
    "categories": gettext_noop("Categories"),
    "category": gettext_noop("Category"),
    "code": gettext_noop("Code"),
    "contact": gettext_noop("Contact"),
    "deadline_days": gettext_noop("Deadline in days"),
    "description": gettext_noop("Description"),
    "effect": gettext_noop("Effect"),
    "fees": gettext_noop("Fees"),
    "flag": gettext_noop("Flag"),
    "how_to_apply": gettext_noop("How to apply"),
    "id": gettext_noop("Id"),
    "key": gettext_noop("Key"),
    "keywords": gettext_noop("Keywords"),
    "kind": gettext_noop("Kind"),
    "language": gettext_noop("Language"),
    "name": gettext_noop("Name"),
    "next_services": gettext_noop("Next services"),
    "overview": gettext_noop("Overview"),
    "path": gettext_noop("Page or place"),
    "position": gettext_noop("Position"),
    "processing_time": gettext_noop("Processing time"),
    "requirements": gettext_noop("Requirements"),
    "service": gettext_noop("Service"),
    "set": gettext_noop("Set"),
    "text": gettext_noop("Text"),
    "threshold": gettext_noop("Threshold"),
    "url": gettext_noop("Link"),
    "value": gettext_noop("Category"),
}

_CHECKS: Mapping[str, str] = {
    "draft.empty": gettext_noop("Nothing to publish"),
    "entry.invalid": gettext_noop("Entries that break a rule"),
    "reference.dangling": gettext_noop("References to what is not there"),
    "category.unreached": gettext_noop("Services that no category reaches"),
    "category.empty": gettext_noop("Categories without a service"),
    "category.wordless": gettext_noop("Categories without words"),
    "overview.empty": gettext_noop("Services without an overview"),
    "service.outranked": gettext_noop("Services whose name leads to another one"),
    "service.duplicate": gettext_noop("Services that are hard to tell apart"),
    "keyword.shared": gettext_noop("Keywords that several categories have"),
    "category.outranked": gettext_noop("Categories whose words lead to another one"),
    "link.form": gettext_noop("Links that do not open or are not encrypted"),
    "text.markup": gettext_noop("Texts with markup in them"),
    "link.duplicate": gettext_noop("Links that several services have"),
    "translation.figures": gettext_noop(
        "Translations and help lines with other figures than the original"
    ),
    "text.missing": gettext_noop(
        "What is said to a message that is no question, missing in a language"
    ),
    "budget.terms": gettext_noop("Entries that are too long for the token budget"),
}


def table(name: Table) -> str:
    return gettext(_TABLES[name])


def column(name: str) -> str:
    label = _COLUMNS.get(name)
    return gettext(label) if label else name.replace("_", " ").capitalize()


def checks() -> Mapping[str, str]:
    return {code: gettext(text) for code, text in _CHECKS.items()}


def heading(field: str) -> str:
    """Return the heading of an answer that stands over a field, as citizens see it."""
    return gettext(headings()[field])
