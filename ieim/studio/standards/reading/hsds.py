"""Open Referral HSDS 3: services and organizations as its API gives them, or lists of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ieim.pipeline.findings import pointer
from ieim.studio.standards.found import Finds, Found
from ieim.studio.standards.reading.hsds_texts import contact, eligibility, fees, joined
from ieim.studio.standards.reading.texts import steps
from ieim.studio.standards.reading.thing import Thing
from ieim.studio.standards.report import Report

_PAGE = (
    *("total_items", "total_pages", "page_number", "size", "first_page", "last_page", "empty"),
    *("contents", "id"),
)
_LISTS = ("organizations", "services", "service_at_locations")
_ONLY_SERVICES = (
    *("status", "organization", "organization_id", "service_at_locations", "application_process"),
    *("fees_description", "eligibility_description", "cost_options", "required_documents", "url"),
    *("schedules", "service_areas", "capacities", "alert", "interpretation_services"),
)
_GONE = ("inactive", "defunct")


def read_hsds(value: Any, report: Report) -> Finds:
    """Return what an HSDS 3 file describes; what is no HSDS becomes problems of ``report``.

    ``value`` is one service or organization, a list of them, or a page with ``contents``.
    """
    finds = Finds("Open Referral HSDS 3", report)
    items = list(_items(value, report))
    for item in items:
        _read_item(item, finds)
    if not items and not report.problems:
        report.problem("", "has no service and no organization")
    for item in items:
        item.tell_rest()
    return finds


def _items(value: Any, report: Report) -> Iterator[Thing]:
    """Yield the services, organizations and links between services and locations of a file."""
    if isinstance(value, list):
        yield from _objects(value, "", report)
        return
    if not isinstance(value, dict):
        report.problem("", "is no JSON object and no list: it is no HSDS 3 file")
        return
    whole = Thing(value, "", report)
    if isinstance(value.get("contents"), list):
        whole.skip(*_PAGE)
        whole.tell_rest()
        yield from _objects(value["contents"], "/contents", report)
    elif "name" not in value and any(isinstance(value.get(name), list) for name in _LISTS):
        whole.skip(*_LISTS)
        whole.tell_rest()
        for name in _LISTS:
            if isinstance(value.get(name), list):
                yield from _objects(value[name], pointer(name), report)
    else:
        yield whole


def _objects(items: list[Any], at: str, report: Report) -> Iterator[Thing]:
    for index, item in enumerate(items):
        if isinstance(item, dict):
            yield Thing(item, at + pointer(index), report)
        else:
            report.problem(at + pointer(index), "is no JSON object: a service is expected here")


def _read_item(item: Thing, finds: Finds) -> None:
    if item.has("service"):
        # The API's list of services at locations: a service inside, and where it is.
        for service in item.things("service"):
            _read_service(service, "", finds, item)
    elif item.has(*_ONLY_SERVICES):
        _read_service(item, "", finds)
    elif item.has("id", "name"):
        _read_organization(item, finds)
    else:
        finds.report.problem(item.at, "is neither a service nor an organization of HSDS 3")


def _read_organization(thing: Thing, finds: Finds) -> str:
    identifier = _identifier(thing, finds.report)
    joined(thing).skip("uri")
    values = {
        "name": thing.text("name"),
        "description": thing.text("description"),
        "path": thing.text("website"),
    }
    at = {"path": thing.where("website"), "description": thing.where("description")}
    finds.add_agency(Found(identifier, thing.at, values, at=at))
    for service in thing.things("services"):
        _read_service(service, identifier, finds)
    return identifier


def _read_service(thing: Thing, agency: str, finds: Finds, *links: Thing) -> None:
    identifier = _identifier(thing, finds.report)
    agency = agency or thing.text("organization_id")
    for organization in thing.things("organization"):
        agency = _read_organization(organization, finds)
    status = thing.text("status").lower()
    if status in _GONE:
        thing.leave("status", "a service that is no longer offered: it is not taken over")
        return
    if status not in ("", "active"):
        thing.leave("status", "the service is closed for a while: a notice can say so")
    joined(thing)
    found = Found(
        identifier,
        thing.at,
        {
            "name": thing.text("name"),
            "overview": thing.text("description"),
            "applicability_summary": eligibility(thing),
            "requirements": [_document(joined(d)) for d in thing.things("required_documents")],
            "fees": fees(thing),
            "processing_time": thing.text("wait_time"),
            "how_to_apply": steps(thing.text("application_process")),
            "contact": contact(thing, *links),
            "url": thing.text("url"),
        },
        agency=agency,
        at={"url": thing.where("url"), "overview": thing.where("description")},
    )
    for attribute in thing.things("attributes"):
        joined(attribute)
        for term in attribute.things("taxonomy_term"):
            found.categories.extend(_category(term, agency, finds))
    finds.add_service(found)


def _document(document: Thing) -> str:
    link = document.text("uri")
    return " ".join(filter(None, (document.text("document"), f"({link})" if link else "")))


def _category(term: Thing, agency: str, finds: Finds) -> Iterator[str]:
    name = term.text("name")
    identifier = term.text("code") or term.text("id") or name
    joined(term).skip("code", "id")
    if not name or not identifier.strip():
        finds.report.left_out(term.at, "a taxonomy term without a name")
        return
    finds.add_category(Found(identifier, term.at, {"value": name}, agency=agency))
    yield identifier


def _identifier(thing: Thing, report: Report) -> str:
    identifier = thing.text("id").strip()
    if not identifier:
        report.problem(thing.at, "has no id: HSDS 3 gives one to every service and organization")
    return identifier
