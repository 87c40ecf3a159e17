"""The parts of a GovernmentService or PublicService that become lines of text."""

from __future__ import annotations

from collections.abc import Iterable

from ieim.studio.standards.reading.graph import Literal, Node
from ieim.studio.standards.reading.texts import amount, duration, one_line
from ieim.studio.standards.reading.voice import ABOUT, NAMES, Voice

CHANNELS = ("schema:availableChannel", "cv:hasChannel")
_POINTS = ("schema:contactPoint", "cv:contactPoint", "cv:hasContactPoint")
_PHONES = ("schema:telephone", "cv:telephone", "vcard:hasTelephone")
_EMAILS = ("schema:email", "cv:email", "vcard:hasEmail")
_ADDRESSES = ("schema:address", "schema:servicePostalAddress", "locn:address")
_ADDRESS = (
    *("schema:name", "schema:postOfficeBoxNumber", "schema:streetAddress", "locn:fullAddress"),
    *("locn:thoroughfare", "schema:postalCode", "locn:postCode", "schema:addressLocality"),
    *("locn:postName", "schema:addressRegion", "schema:addressCountry"),
)


def joined(lines: Iterable[str]) -> str:
    """Return the lines that are not blank, each once, as one text."""
    return "\n".join(dict.fromkeys(line for line in lines if line.strip()))


def applicability(node: Node, voice: Voice) -> str:
    """Return who a service is for, and where."""
    names = ("schema:audience", "schema:serviceAudience", "dct:audience")
    lines = [
        voice.text(audience, "schema:audienceType", *NAMES, *ABOUT)
        for audience in voice.nodes(node, *names)
    ]
    lines.extend(voice.texts(node, *names))
    areas = voice.labels(node, "schema:areaServed", "schema:serviceArea", "dct:spatial")
    if areas:
        lines.append(f"Area: {', '.join(map(one_line, areas))}")
    return joined(lines)


def requirements(node: Node, voice: Voice) -> list[str]:
    """Return what a service asks for: supplies of a HowTo, inputs, requirements."""
    found: list[str] = []
    for how in _how_to(node, voice):
        found.extend(voice.labels(how, "schema:supply", "schema:tool"))
    asked = ("cpsv:hasInput", "cv:hasInputType", "cv:holdsRequirement", "cv:hasCriterion")
    return [*found, *voice.labels(node, *asked)]


def how_to_apply(node: Node, voice: Voice) -> list[str]:
    """Return the steps of a HowTo, or the rules that a service follows."""
    found: list[str] = []
    for how in _how_to(node, voice):
        for value in voice.graph.values(how, "schema:step"):
            step = voice.graph.node(value)
            if step is not None:
                voice.texts(step, "schema:position")
                found.append(voice.text(step, "schema:text", *NAMES, *ABOUT))
            elif isinstance(value, Literal):
                found.append(value.text(voice.graph.report))
    rules = voice.nodes(node, "cpsv:follows")
    found.extend(voice.text(rule, *ABOUT, *NAMES) for rule in rules)
    return [step for step in found if step.strip()]


def _how_to(node: Node, voice: Voice) -> list[Node]:
    """Return the HowTo nodes about a service in the voice's language, or else in the file's."""
    about = voice.nodes(node, "schema:subjectOf")
    found = [(each, _language(each, voice)) for each in about if "schema:HowTo" in each.types]
    chosen = voice.chosen([language for _, language in found])
    return [each for each, language in found if language == chosen]


def _language(how: Node, voice: Voice) -> str:
    tags = [v.raw for v in voice.graph.values(how, "schema:inLanguage") if isinstance(v, Literal)]
    return tags[0].lower().partition("-")[0] if tags else ""


