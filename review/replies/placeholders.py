"""The placeholders of saved replies, filled from a service of the item's release."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ieim.pipeline.facts import facts
from ieim.pipeline.knowledge import Agency, Release, Service

Value = Callable[[Service, Agency], str]
_TOKEN = re.compile(r"\{([^{}\n]*)\}")


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _phone(service: Service, agency: Agency) -> str:
    stated = facts(f"{service.contact}\n{agency.description}")
    return next((fact.text for fact in stated if fact.kind == "phone"), "")


def _link(*addresses: str) -> str:
    return next((a for a in addresses if a.startswith(("http://", "https://"))), "")


PLACEHOLDERS: Mapping[str, Value] = {
    "service.name": lambda service, _: service.name,
    "service.fee": lambda service, _: service.fees,
    "service.time": lambda service, _: service.processing_time,
    "service.requirements": lambda service, _: _list(service.requirements),
    "service.steps": lambda service, _: _list(service.how_to_apply),
    "service.contact": lambda service, _: service.contact,
    "service.address": lambda service, agency: "; ".join(service.places or agency.places),
    "service.hours": lambda service, agency: "; ".join(service.hours or agency.hours),
    "service.link": lambda service, _: _link(service.url, service.path),
    "agency.name": lambda _, agency: agency.name,
    "agency.phone": _phone,
    "agency.address": lambda _, agency: "; ".join(agency.places),
    "agency.hours": lambda _, agency: "; ".join(agency.hours),
    "agency.link": lambda _, agency: _link(agency.path),
}
"""What each placeholder stands for; docs/reviewing.md lists them."""


def unknown(text: str) -> list[str]:
    """Return the names in braces of a text that are no placeholder, in their order."""
    return [name for name in dict.fromkeys(_TOKEN.findall(text)) if name not in PLACEHOLDERS]


def fill(text: str, release: Release, service: Service | None) -> str:
    """Return a text with its placeholders filled; one without a value stays as it is."""
    if service is None:
        return text
    agency = release.agencies[service.agency]
    return _TOKEN.sub(lambda token: PLACEHOLDERS[token[1]](service, agency) or token[0], text)
