"""Open Referral HSDS 3: services and organizations as its API gives them, or lists of them.

:data:`_AGENCY` and :data:`_SERVICE` say which member is which column; names of people are left out,
they are personal data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ieim.pipeline.findings import pointer
from ieim.studio.standards.addresses import published_identifier
from ieim.studio.standards.graph import Node, Reader, json_node, note_unread
from ieim.studio.standards.hsds_api import address_uuid
from ieim.studio.standards.report import Report
from ieim.studio.standards.rows import Contents, Entry
from ieim.studio.standards.texts import amount, clock, joined, labelled, one_line, pair, steps

EXPECTED = (
    "expected are the names of HSDS 3 (a service has id, name, status and an organization; an "
    "organization has id, name and services), or JSON-LD with @context and @type "
    "(GovernmentService, PublicService)"
)
_PAGE = (
    *("total_items", "total_pages", "page_number", "size", "first_page", "last_page", "empty"),
    *("contents", "id"),
    # Open Referral UK before HSDS 3.
    *("content", "totalElements", "totalPages", "number", "first", "last"),
)
_CONTENTS = ("contents", "content")
_LISTS = ("organizations", "services", "service_at_locations")
_ONLY_SERVICES = (
    *("status", "organization", "organization_id", "service_at_locations", "application_process"),
    *("fees_description", "eligibility_description", "cost_options", "required_documents", "url"),
    *("schedules", "service_areas", "capacities", "alert", "interpretation_services"),
)
_NO_LOSS = frozenset(
    {
        # Ids join the parts of a file: the nesting says the same.
        *("id", "service_id", "organization_id", "location_id", "contact_id", "phone_id"),
        *("link_id", "service_at_location_id", "taxonomy_term_id", "taxonomy_id", "program_id"),
        *("link_entity", "code", "address_type", "term_uri"),
    }
)
"""Members of which nobody misses what is not read."""
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PHONES = {"fax": "Fax", "text": "Text message", "cell": "Mobile", "textphone": "Textphone"}
_CALENDAR = (
    *("byday", "weekday", "opens_at", "closes_at", "freq", "interval", "bymonthday", "byweekno"),
    *("byyearday", "count", "dtstart", "until", "timezone", "wkst"),
)
_ADDRESS = (
    *("address_1", "address_2", "city", "region", "state_province", "postal_code", "country"),
)


def read_hsds(value: Any, report: Report) -> Contents:
    """Return what an HSDS 3 file describes; what is no HSDS becomes problems of ``report``.

    ``value`` is one service or organization, a list of them, or a page with ``contents``.
    """
    contents = Contents("Open Referral HSDS 3", report)
    items = list(_items(value, report))
    catalogue = _Catalogue(contents)
    for item in items:
        catalogue.item(item)
    if not items and not report.problems:
        report.problem("", "has no service and no organization")
    catalogue.inherit_contacts()
    note_unread((node for item in items for node in item.walk()), report, no_loss=_NO_LOSS)
    return contents


def _items(value: Any, report: Report) -> Iterator[Node]:
    """Yield the services, organizations and links between services and locations of a file."""
    if isinstance(value, list):
        yield from _objects(value, "", report)
    elif not isinstance(value, dict):
        report.problem("", "is no JSON object and no list: it is no HSDS 3 file")
    elif name := next((n for n in _CONTENTS if isinstance(value.get(n), list)), ""):
        _note_others(value, _PAGE, report)
        yield from _objects(value[name], pointer(name), report)
    elif "name" not in value and any(isinstance(value.get(name), list) for name in _LISTS):
        _note_others(value, _LISTS, report)
        for name in _LISTS:
            if isinstance(value.get(name), list):
                yield from _objects(value[name], pointer(name), report)
    else:
        yield json_node(value, "")


def _note_others(value: dict[str, Any], names: Iterable[str], report: Report) -> None:
    wrapper = json_node({name: item for name, item in value.items() if name not in names}, "")
    wrapper.reached = True
    note_unread([wrapper], report)


def _objects(items: list[Any], parent: str, report: Report) -> Iterator[Node]:
    for index, item in enumerate(items):
        if isinstance(item, dict):
            yield json_node(item, parent + pointer(index))
        else:
            message = "is no JSON object: a service is expected here"
            report.problem(parent + pointer(index), message)


class _Catalogue:
    """Reads the objects of a file, and adds what they describe to ``contents``."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._report = contents.report
        self._reader = Reader(contents.report)
        self._organizations: dict[str, Node] = {}

    def item(self, item: Node) -> None:
        if any(isinstance(value, Node) for value in item.values.get("service", ())):
            # The API's list of services at locations: a service inside, and where it is.
            for service in self._reader.nodes(item, "service"):
                self.service(service, "", item)
        elif item.has(*_ONLY_SERVICES):
            self.service(item, "")
        elif item.has("id", "name"):
            self.organization(item)
        else:
            message = f"is neither a service nor an organization: {EXPECTED}"
            self._report.problem(item.pointer, message)

    def organization(self, node: Node) -> str:
        """Add an organization with its services, and return its id."""
        identifier = self._identifier(node, self._reader.text(node, "uri"))
        node.skip("uri")
        values = {column: read(node, self._reader) for column, read in _AGENCY.items()}
        self._contents.add("agencies", Entry(identifier, node.pointer, values))
        self._organizations.setdefault(identifier, node)
        for service in self._reader.nodes(node, "services"):
            self.service(service, identifier)
        return identifier

    def service(self, node: Node, agency: str, *links: Node) -> None:
        """Add a service with its categories; ``links`` are places that do not stand in it."""
        urls = [
            self._reader.text(url, "url") for url in self._reader.nodes(node, "additional_urls")
        ]
        identifier = self._identifier(node, *urls)
        agency = agency or self._reader.text(node, "organization_id")
        for organization in self._reader.nodes(node, "organization"):
            agency = self.organization(organization)
        status = self._reader.text(node, "status").lower()
        if status in ("inactive", "defunct"):
            why = "a service that is no longer offered: it is not taken over"
            self._report.left_out(node.pointer_of("status"), why)
            node.values.clear()
            return
        if status not in ("", "active"):
            why = "the service is closed for a while: a notice can say so"
            self._report.left_out(node.pointer_of("status"), why)
        values = {column: read(node, self._reader) for column, read in _SERVICE.items()}
        values["contact"] = _contact(node, self._reader, links)
        values["path"] = next((url for url in urls if not published_identifier(url)), "")
        if not values["name"] and not agency:
            self._report.problem(node.pointer, f"has no name and no organization: {EXPECTED}")
        entry = Entry(identifier, node.pointer, values, agency=agency)
        for attribute in self._reader.nodes(node, "attributes"):
            for term in self._reader.nodes(attribute, "taxonomy_term"):
                entry.categories.extend(self._category(term, agency))
        self._contents.add("services", entry)

    def inherit_contacts(self) -> None:
        """Give services without a contact that of their organization."""
        for entry in self._contents.of("services"):
            node = self._organizations.get(entry.agency)
            if node and not entry.values["contact"]:
                places = _each(node, self._reader, _location, "locations")
                entry.values["contact"] = joined([*_direct(node, self._reader), *places])

    def _category(self, term: Node, agency: str) -> Iterator[str]:
        name = self._reader.text(term, "name")
        identifier = self._reader.text(term, "code", "id") or name
        if name and identifier.strip():
            entry = Entry(identifier, term.pointer, {"value": name}, agency=agency)
            self._contents.add("dictionary", entry)
            yield identifier
        else:
            self._report.left_out(term.pointer, "a taxonomy term without a name")

    def _identifier(self, node: Node, *addresses: str) -> str:
        """Return the id of a node: what we called it where it and its address are of our making."""
        identifier = self._reader.text(node, "id").strip()
        for address in addresses:
            if (published := published_identifier(address)) and address_uuid(address) == identifier:
                return published
        if not identifier:
            message = "has no id: HSDS 3 gives one to every service and organization"
            self._report.problem(node.pointer, message)
        return identifier


