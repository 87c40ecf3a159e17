"""The sections as one table: their fields in order, each with its words, widget and check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ieim.administration import languages
from ieim.administration.sections import checks, origins
from ieim.administration.sections.checks import Check

Widget = Literal["line", "short", "colour", "text", "lines", "logo", "languages"]

LEGAL: Final = "legal-"
"""What the name of a section of legal texts begins with; the language follows."""


@dataclass(frozen=True, slots=True)
class Field:
    """What is asked for: ``check`` says what may be written."""

    name: str
    label: str
    check: Check
    hint: str = ""
    widget: Widget = "line"
    language: str = ""


@dataclass(frozen=True, slots=True)
class SectionOf:
    """A section, saved as a whole; ``language`` where its texts are in one."""

    name: str
    title: str
    note: str
    fields: Sequence[Field]
    language: str = ""


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAY_FIELDS: Final = tuple(day.lower() for day in _DAYS)
LEGAL_LIMIT: Final = 3_000

_SECTIONS: Final[Sequence[SectionOf]] = (
    SectionOf(
        "name",
        "Name and logo",
        "They stand at the top of every page, in its title, and in what is sent.",
        (
            Field("name", "Name", checks.line(80), "In full: City of Northport."),
            Field(
                "short_name",
                "Short name",
                checks.line(24),
                "For the top of the page, on phones too. Without one the name stands there.",
            ),
            Field(
                "logo",
                "Logo",
                checks.line(64),
                "PNG or SVG, 100 KB at most; shown 40 pixels high. Metadata in it is removed.",
                "logo",
            ),
        ),
    ),
    SectionOf(
        "colours",
        "Colours",
        "The colour of links, buttons and the line at the top. Text in it has to be read by "
        "everybody, so its contrast is checked.",
        (
            Field("brand", "Colour", checks.brand, "# and six digits, such as #0d5a6c.", "colour"),
            Field(
                "brand_dark",
                "Colour for dark screens",
                checks.brand_dark,
                "Without one it is made from the other colour.",
                "colour",
            ),
        ),
    ),
    SectionOf(
        "numbers",
        "Emergency and help numbers",
        "Shown on every page, and on “Talk to a person”. What somebody in danger is told by name "
        "stays with the help lines of the knowledge.",
        (
            Field(
                "emergency",
                "Emergency number",
                checks.emergency,
                "To call when a life is in danger. Without one it is that of the installation.",
                "short",
            ),
            Field(
                "help",
                "Help numbers",
                checks.each_line(checks.help_number),
                "One a line, who and the number: Crisis line: 116 123.",
                "lines",
            ),
        ),
    ),
    SectionOf(
        "contacts",
        "Contacts",
        "How citizens reach people without the assistant.",
        (
            Field("telephone", "Telephone", checks.telephone, "Such as +49 30 901820.", "short"),
            Field("email", "E-mail", checks.email),
            Field("address", "Address", checks.paragraphs(300), "As on an envelope.", "lines"),
            Field("website", "Web page", checks.website, "Such as https://www.example.org/."),
        ),
    ),
    SectionOf(
        "hours",
        "Opening hours",
        "When somebody answers the telephone and the door. Leave a day empty when it is closed.",
        (
            *(
                Field(
                    day.lower(),
                    day,
                    checks.opening,
                    "Such as 09:00-17:00, or 08:00-12:00, 13:00-16:00." if day == "Monday" else "",
                    "short",
                )
                for day in _DAYS
            ),
            Field(
                "country",
                "Closed on the public holidays of",
                checks.country,
                "A country by its code, or a part of one: DE, or DE-BY. Empty for none.",
                "short",
            ),
            Field(
                "closed",
                "Other days on which it is closed",
                checks.each_line(checks.closed_day, 40),
                "One a line: 2026-12-24, or 2026-12-24 to 2027-01-01: winter break.",
                "lines",
            ),
        ),
    ),
    SectionOf(
        "languages",
        "Languages",
        "In which the citizen’s pages are offered.",
        (Field("offered", "Languages", checks.offered, "", "languages"),),
    ),
    SectionOf(
        "examples",
        "Examples",
        "Questions on the first page, which citizens send with one press. Without any in a "
        "language there are none in it, but for those of the demo. Ask each yourself first.",
        tuple(
            Field(
                code,
                name,
                checks.each_line(checks.line(120), 6),
                "One a line, six at most." if code == "en" else "",
                "lines",
                code,
            )
            for code, name in languages.NAMES.items()
        ),
    ),
    SectionOf(
        "other_sites",
        "Other sites",
        "Sites whose pages may show the assistant in a frame, and whose scripts may use the "
        "citizens’ API. No other site may.",
        (
            Field(
                "origins",
                "Sites",
                checks.each_line(origins.origin, 20),
                "One a line, 20 at most, each as it begins in the browser: https://www.example.org.",
                "lines",
            ),
        ),
    ),
)

_LEGAL: Final[Sequence[tuple[str, str, str]]] = (
    ("controller", "Who is responsible", "Name and address of the controller of personal data."),
    ("officer", "Data protection officer", "How to reach them."),
    ("purposes", "Purposes and legal basis", "What the data are for, and the law behind it."),
    ("rights", "Rights", "What citizens may ask for: access, correction, erasure, objection."),
    ("authority", "Supervisory authority", "Where citizens may complain."),
    ("imprint", "Imprint", "Who publishes this site."),
    (
        "barriers",
        "Contact for accessibility",
        "Whom to tell of a barrier, and how soon they answer.",
    ),
    ("enforcement", "Enforcement of accessibility", "Who helps when that answer does not."),
)
LEGAL_FIELDS: Final = tuple(name for name, _, _ in _LEGAL)


def _legal(code: str) -> SectionOf:
    return SectionOf(
        LEGAL + code,
        f"Legal texts: {languages.NAMES[code]}",
        "Plain text; an empty line begins a paragraph. Addresses of pages and mail become links. "
        "They stand on the pages “Privacy” and “Accessibility statement”.",
        tuple(
            Field(name, label, checks.paragraphs(LEGAL_LIMIT), hint, "text", code)
            for name, label, hint in _LEGAL
        ),
        code,
    )


_BY_NAME: Final[Mapping[str, SectionOf]] = {
    each.name: each for each in (*_SECTIONS, *map(_legal, languages.NAMES))
}
NAMES: Final = tuple(_BY_NAME)


def section(name: str) -> SectionOf:
    """Return a section by its name; raises KeyError."""
    return _BY_NAME[name]
