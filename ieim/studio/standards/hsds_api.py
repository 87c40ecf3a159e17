"""A release as Open Referral HSDS 3.1: the read-only endpoints that its API requires.

HSDS wants UUIDs. They are made of the addresses that this site publishes (RFC 9562, version 5), and
the addresses stand beside them, so that :mod:`.hsds` reads the same ids and keys back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

from ieim.pipeline.knowledge import Agency, Release, Service
from ieim.studio.standards.addresses import Addresses

JSON: TypeAlias = dict[str, Any]
T = TypeVar("T")

PROFILE = {
    "version": "3.1",
    "profile": "https://docs.openreferral.org/en/3.1/",
    "openapi_url": "https://raw.githubusercontent.com/openreferral/specification/3.1/schema/"
    "openapi.json",
}
"""What the endpoint ``/`` says."""


def address_uuid(address: str) -> str:
    """Return the id of what has this address."""
    return str(uuid5(NAMESPACE_URL, address))


def page(items: Sequence[T], number: int, size: int, written: Callable[[T], JSON]) -> JSON:
    """Return page ``number`` (from 1) of ``size`` items, as HSDS has its lists."""
    pages = max(1, -(-len(items) // size))
    contents = [written(item) for item in items[(number - 1) * size : number * size]]
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


class HsdsWriter:
    """Writes services and organizations of a release; ``base`` as in :class:`Addresses`."""

    def __init__(self, release: Release, base: str) -> None:
        self._release = release
        self._addresses = Addresses(base)

    def find_service(self, identifier: UUID) -> Service | None:
        """Return the service with this id, None for an unknown one."""
        services = self._release.services.values()
        addresses = ((self._addresses.service(s.agency, s.key), s) for s in services)
        return next(
            (s for address, s in addresses if address_uuid(address) == str(identifier)), None
        )

    def find_agency(self, identifier: UUID) -> Agency | None:
        """Return the agency with this id, None for an unknown one."""
        agencies = self._release.agencies.values()
        addresses = ((self._addresses.agency(agency.id), agency) for agency in agencies)
        return next(
            (a for address, a in addresses if address_uuid(address) == str(identifier)), None
        )

    def organization(self, agency: Agency) -> JSON:
        """Return an agency."""
        address = self._addresses.agency(agency.id)
        return _filled(
            {
                "id": address_uuid(address),
                "name": agency.name,
                "website": _url(agency.path),
                "uri": address,
            },
            description=agency.description,
        )

    def service(self, service: Service) -> JSON:
        """Return a service with its organization inside."""
        address = self._addresses.service(service.agency, service.key)
        identifier = address_uuid(address)

        def entry(name: str, number: int, **members: Any) -> JSON:
            part = address_uuid(f"{address}#{name}/{number}")
            return {"id": part, "service_id": identifier, **members}

        organization = self.organization(self._release.agencies[service.agency])
        links = [("JSON-LD", address), ("Page", _url(service.path))]
        properties = {
            "id": identifier,
            "organization_id": organization["id"],
            "name": service.name,
            "description": service.overview,
            "url": service.url,
            "additional_urls": [
                entry("url", number, label=label, url=url)
                for number, (label, url) in enumerate(links)
                if url
            ],
            "status": "active",
            "application_process": "\n".join(service.how_to_apply),
            "fees_description": service.fees,
            "wait_time": service.processing_time,
            "eligibility_description": service.applicability_summary,
            "service_at_locations": [entry("contact", 0, description=service.contact)]
            if service.contact.strip()
            else [],
            "organization": organization,
            "required_documents": [
                entry("document", number, document=document)
                for number, document in enumerate(service.requirements)
            ],
            "attributes": list(self._attributes(service, identifier)),
        }
        return _filled(properties)

    def _attributes(self, service: Service, identifier: str) -> Iterator[JSON]:
        for key in service.categories:
            address = self._addresses.category(service.agency, key)
            term = {
                "id": address_uuid(address),
                "code": key,
                "name": self._release.categories[service.agency, key].value,
                "description": "",
                "term_uri": address,
            }
            yield {
                "id": address_uuid(f"{identifier}/{address}"),
                "link_id": identifier,
                "link_entity": "service",
                "taxonomy_term_id": term["id"],
                "taxonomy_term": term,
            }


def _url(path: str) -> str:
    return path if path.lower().startswith(("http://", "https://")) else ""


def _filled(members: JSON, **required: str) -> JSON:
    return {name: value for name, value in members.items() if value} | required