_Lines: TypeAlias = Callable[[Node, Reader], "Iterable[str]"]


def _text(*names: str) -> Callable[[Node, Reader], str]:
    return lambda node, reader: reader.text(node, *names)


def _each(node: Node, reader: Reader, lines: _Lines, *names: str) -> list[str]:
    """Return the lines of every object of these members."""
    return [line for item in reader.nodes(node, *names) for line in lines(item, reader)]


def _listed(node: Node, reader: Reader, names: tuple[str, ...], *texts: str) -> str:
    """Return a text of every object of a member, each once, between commas."""
    items = (one_line(reader.text(item, *texts)) for item in reader.nodes(node, *names))
    return ", ".join(dict.fromkeys(filter(None, items)))


def _requirements(service: Node, reader: Reader) -> list[str]:
    return [
        _with(reader.text(document, "document"), reader.text(document, "uri"))
        for document in reader.nodes(service, "required_documents")
    ]


def _fees(service: Node, reader: Reader) -> str:
    lines = [reader.text(service, "fees_description", "fees")]
    for option in reader.nodes(service, "cost_options"):
        if _amount(option, reader):
            continue
        money = f"{reader.text(option, 'amount')} {reader.text(option, 'currency').upper()}".strip()
        line = pair(one_line(reader.text(option, "option")), money)
        line = _with(line, one_line(reader.text(option, "amount_description")))
        lines.append(f"{line} {_validity(option, reader)}".strip())
    return joined(lines)


