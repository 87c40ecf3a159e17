"""A release as Open Referral HSDS 3.1: the read-only endpoints that its API requires.

HSDS wants UUIDs. They are made of the addresses that this site publishes (RFC 9562, version 5), and
the addresses stand beside them, so that :mod:`.hsds` reads the same ids and keys back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.pipeline.structured import read_amount
from ieim.studio.standards.addresses import Addresses

JSON: TypeAlias = dict[str, Any]
T = TypeVar("T")

PROFILE: Final = {
    "version": "3.1",
    "profile": "https://docs.openreferral.org/en/3.1/",
    "openapi_url": "https://raw.githubusercontent.com/openreferral/specification/3.1/schema/"
    "openapi.json",
}
"""What the endpoint ``/`` says."""

PAGE_SIZE, LARGEST_PAGE = 50, 500
"""Items of a page without and with ``per_page``."""

FILTERS: Final = (
    *("search", "taxonomy_term_id", "taxonomy_id", "organization_id", "modified_after", "minimal"),
)
"""Parameters that choose items, which are refused: ignored, they would give too many."""


def address_uuid(address: str) -> str:
    """Return the id of what has this address."""
    return str(uuid5(NAMESPACE_URL, address))


def services(release: Release, base: str, query: Mapping[str, str]) -> JSON:
    """Return a page of services, each with all that belongs to it. Raises ValueError."""
    return _page(list(release.services.values()), query, _Writer(release, base).service)


def organizations(release: Release, base: str, query: Mapping[str, str]) -> JSON:
    """Return a page of organizations. Raises ValueError."""
    return _page(list(release.agencies.values()), query, _Writer(release, base).organization)


def service(release: Release, base: str, query: Mapping[str, str], identifier: UUID) -> JSON | None:
    """Return the service with this id, None for an unknown one."""
    writer = _Writer(release, base)
    entries = release.services.values()
    return next((writer.service(s) for s in entries if writer.id_of(s) == str(identifier)), None)


def _page(items: Sequence[T], query: Mapping[str, str], written: Callable[[T], JSON]) -> JSON:
    if refused := next((name for name in FILTERS if name in query), ""):
        raise ValueError(f"{refused} is not offered: leave it out, and choose from all entries.")
    texts = query.get("page", "1"), query.get("per_page", str(PAGE_SIZE))
    number, size = (int(text) if text.isdecimal() and len(text) < 10 else 0 for text in texts)
    if not number or not 0 < size <= LARGEST_PAGE:
        raise ValueError(f"Give page as a number from 1, and per_page from 1 to {LARGEST_PAGE}.")
    contents = [written(item) for item in items[(number - 1) * size : number * size]]
    pages = max(1, -(-len(items) // size))
    return {
        "total_items": len(items),
        "total_pages": pages,
        "page_number": number,
        "size": len(contents),
        "first_page": number == 1,
        "last_page": number >= pages,
        "empty": not contents,
        "contents": contents,
    }


class _Writer:
    def __init__(self, release: Release, base: str) -> None:
        self._release = release
        self._addresses = Addresses(base)

    def id_of(self, service: Service) -> str:
        return address_uuid(self._addresses.service(service.agency, service.key))

    def organization(self, agency: Agency) -> JSON:
        address = self._addresses.agency(agency.id)
        members = {"website": agency.path} if _is_url(agency.path) else {}
        about = {"name": agency.name, "description": agency.description, "uri": address}
        return {"id": address_uuid(address), **about, **members}

    def service(self, service: Service) -> JSON:
        address = self._addresses.service(service.agency, service.key)
        identifier = address_uuid(address)
        organization = self.organization(self._release.agencies[service.agency])

        def parts(name: str, *values: str) -> list[JSON]:
            ids = (address_uuid(f"{address}#{name}/{number}") for number in range(len(values)))
            pairs = zip(ids, values, strict=True)
            return [{"id": id_, "service_id": identifier, name: v} for id_, v in pairs if v.strip()]

        members = {
            "id": identifier,
            "organization_id": organization["id"],
            "name": service.name,
            "description": service.overview,
            "url": service.url,
            "additional_urls": parts("url", address, service.path * _is_url(service.path)),
            "status": "active",
            "application_process": "\n".join(service.how_to_apply),
            "fees_description": service.fees,
            "cost_options": [
                {"id": address_uuid(f"{address}#cost/{number}"), "service_id": identifier, **option}
                for number, option in enumerate(map(_cost_option, service.amounts))
            ],
            "wait_time": service.processing_time,
            "eligibility_description": service.applicability_summary,
            "service_at_locations": parts("description", service.contact),
            "organization": organization,
            "required_documents": parts("document", *service.requirements),
            "attributes": [
                self._attribute(service.agency, key, identifier) for key in service.categories
            ],
        }
        return {name: value for name, value in members.items() if value}

    def _attribute(self, agency: str, key: str, service: str) -> JSON:
        address = self._addresses.category(agency, key)
        name = self._release.categories[agency, key].value
        term = {"id": address_uuid(address), "code": key, "name": name, "description": ""}
        identifier = address_uuid(f"{service}/{address}")
        link = {"id": identifier, "link_id": service, "link_entity": "service"}
        return {**link, "taxonomy_term": {**term, "term_uri": address}}


def _cost_option(text: str) -> JSON:
    amount = read_amount(text)
    option = {"option": amount.purpose} if amount.purpose else {}
    return {**option, "amount": float(amount.value), "currency": amount.currency}


def _is_url(path: str) -> bool:
    return path.lower().startswith(("http://", "https://"))
