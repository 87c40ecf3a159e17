"""Reading the dictionary of an agency with its services."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ieim.studio.models import Category, ExampleQuestion, Service


@dataclass(frozen=True, slots=True)
class Section:
    """A category with its services, each with how many example questions it has.

    None is no category: services that no category of the dictionary reaches.
    """

    category: Category | None
    services: list[tuple[Service, int]]


def sections_of(agency: str) -> list[Section]:
    """Return the categories of an agency in their order, and what is in none at the end."""
    asked = Counter(ExampleQuestion.objects.filter(agency=agency).values_list("service", flat=True))
    sections = {row.key: Section(row, []) for row in Category.objects.filter(agency=agency)}
    unreached = Section(None, [])
    columns = ("agency_id", "key", "name", "categories")
    for service in Service.objects.filter(agency=agency).only(*columns):
        keys = [key for key in dict.fromkeys(service.categories) if key in sections]
        for section in [sections[key] for key in keys] or [unreached]:
            section.services.append((service, asked[service.key]))
    return [*sections.values(), *([unreached] if unreached.services else [])]