def _amounts(service: Node, reader: Reader) -> list[str]:
    options = reader.nodes(service, "cost_options")
    return [text for option in options if (text := _amount(option, reader))]


def _amount(option: Node, reader: Reader) -> str:
    """Return an option as an amount, "" for one of which that would not say all."""
    if option.has("amount_description", "valid_from", "valid_to"):
        return ""
    value, currency = reader.text(option, "amount"), reader.text(option, "currency")
    return amount(value, currency, reader.text(option, "option"))


def _eligibility(service: Node, reader: Reader) -> str:
    low, high = reader.text(service, "minimum_age"), reader.text(service, "maximum_age")
    ages = f"{low} to {high}" if low and high else f"{low} or older" if low else ""
    ages = ages or (f"up to {high}" if high else "")
    area = _listed(service, reader, ("service_areas",), "name", "description")
    text = reader.text(service, "eligibility_description", "eligibility")
    return joined([text, labelled("Age", ages), labelled("Area", area)])


def _contact(service: Node, reader: Reader, links: Iterable[Node]) -> str:
    """Return how a service is reached: email, phones, posts, places, hours, languages."""
    lines = [*_direct(service, reader), *_hours(service, reader)]
    for link in (*reader.nodes(service, "service_at_locations"), *links):
        lines.append(reader.text(link, "description"))
        lines += _each(link, reader, _location, "location")
        lines += [*_direct(link, reader), *_hours(link, reader)]
    lines += [_languages(service, reader), reader.text(service, "interpretation_services")]
    return joined(lines)


def _direct(node: Node, reader: Reader) -> Iterator[str]:
    yield labelled("Email", reader.text(node, "email"))
    yield from _each(node, reader, _phone, "phones")
    for person in reader.nodes(node, "contacts"):
        if person.has("name"):
            person.skip("name")
            reader.report.left_out(person.pointer_of("name"), "a person's name is not taken over")
        post = filter(None, (reader.text(person, "title"), reader.text(person, "department")))
        reached = (reader.text(person, "email"), *_each(person, reader, _phone, "phones"))
        yield pair(", ".join(post), ", ".join(filter(None, reached)))