def fees(node: Node, voice: Voice) -> str:
    """Return what a service costs."""
    lines = voice.texts(node, "schema:feesAndCommissionsSpecification")
    for offer in voice.nodes(node, "schema:offers"):
        money = amount(voice.text(offer, "schema:price"), voice.text(offer, "schema:priceCurrency"))
        lines.append(_with(voice.text(offer, *NAMES, *ABOUT), money))
    for cost in voice.nodes(node, "cv:hasCost"):
        currency = voice.text(cost, "cv:currency") or _last(voice.links(cost, "cv:currency"))
        money = amount(voice.text(cost, "cv:hasValue", "cv:value"), currency)
        lines.append(_with(voice.text(cost, *ABOUT, *NAMES), money))
    return joined(lines)


def _with(about: str, money: str) -> str:
    return ": ".join(filter(None, (about, money)))


def _last(links: list[tuple[str, str]]) -> str:
    return links[0][0].rpartition("/")[2] if links else ""


def processing_time(node: Node, voice: Voice) -> str:
    """Return how long a service takes."""
    times = voice.texts(node, "cv:processingTime", "schema:processingTime")
    for channel in voice.nodes(node, *CHANNELS):
        times.extend(voice.texts(channel, "schema:processingTime", "cv:processingTime"))
    return joined(map(duration, times))


def contact(node: Node, voice: Voice) -> str:
    """Return how a service is reached."""
    lines = _ways(node, voice)
    for channel in voice.nodes(node, *CHANNELS):
        lines.extend(voice.texts(channel, *NAMES))
        lines.extend(voice.texts(channel, *ABOUT))
        lines.extend(_ways(channel, voice))
        numbers = ("schema:servicePhone", "schema:serviceSmsNumber")
        for point in voice.nodes(channel, *numbers):
            lines.extend(_point(point, voice))
        lines.extend(voice.texts(channel, *numbers))
        for place in voice.nodes(channel, "schema:serviceLocation"):
            lines.extend(voice.texts(place, *NAMES))
            lines.extend(_ways(place, voice))
        languages = voice.labels(channel, "schema:availableLanguage")
        lines.extend([f"Languages: {', '.join(languages)}"] if languages else [])
    return joined(lines)


def _ways(node: Node, voice: Voice) -> list[str]:
    lines: list[str] = []
    for point in voice.nodes(node, *_POINTS):
        lines.extend(_point(point, voice))
    for address in voice.nodes(node, *_ADDRESSES):
        parts = (label for name in _ADDRESS for label in voice.labels(address, name))
        lines.append(", ".join(dict.fromkeys(map(one_line, parts))))
    lines.extend(voice.texts(node, "schema:address"))
    lines.extend(_reached(node, voice))
    return lines


def _point(point: Node, voice: Voice) -> list[str]:
    kind = voice.text(point, "schema:contactType", *NAMES)
    lines = [*voice.texts(point, *ABOUT), *_reached(point, voice)]
    return [f"{kind}: {line}" for line in lines] if kind else lines


def _reached(node: Node, voice: Voice) -> list[str]:
    """Return phone, email, page and hours, a line each."""
    lines = [f"Phone: {one_line(text)}" for name in _PHONES for text in voice.texts(node, name)]
    emails = [text for name in _EMAILS for text in voice.texts(node, name)]
    lines.extend(f"Email: {one_line(text.removeprefix('mailto:'))}" for text in emails)
    lines.extend(link for link, _ in voice.links(node, "cv:contactPage"))
    names = ("schema:openingHours", "schema:hoursAvailable", "cv:openingHours")
    hours = voice.labels(node, *names, "cv:specialOpeningHoursSpecification")
    for each in voice.nodes(node, "schema:hoursAvailable", "schema:openingHoursSpecification"):
        days = voice.labels(each, "schema:dayOfWeek")
        days.extend(link.rpartition("/")[2] for link, _ in voice.links(each, "schema:dayOfWeek"))
        days = list(dict.fromkeys(day.rpartition("/")[2].rpartition(":")[2] for day in days))
        times = [voice.text(each, name)[:5] for name in ("schema:opens", "schema:closes")]
        hours.append(_with(", ".join(days), " to ".join(filter(None, times))))
    lines.extend(f"Hours: {one_line(text)}" for text in hours if text)
    return lines
