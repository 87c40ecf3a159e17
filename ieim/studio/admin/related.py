"""Ways from an entry to what belongs to it."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from ieim.studio.models import Agency, Category, DraftEntry, Service


def related(entry: DraftEntry) -> list[tuple[str, str]]:
    """Return ``(text, address)`` of the lists, and of the page that adds a translation."""
    if isinstance(entry, Agency):
        of_agency = {"agency__id__exact": entry.pk}
        return [
            (gettext("Services"), _address("service", "changelist", of_agency)),
            (gettext("Dictionary"), _address("category", "changelist", of_agency)),
            (gettext("Translations"), _address("translation", "changelist", of_agency)),
            (gettext("Add a service"), _address("service", "add", {"agency": entry.pk})),
            (gettext("Add a translation"), _address("translation", "add", {"agency": entry.pk})),
        ]
    if isinstance(entry, Category | Service):
        key = {"service" if isinstance(entry, Service) else "category": entry.key}
        of_agency = {"agency__id__exact": entry.agency_id}
        return [
            (gettext("Translations"), _address("translation", "changelist", of_agency | key)),
            (
                gettext("Add a translation"),
                _address("translation", "add", {"agency": entry.agency_id} | key),
            ),
        ]
    return []


def _address(model: str, page: str, query: dict[str, str]) -> str:
    return f"{reverse(f'admin:studio_{model}_{page}')}?{urlencode(query)}"