def _phone(phone: Node, reader: Reader) -> Iterator[str]:
    number = one_line(reader.text(phone, "number"))
    kind = _PHONES.get(reader.text(phone, "type").lower(), "Phone")
    extension = reader.text(phone, "extension")
    about = (one_line(reader.text(phone, "description")), _languages(phone, reader))
    if number:
        number += f" ext. {extension}" if extension else ""
        yield labelled(kind, _with(number, "; ".join(filter(None, about))))


def _languages(node: Node, reader: Reader) -> str:
    return labelled("Languages", _listed(node, reader, ("languages",), "name", "code"))


def _location(location: Node, reader: Reader) -> Iterator[str]:
    addresses = _each(
        location, reader, _address, "addresses", "physical_addresses", "physical_address"
    )
    address = "; ".join(dict.fromkeys(addresses)) or reader.text(location, "url")
    yield pair(one_line(reader.text(location, "name")), address)
    yield from (reader.text(location, name) for name in ("description", "transportation"))
    yield from _direct(location, reader)
    yield from _hours(location, reader)
    yield _languages(location, reader)
    for access in reader.nodes(location, "accessibility"):
        about = f"{reader.text(access, 'description')} {reader.text(access, 'details')}"
        yield labelled("Access", one_line(about))


def _address(address: Node, reader: Reader) -> Iterator[str]:
    parts = (one_line(reader.text(address, name)) for name in _ADDRESS)
    if line := ", ".join(dict.fromkeys(filter(None, parts))):
        yield line


def _hours(node: Node, reader: Reader) -> Iterator[str]:
    for schedule in reader.nodes(node, "schedules", "regular_schedules", "regular_schedule"):
        words = one_line(reader.text(schedule, "description"))
        if words:
            schedule.skip(*_CALENDAR)
        elif not (words := _week(schedule, reader)):
            why = "a schedule that cannot be put into words"
            reader.report.left_out(schedule.pointer_of("byday"), why)
            continue
        notes = f"{reader.text(schedule, 'notes')} {_validity(schedule, reader)}"
        yield labelled("Hours", one_line(f"{words} {notes}"))


def _week(schedule: Node, reader: Reader) -> str:
    """Return a weekly or daily schedule in words, "" for another."""
    marks = ",".join(reader.texts(schedule, "byday", "weekday")).split(",")
    days = [_day(mark.strip()) for mark in marks if mark.strip()]
    times = [clock(reader.text(schedule, name)) for name in ("opens_at", "closes_at")]
    frequency = reader.text(schedule, "freq").upper()
    if frequency == "DAILY" and not days:
        frequency, days = "", ["Every day"]
    is_regular = frequency in ("", "WEEKLY") and reader.text(schedule, "interval") in ("", "1")
    if not is_regular or "" in days:
        return ""
    return pair(", ".join(days), " to ".join(filter(None, times)))


def _day(mark: str) -> str:
    """Return the day of "MO" or "Monday" in words, "" for another mark ("1MO")."""
    lowered = mark.lower()
    return next((d for d in _DAYS if lowered[1:] and d.lower().startswith(lowered)), "")


def _validity(node: Node, reader: Reader) -> str:
    """Return from when until when something holds, in brackets, "" for ever."""
    names = (("from", "valid_from"), ("until", "valid_to"))
    return _with("", " ".join(f"{w} {day}" for w, n in names if (day := reader.text(node, n))))


def _with(text: str, note: str) -> str:
    return " ".join(filter(None, (text, f"({note})" if note else "")))


_Column: TypeAlias = Callable[[Node, Reader], "str | list[str]"]

_AGENCY: Mapping[str, _Column] = {
    "name": _text("name"),
    "description": _text("description"),
    "path": _text("website"),
}
_SERVICE: Mapping[str, _Column] = {
    "name": _text("name"),
    "overview": _text("description"),
    "applicability_summary": _eligibility,
    "requirements": _requirements,
    "fees": _fees,
    "amounts": _amounts,
    "processing_time": _text("wait_time"),
    "how_to_apply": lambda node, reader: steps(reader.text(node, "application_process")),
    "url": _text("url"),
}
"""What of a service is which column, but for its contact, which places outside of it have too."""
