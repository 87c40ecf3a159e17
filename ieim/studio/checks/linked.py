"""Links: whether they open, and whether two services have the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import opens
from ieim.knowledge.bundles.rows import Table
from ieim.studio.checks.remarks import Remark, Severity

FORM = "link.form"
DUPLICATE = "link.duplicate"

_WEB = ("http://", "https://")
_SHOWN = 3


def links(bundle: Bundle) -> Iterator[Remark]:
    """Yield links that do not open or are not encrypted, and those that several services have."""
    users: dict[tuple[str, str], list[str]] = defaultdict(list)
    for agency in bundle.agencies:
        yield from _form("agencies", agency.id, agency.id, agency.path)
    for service in bundle.services:
        name = f"{service.agency} {service.key}"
        for link in dict.fromkeys((service.url, service.path)):
            yield from _form("services", name, service.agency, link)
        if service.url:
            users[service.agency, service.url].append(service.key)
    for (agency_id, link), keys in users.items():
        if len(keys) > 1:
            more = f" and {len(keys) - 1 - _SHOWN:,} more" if len(keys) - 1 > _SHOWN else ""
            others = ", ".join(keys[1 : 1 + _SHOWN]) + more
            sentence = (
                f"It has the same link as {others}: {link[:200]}. If that page is not about each "
                "of them, give each its own."
            )
            entry = f"{agency_id} {keys[0]}"
            yield Remark(DUPLICATE, Severity.WARNING, "services", entry, agency_id, sentence)


def _form(table: Table, entry: str, agency: str, link: str) -> Iterator[Remark]:
    lower = link.lower()
    if not lower.startswith(_WEB):
        return  # a path may be words
    if not opens(link):
        sentence = f"The link {link[:200]!r} does not open: write the whole address."
    elif lower.startswith("http://"):
        sentence = f"The link {link[:200]} is not encrypted: use https:// if the site has it."
    else:
        return
    yield Remark(FORM, Severity.WARNING, table, entry, agency, sentence)
