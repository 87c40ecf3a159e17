"""References to what is not there."""

from __future__ import annotations

from collections.abc import Iterator

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.rows import Table
from ieim.studio.checks.remarks import Remark, Severity

CODE = "reference.dangling"


def dangling(bundle: Bundle) -> Iterator[Remark]:
    """Yield an error for every agency, category or service that an entry names in vain."""
    agencies = {agency.id for agency in bundle.agencies}
    categories = {(entry.agency, entry.key) for entry in bundle.dictionary}
    services = {(service.agency, service.key) for service in bundle.services}
    for entry in bundle.dictionary:
        if entry.agency not in agencies:
            yield _remark("dictionary", f"{entry.agency} {entry.key}", entry.agency)
    for service in bundle.services:
        name = f"{service.agency} {service.key}"
        if service.agency not in agencies:
            yield _remark("services", name, service.agency)
        for key in service.categories:
            if (service.agency, key) not in categories:
                yield _remark("services", name, service.agency, "category", key)
    for text in bundle.translations:
        parts = (text.language, text.agency, text.category, text.service)
        name = " ".join(filter(None, parts))
        if text.agency not in agencies:
            yield _remark("translations", name, text.agency)
        if text.category and (text.agency, text.category) not in categories:
            yield _remark("translations", name, text.agency, "category", text.category)
        if text.service and (text.agency, text.service) not in services:
            yield _remark("translations", name, text.agency, "service", text.service)
    yield from _flagless(bundle)


def _flagless(bundle: Bundle) -> Iterator[Remark]:
    flags = {label.code for label in bundle.labels if label.set == "risk_flags"}
    for line in bundle.help_lines:
        if line.flag not in flags:
            name = f"{line.language} {line.flag}"
            yield _remark("help_lines", name, "", "risk flag", line.flag)
    for example in bundle.risk_examples:
        if example.flag not in flags:
            name = f"{example.language} {example.text}"
            yield _remark("risk_examples", name, "", "risk flag", example.flag)


def _remark(table: Table, entry: str, agency: str, what: str = "agency", key: str = "") -> Remark:
    named = f"the {what} “{key or agency}”"
    sentence = f"It names {named}, which is not there: add it, or take it out here."
    return Remark(CODE, Severity.ERROR, table, entry, agency, sentence)
