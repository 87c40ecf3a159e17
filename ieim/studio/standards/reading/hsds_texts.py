"""The parts of an HSDS 3 service that become lines of text: ways to reach it, hours, costs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ieim.studio.standards.reading.texts import amount, one_line
from ieim.studio.standards.reading.thing import Thing

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
    *("byday", "opens_at", "closes_at", "freq", "interval", "bymonthday", "byweekno", "byyearday"),
    *("count", "dtstart", "until", "timezone", "wkst"),
)
_TIME = re.compile(r"([0-9]{1,2}:[0-9]{2})(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?", re.ASCII)
# Ids that join the parts of a file: the nesting says the same.
_JOINS = (
    *("id", "service_id", "organization_id", "location_id", "contact_id", "phone_id", "link_id"),
    *("service_at_location_id", "taxonomy_term_id", "taxonomy_id", "program_id", "link_entity"),
)


def joined(thing: Thing) -> Thing:
    """Take the ids that only join for read, and return ``thing``."""
    thing.skip(*_JOINS)
    return thing


def contact(service: Thing, *links: Thing) -> str:
    """Return how the service is reached: email, phones, people's posts, places, hours, languages.

    ``links`` are places that do not stand in the service itself.

    Names of people are left out: they are personal data, and no citizen needs them.
    """
    lines = [*_reached(service), *_hours(service)]
    for link in (*service.things("service_at_locations"), *links):
        joined(link)
        lines.extend(filter(None, [link.text("description")]))
        for location in link.things("location"):
            lines.extend(_location(joined(location)))
        lines.extend([*_reached(link), *_hours(link)])
    lines.extend([*_languages(service), service.text("interpretation_services")])
    return "\n".join(dict.fromkeys(filter(None, lines)))


def _reached(thing: Thing) -> Iterator[str]:
    if email := thing.text("email"):
        yield f"Email: {email}"
    for phone in thing.things("phones"):
        yield _phone(joined(phone))
    for person in thing.things("contacts"):
        joined(person).leave("name", "a person's name is not taken over")
        post = ", ".join(filter(None, (person.text("title"), person.text("department"))))
        ways = [person.text("email"), *(_phone(joined(p)) for p in person.things("phones"))]
        known = ", ".join(filter(None, ways))
        if known:
            yield f"{post}: {known}" if post else known
        elif post:
            yield post


def _phone(phone: Thing) -> str:
    number = one_line(phone.text("number"))
    kind = _PHONES.get(phone.text("type").lower(), "Phone")
    extension, about = phone.text("extension"), one_line(phone.text("description"))
    spoken = "; ".join(_languages(phone))
    if not number:
        return ""
    extension = f" ext. {extension}" if extension else ""
    more = "; ".join(filter(None, (about, spoken)))
    return f"{kind}: {number}{extension}" + (f" ({more})" if more else "")


def _languages(thing: Thing) -> Iterator[str]:
    names = []
    for language in thing.things("languages"):
        names.append(one_line(joined(language).text("name") or language.text("code")))
        language.skip("code")
    if any(names):
        yield f"Languages: {', '.join(dict.fromkeys(filter(None, names)))}"


def _location(location: Thing) -> Iterator[str]:
    name = one_line(location.text("name"))
    addresses = [_address(joined(address)) for address in location.things("addresses")]
    place = "; ".join(dict.fromkeys(filter(None, addresses))) or location.text("url")
    yield ": ".join(filter(None, (name, place)))
    yield from filter(None, [location.text("description"), location.text("transportation")])
    yield from _reached(location)
    yield from _hours(location)
    yield from _languages(location)
    for access in location.things("accessibility"):
        joined(access)
        about = filter(None, (access.text("description"), access.text("details")))
        yield one_line("Access: " + " ".join(about)) if access.has("description", "details") else ""


def _address(address: Thing) -> str:
    address.skip("address_type")
    names = ("address_1", "address_2", "city", "region", "state_province", "postal_code", "country")
    parts = [one_line(address.text(name)) for name in names]
    return ", ".join(dict.fromkeys(filter(None, parts)))


def _hours(thing: Thing) -> Iterator[str]:
    for schedule in thing.things("schedules"):
        if words := _schedule(joined(schedule)):
            yield f"Hours: {words}"


def _schedule(schedule: Thing) -> str:
    """Return a weekly schedule, or one that describes itself, in words; "" for another."""
    said = one_line(schedule.text("description"))
    if not said:
        days = [_DAYS.get(day.strip()) for day in schedule.text("byday").split(",") if day.strip()]
        times = [_TIME.fullmatch(schedule.text(name)) for name in ("opens_at", "closes_at")]
        weekly = schedule.text("freq") in ("", "WEEKLY") and schedule.text("interval") in ("", "1")
        if not weekly or None in days or not (days or any(times)):
            schedule.leave("byday", "a schedule that cannot be put into words")
            return ""
        open_times = " to ".join(time[1] for time in times if time)
        said = ": ".join(filter(None, (", ".join(filter(None, days)), open_times)))
    else:
        schedule.skip(*_CALENDAR)
    return " ".join(filter(None, (said, one_line(schedule.text("notes")), valid(schedule))))


def valid(thing: Thing) -> str:
    """Return from when until when something holds, in brackets, "" for ever."""
    names = (("from", "valid_from"), ("until", "valid_to"))
    said = [f"{word} {date}" for word, name in names if (date := thing.text(name))]
    return f"({' '.join(said)})" if said else ""


def fees(service: Thing) -> str:
    """Return the costs: the description, then a line for each cost option."""
    lines = [service.text("fees_description") or service.text("fees")]
    for option in service.things("cost_options"):
        joined(option)
        money = amount(option.text("amount"), option.text("currency"))
        said = ": ".join(filter(None, (one_line(option.text("option")), money)))
        about = one_line(option.text("amount_description"))
        lines.append(" ".join(filter(None, (said, f"({about})" if about else "", valid(option)))))
    return "\n".join(dict.fromkeys(filter(None, lines)))


def eligibility(service: Thing) -> str:
    """Return who the service is for, and where."""
    low, high = service.text("minimum_age"), service.text("maximum_age")
    ages = f"Age: {low} to {high}" if low and high else ""
    ages = ages or (f"Age: {low} or older" if low else f"Age: up to {high}" if high else "")
    areas = [
        one_line(joined(area).text("name") or area.text("description"))
        for area in service.things("service_areas")
    ]
    where = f"Area: {', '.join(dict.fromkeys(filter(None, areas)))}" if any(areas) else ""
    return "\n".join(filter(None, (service.text("eligibility_description"), ages, where)))
