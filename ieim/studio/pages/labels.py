"""Labels of tables, columns and checks on the editors' pages."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext, gettext_noop

from ieim.knowledge.bundles.rows import Table
from ieim.studio.labels import column_name

_TABLES: Mapping[Table, str] = {
    "agencies": gettext_noop("Agency"),
    "dictionary": gettext_noop("Category"),
    "services": gettext_noop("Service"),
    "labels": gettext_noop("Label"),
    "translations": gettext_noop("Translation"),
    "help_lines": gettext_noop("Help line"),
    "risk_examples": gettext_noop("Example of a risk flag"),
    "texts": gettext_noop("Text to what is no question"),
    "situations": gettext_noop("Situation"),
    "questions": gettext_noop("Example question"),
}

_COLUMNS: Mapping[str, str] = {
    "applicability_summary": gettext_noop("Who it is for"),
    "path": gettext_noop("Page or place"),
    "url": gettext_noop("Link"),
    "value": gettext_noop("Category"),
}
"""Columns with another label than where they are edited."""

_CHECKS: Mapping[str, str] = {
    "draft.empty": gettext_noop("Nothing to publish"),
    "entry.invalid": gettext_noop("Entries that break a rule"),
    "reference.dangling": gettext_noop("References to what is not there"),
    "category.unreached": gettext_noop("Services that no category reaches"),
    "category.empty": gettext_noop("Categories without a service"),
    "category.wordless": gettext_noop("Categories without words"),
    "overview.empty": gettext_noop("Services without an overview"),
    "question.golden": gettext_noop("Example questions that are golden questions too"),
    "question.shared": gettext_noop("Questions of a situation that a service has too"),
    "situation.empty": gettext_noop("Situations without services"),
    "situation.unasked": gettext_noop("Situations without questions"),
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
    return gettext(_COLUMNS[name]) if name in _COLUMNS else column_name(name)


def checks() -> Mapping[str, str]:
    return {code: gettext(text) for code, text in _CHECKS.items()}
