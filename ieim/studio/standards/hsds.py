"""Open Referral HSDS 3: services and organizations as its API gives them, or lists of them.

Which member is which column; names of people are left out, they are personal data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ieim.pipeline.findings import pointer
from ieim.studio.standards.graph import Node, Reader, json_node, note_unread
from ieim.studio.standards.report import Report
from ieim.studio.standards.rows import Entry, Found
from ieim.studio.standards.texts import clock, joined, labelled, one_line, pair, steps

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
# Ids that join the parts of a file: the nesting says the same.
_JOINS = (
    *("id", "service_id", "organization_id", "location_id", "contact_id", "phone_id", "link_id"),
    *("service_at_location_id", "taxonomy_term_id", "taxonomy_id", "program_id", "link_entity"),
)
_DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_PHONES = {"fax": "Fax", "text": "Text message", "cell": "Mobile", "textphone": "Textphone"}
_CALENDAR = (
    *(
        "byday",
        "weekday",
        "opens_at",
        "closes_at",
        "freq",
        "interval",
        "bymonthday",
        "byweekno",
        "byyearday",
    ),
    *("count", "dtstart", "until", "timezone", "wkst"),
)
_ADDRESS = (
    *("address_1", "address_2", "city", "region", "state_province", "postal_code", "country"),
)


def read_hsds(value: Any, report: Report) -> Found:
    """Return what an HSDS 3 file describes; what is no HSDS becomes problems of ``report``.

    ``value`` is one service or organization, a list of them, or a page with ``contents``.
    """
    found = Found("Open Referral HSDS 3", report)
    items = list(_items(value, report))
    reading = _Reading(found)
    for item in items:
        reading.item(item)
    if not items and not report.problems:
        report.problem("", "has no service and no organization")
    reading.inherit_contacts()
    note_unread((node for item in items for node in _all(item)), report)
    return found


def _all(node: Node) -> Iterator[Node]:
    yield node
    for values in node.values.values():
        for value in values:
            if isinstance(value, Node):
                yield from _all(value)


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
    whole = json_node({name: item for name, item in value.items() if name not in names}, "")
    whole.reached = True
    note_unread([whole], report)


def _objects(items: list[Any], place: str, report: Report) -> Iterator[Node]:
    for index, item in enumerate(items):
        if isinstance(item, dict):
            yield json_node(item, place + pointer(index))
        else:
            message = "is no JSON object: a service is expected here"
            report.problem(place + pointer(index), message)


class _Reading:
    """Reads the objects of a file, and adds what they describe to ``found``."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._report = found.report
        self._reader = Reader(found.report)
        self.text = self._reader.text
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
            self._report.problem(
                item.place, f"is neither a service nor an organization: {EXPECTED}"
            )

    def nodes(self, node: Node, *names: str) -> list[Node]:
        """Return the objects of members, without the ids that only join them."""
        found = self._reader.nodes(node, *names)
        for each in found:
            each.skip(*_JOINS)
        return found

    def organization(self, node: Node) -> str:
        """Add an organization with its services, and return its id."""
        identifier = self._identifier(node)
        node.skip("uri", *_JOINS)
        columns = {"name": "name", "description": "description", "path": "website"}
        values = {column: self.text(node, name) for column, name in columns.items()}
        self._found.add("agencies", Entry(identifier, node.place, values))
        self._organizations.setdefault(identifier, node)
        for service in self._reader.nodes(node, "services"):
            self.service(service, identifier)
        return identifier

    def service(self, node: Node, agency: str, *links: Node) -> None:
        """Add a service with its categories; ``links`` are places that do not stand in it."""
        identifier = self._identifier(node)
        agency = agency or self.text(node, "organization_id")
        for organization in self._reader.nodes(node, "organization"):
            agency = self.organization(organization)
        status = self.text(node, "status").lower()
        if status in ("inactive", "defunct"):
            why = "a service that is no longer offered: it is not taken over"
            self._report.left_out(node.place_of("status"), why)
            node.values.clear()
            return
        if status not in ("", "active"):
            why = "the service is closed for a while: a notice can say so"
            self._report.left_out(node.place_of("status"), why)
        name = self.text(node, "name")
        if not name and not agency:
            self._report.problem(node.place, f"has no name and no organization: {EXPECTED}")
        entry = Entry(
            identifier,
            node.place,
            {
                "name": name,
                "overview": self.text(node, "description"),
                "applicability_summary": self._eligibility(node),
                "requirements": [
                    _with(self.text(document, "document"), self.text(document, "uri"))
                    for document in self.nodes(node, "required_documents")
                ],
                "fees": self._fees(node),
                "processing_time": self.text(node, "wait_time"),
                "how_to_apply": steps(self.text(node, "application_process")),
                "contact": self._contact(node, links),
                "url": self.text(node, "url"),
            },
            agency=agency,
        )
        for attribute in self.nodes(node, "attributes"):
            for term in self._reader.nodes(attribute, "taxonomy_term"):
                entry.categories.extend(self._category(term, agency))
        node.skip(*_JOINS)
        self._found.add("services", entry)

    def inherit_contacts(self) -> None:
        """Give services without a contact that of their organization."""
        without: dict[str, list[Entry]] = {}
        for entry in self._found.of("services"):
            if not entry.values["contact"] and entry.agency in self._organizations:
                without.setdefault(entry.agency, []).append(entry)
        for agency, entries in without.items():
            node = self._organizations[agency]
            lines = list(self._reached(node))
            for location in self.nodes(node, "locations"):
                lines.extend(self._location(location))
            for entry in entries:
                entry.values["contact"] = joined(lines)

    def _category(self, term: Node, agency: str) -> Iterator[str]:
        name = self.text(term, "name")
        identifier = self.text(term, "code", "id") or name
        term.skip("code", *_JOINS)
        if name and identifier.strip():
            entry = Entry(identifier, term.place, {"value": name}, agency=agency)
            self._found.add("dictionary", entry)
            yield identifier
        else:
            self._report.left_out(term.place, "a taxonomy term without a name")

    def _identifier(self, node: Node) -> str:
        identifier = self.text(node, "id").strip()
        if not identifier:
            message = "has no id: HSDS 3 gives one to every service and organization"
            self._report.problem(node.place, message)
        return identifier

    def _contact(self, service: Node, links: Iterable[Node]) -> str:
        """Return how the service is reached: email, phones, posts, places, hours, languages."""
        lines = [*self._reached(service), *self._hours(service)]
        for link in (*self.nodes(service, "service_at_locations"), *links):
            link.skip(*_JOINS)
            lines.append(self.text(link, "description"))
            for location in self.nodes(link, "location"):
                lines.extend(self._location(location))
            lines.extend([*self._reached(link), *self._hours(link)])
        lines += [self._languages(service), self.text(service, "interpretation_services")]
        return joined(lines)

    def _reached(self, node: Node) -> Iterator[str]:
        yield labelled("Email", self.text(node, "email"))
        yield from map(self._phone, self.nodes(node, "phones"))
        for person in self.nodes(node, "contacts"):
            if person.has("name"):
                person.skip("name")
                why = "a person's name is not taken over"
                self._report.left_out(person.place_of("name"), why)
            post = ", ".join(
                filter(None, (self.text(person, "title"), self.text(person, "department")))
            )
            phones = map(self._phone, self.nodes(person, "phones"))
            yield pair(post, ", ".join(filter(None, (self.text(person, "email"), *phones))))

    def _phone(self, phone: Node) -> str:
        number = one_line(self.text(phone, "number"))
        kind = _PHONES.get(self.text(phone, "type").lower(), "Phone")
        extension = self.text(phone, "extension")
        about = one_line(self.text(phone, "description"))
        more = "; ".join(filter(None, (about, self._languages(phone))))
        number += f" ext. {extension}" if number and extension else ""
        return labelled(kind, _with(number, more) if number else "")

    def _languages(self, node: Node) -> str:
        names = []
        for language in self.nodes(node, "languages"):
            names.append(one_line(self.text(language, "name", "code")))
            language.skip("code")
        return labelled("Languages", ", ".join(dict.fromkeys(filter(None, names))))

    def _location(self, location: Node) -> Iterator[str]:
        addresses = []
        for address in self.nodes(location, "addresses", "physical_addresses", "physical_address"):
            address.skip("address_type")
            parts = (one_line(self.text(address, name)) for name in _ADDRESS)
            addresses.append(", ".join(dict.fromkeys(filter(None, parts))))
        place = "; ".join(dict.fromkeys(filter(None, addresses))) or self.text(location, "url")
        yield pair(one_line(self.text(location, "name")), place)
        yield from (self.text(location, name) for name in ("description", "transportation"))
        yield from self._reached(location)
        yield from self._hours(location)
        yield self._languages(location)
        for access in self.nodes(location, "accessibility"):
            about = f"{self.text(access, 'description')} {self.text(access, 'details')}"
            yield labelled("Access", one_line(about))

    def _hours(self, node: Node) -> Iterator[str]:
        for schedule in self.nodes(node, "schedules", "regular_schedules", "regular_schedule"):
            yield labelled("Hours", self._schedule(schedule))

    def _schedule(self, schedule: Node) -> str:
        """Return a weekly schedule, or one that describes itself, in words; "" for another."""
        words = one_line(self.text(schedule, "description"))
        if words:
            schedule.skip(*_CALENDAR)
        else:
            marks = ",".join(self._reader.texts(schedule, "byday", "weekday")).split(",")
            days = [_day(mark.strip()) for mark in marks if mark.strip()]
            times = [clock(self.text(schedule, name)) for name in ("opens_at", "closes_at")]
            freq = self.text(schedule, "freq").upper()
            if freq == "DAILY" and not days:
                freq, days = "", ["Every day"]
            regular = freq in ("", "WEEKLY") and self.text(schedule, "interval") in ("", "1")
            if not regular or "" in days or not (days or any(times)):
                why = "a schedule that cannot be put into words"
                self._report.left_out(schedule.place_of("byday"), why)
                return ""
            words = pair(", ".join(days), " to ".join(filter(None, times)))
        return one_line(f"{words} {self.text(schedule, 'notes')} {self._valid(schedule)}")

    def _valid(self, node: Node) -> str:
        """Return from when until when something holds, in brackets, "" for ever."""
        names = (("from", "valid_from"), ("until", "valid_to"))
        return _with("", " ".join(f"{w} {d}" for w, name in names if (d := self.text(node, name))))

    def _fees(self, service: Node) -> str:
        lines = [self.text(service, "fees_description", "fees")]
        for option in self.nodes(service, "cost_options"):
            money = f"{self.text(option, 'amount')} {self.text(option, 'currency').upper()}".strip()
            line = pair(one_line(self.text(option, "option")), money)
            line = _with(line, one_line(self.text(option, "amount_description")))
            lines.append(f"{line} {self._valid(option)}".strip())
        return joined(lines)

    def _eligibility(self, service: Node) -> str:
        low, high = self.text(service, "minimum_age"), self.text(service, "maximum_age")
        ages = f"{low} to {high}" if low and high else f"{low} or older" if low else ""
        ages = ages or (f"up to {high}" if high else "")
        areas = [
            one_line(self.text(area, "name", "description"))
            for area in self.nodes(service, "service_areas")
        ]
        where = ", ".join(dict.fromkeys(filter(None, areas)))
        described = self.text(service, "eligibility_description", "eligibility")
        return joined([described, labelled("Age", ages), labelled("Area", where)])


def _day(mark: str) -> str:
    """Return the day of "MO" or "Monday" in words, "" for another mark ("1MO")."""
    day = _DAYS.get(mark[:2].upper(), "")
    return day if day and day.upper().startswith(mark.upper()) else ""


def _with(text: str, more: str) -> str:
    return " ".join(filter(None, (text, f"({more})" if more else "")))
