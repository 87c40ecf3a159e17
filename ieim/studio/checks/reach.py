"""Services and categories that a citizen's question cannot reach, or that then say nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import Table
from ieim.studio.checks.remarks import Remark, Severity

EMPTY = "overview.empty"
UNREACHED = "category.unreached"
NOWHERE = "category.empty"
WORDLESS = "category.wordless"


def silent(bundle: Bundle) -> Iterator[Remark]:
    """Yield services without an overview."""
    for service in bundle.services:
        if not service.overview.strip():
            sentence = "It has no overview: say in a few short sentences what it is."
            yield _remark(EMPTY, "services", service.agency, service.key, sentence)


def unreached(bundle: Bundle) -> Iterator[Remark]:
    """Yield services that no category reaches, and categories that lead to no service or have no
    words to be found by."""
    known = {(entry.agency, entry.key) for entry in bundle.dictionary}
    used = set()
    for service in bundle.services:
        mine = {(service.agency, key) for key in service.categories} & known
        used |= mine
        if not mine:
            sentence = "No category reaches it: give it one of its agency's dictionary."
            yield _remark(UNREACHED, "services", service.agency, service.key, sentence)
    for entry in bundle.dictionary:
        if (entry.agency, entry.key) not in used:
            sentence = "No service is in this category: put one in, or remove the category."
            yield _remark(NOWHERE, "dictionary", entry.agency, entry.key, sentence)
        if not "".join((entry.value, *entry.keywords)).strip():
            sentence = "It has neither a value nor keywords: nobody's words lead to it. Add some."
            yield _remark(WORDLESS, "dictionary", entry.agency, entry.key, sentence)


def _remark(code: str, table: Table, agency: str, key: str, sentence: str) -> Remark:
    return Remark(code, Severity.WARNING, table, f"{agency} {key}", agency, sentence)
