"""Open Referral HSDS 3: services and organizations as its API gives them, or lists of them.

:data:`_AGENCY` and :data:`_SERVICE` say which member is which column; names of people are left out,
they are personal data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ieim.knowledge.bundles.columns import Values
from ieim.pipeline.findings import pointer
from ieim.studio.standards.addresses import published_identifier
from ieim.studio.standards.graph import (
    Column,
    Node,
    Reader,
    each,
    entries,
    json_node,
    lines,
    listed,
    note_unread,
    text,
    texts,
)
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
    lists: list[tuple[str, list[Any]]] = []
    if isinstance(value, list):
        lists = [("", value)]
    elif not isinstance(value, dict):
        report.problem("", "is no JSON object and no list: it is no HSDS 3 file")
    else:
        names = [name for name in ("contents", "content") if isinstance(value.get(name), list)][:1]
        if not names and "name" not in value:
            names = [name for name in _LISTS if isinstance(value.get(name), list)]
        if not names:
            yield json_node(value, "")
            return
        lists = [(pointer(name), value[name]) for name in names]
        wrapping = _PAGE if names[0] not in _LISTS else _LISTS
        wrapper = json_node({n: item for n, item in value.items() if n not in wrapping}, "")
        wrapper.reached = True
        note_unread([wrapper], report)
    for parent, items in lists:
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
        urls = list(each("additional_urls", of=[texts("url")])(node, self._reader))
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
        values: Values = {column: read(node, self._reader) for column, read in _SERVICE.items()}
        places = (_PLACES(link, self._reader) for link in links)
        values["contact"] = joined([values["contact"], *places])
        values["path"] = next((url for url in urls if not published_identifier(url)), "")
        if not values["name"] and not agency:
            self._report.problem(node.pointer, f"has no name and no organization: {EXPECTED}")
        entry = Entry(identifier, node.pointer, values, agency=agency)
        for attribute in self._reader.nodes(node, "attributes"):
            for term in self._reader.nodes(attribute, "taxonomy_term"):
                name = self._reader.text(term, "name")
                key = self._reader.text(term, "code", "id") or name
                if name and key.strip():
                    category = Entry(key, term.pointer, {"value": name}, agency=agency)
                    self._contents.add("dictionary", category)
                    entry.categories.append(key)
                else:
                    self._report.left_out(term.pointer, "a taxonomy term without a name")
        self._contents.add("services", entry)

    def inherit_contacts(self) -> None:
        """Give services without a contact that of their organization."""
        for entry in self._contents.of("services"):
            node = self._organizations.get(entry.agency)
            if node and not entry.values["contact"]:
                entry.values["contact"] = _ORGANIZATION(node, self._reader)

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


def _with(text: str, note: str) -> str:
    return " ".join(filter(None, (text, f"({note})" if note else "")))


def _validity(node: Node, reader: Reader) -> str:
    """Return from when until when something holds, in brackets, "" for ever."""
    names = (("from", "valid_from"), ("until", "valid_to"))
    return _with("", " ".join(f"{w} {day}" for w, n in names if (day := reader.text(node, n))))


def _document(document: Node, reader: Reader) -> Iterator[str]:
    yield _with(reader.text(document, "document"), reader.text(document, "uri"))


def _amount(option: Node, reader: Reader) -> Iterator[str]:
    """Yield an option as an amount, unless that would not say all of it."""
    if not option.has("amount_description", "valid_from", "valid_to"):
        value, currency = reader.text(option, "amount"), reader.text(option, "currency")
        yield amount(value, currency, reader.text(option, "option"))


def _cost(option: Node, reader: Reader) -> Iterator[str]:
    if any(_amount(option, reader)):
        return
    money = f"{reader.text(option, 'amount')} {reader.text(option, 'currency').upper()}".strip()
    line = pair(one_line(reader.text(option, "option")), money)
    line = _with(line, one_line(reader.text(option, "amount_description")))
    yield f"{line} {_validity(option, reader)}".strip()


def _ages(service: Node, reader: Reader) -> Iterator[str]:
    low, high = reader.text(service, "minimum_age"), reader.text(service, "maximum_age")
    ages = f"{low} to {high}" if low and high else f"{low} or older" if low else ""
    yield labelled("Age", ages or (f"up to {high}" if high else ""))


def _phone(phone: Node, reader: Reader) -> Iterator[str]:
    number, extension = reader.text(phone, "number"), reader.text(phone, "extension")
    kind = _PHONES.get(reader.text(phone, "type").lower(), "Phone")
    about = (one_line(reader.text(phone, "description")), *_SPOKEN(phone, reader))
    if number:
        number = one_line(number) + (f" ext. {extension}" if extension else "")
        yield labelled(kind, _with(number, "; ".join(filter(None, about))))


def _post(person: Node, reader: Reader) -> Iterator[str]:
    if person.has("name"):
        person.skip("name")
        reader.report.left_out(person.pointer_of("name"), "a person's name is not taken over")
    post = filter(None, (reader.text(person, "title"), reader.text(person, "department")))
    reached = (reader.text(person, "email"), *_NUMBERS(person, reader))
    yield pair(", ".join(post), ", ".join(filter(None, reached)))


def _address(location: Node, reader: Reader) -> Iterator[str]:
    names = ("addresses", "physical_addresses", "physical_address")
    lines = each(*names, of=[listed(*_ADDRESS)])(location, reader)
    address = "; ".join(filter(None, dict.fromkeys(lines))) or reader.text(location, "url")
    yield pair(one_line(reader.text(location, "name")), address)


def _access(access: Node, reader: Reader) -> Iterator[str]:
    about = f"{reader.text(access, 'description')} {reader.text(access, 'details')}"
    yield labelled("Access", one_line(about))


def _schedule(schedule: Node, reader: Reader) -> Iterator[str]:
    words = one_line(reader.text(schedule, "description"))
    if words:
        schedule.skip(*_CALENDAR)
    elif not (words := _week(schedule, reader)):
        why = "a schedule that cannot be put into words"
        reader.report.left_out(schedule.pointer_of("byday"), why)
        return
    notes = f"{reader.text(schedule, 'notes')} {_validity(schedule, reader)}"
    yield labelled("Hours", one_line(f"{words} {notes}"))


def _week(schedule: Node, reader: Reader) -> str:
    """Return a weekly or daily schedule in words, "" for another."""
    marks = ",".join(reader.texts(schedule, "byday", "weekday")).lower().split(",")
    # "MO" or "Monday", and no other mark ("1MO").
    days = [
        next((day for day in _DAYS if mark[1:] and day.lower().startswith(mark)), "")
        for mark in filter(None, map(str.strip, marks))
    ]
    times = [clock(reader.text(schedule, name)) for name in ("opens_at", "closes_at")]
    frequency = reader.text(schedule, "freq").upper()
    if frequency == "DAILY" and not days:
        frequency, days = "", ["Every day"]
    is_regular = frequency in ("", "WEEKLY") and reader.text(schedule, "interval") in ("", "1")
    if not is_regular or "" in days:
        return ""
    return pair(", ".join(days), " to ".join(filter(None, times)))


_SPOKEN = listed("languages", label="Languages")
_NUMBERS = each("phones", of=[_phone])
_HOURS = each("schedules", "regular_schedules", "regular_schedule", of=[_schedule])
_DIRECT = (texts("email", label="Email"), _NUMBERS, each("contacts", of=[_post]))
_PLACE = (
    _address,
    texts("description"),
    texts("transportation"),
    *_DIRECT,
    _HOURS,
    _SPOKEN,
    each("accessibility", of=[_access]),
)
_LINK = (texts("description"), each("location", of=_PLACE), *_DIRECT, _HOURS)
"""What a link between a service and a location says of how to reach it."""
_PLACES = lines(*_LINK)
_ORGANIZATION = lines(*_DIRECT, each("locations", of=_PLACE))
_AGENCY: Mapping[str, Column] = {
    "name": text("name"),
    "description": text("description"),
    "path": text("website"),
}
_SERVICE: Mapping[str, Column] = {
    "name": text("name"),
    "overview": text("description"),
    "applicability_summary": lines(
        texts("eligibility_description", "eligibility"),
        _ages,
        listed("service_areas", label="Area"),
    ),
    "requirements": entries(each("required_documents", of=[_document])),
    "fees": lines(texts("fees_description", "fees"), each("cost_options", of=[_cost])),
    "amounts": entries(each("cost_options", of=[_amount])),
    "processing_time": text("wait_time"),
    "how_to_apply": lambda node, reader: steps(reader.text(node, "application_process")),
    "contact": lines(
        *_DIRECT,
        _HOURS,
        each("service_at_locations", of=_LINK),
        _SPOKEN,
        texts("interpretation_services"),
    ),
    "url": text("url"),
}
