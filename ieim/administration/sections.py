"""The sections of the settings as one table: their fields in order, each with label and check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.dates import WEEKDAYS
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from ieim.administration import checks, languages
from ieim.administration.checks import Check

Widget = Literal["line", "short", "colour", "text", "lines", "logo", "languages", "switch"]

LEGAL: Final = "legal-"
"""The prefix of the sections of legal texts; the language follows."""
LEGAL_LIMIT: Final = 3_000


@dataclass(frozen=True, slots=True)
class Field:
    """One setting; ``check`` returns the text to store."""

    name: str
    label: str | Promise
    check: Check
    hint: str | Promise = ""
    widget: Widget = "line"
    language: str = ""


@dataclass(frozen=True, slots=True)
class SectionOf:
    """A section, saved as a whole; ``language`` where its texts are in one."""

    name: str
    title: str | Promise
    note: str | Promise
    fields: Sequence[Field]
    language: str = ""


DAY_FIELDS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _day(name: str, label: str | Promise) -> Field:
    hint = _("Such as 09:00-17:00, or 08:00-12:00, 13:00-16:00.") if name == "monday" else ""
    return Field(name, label, checks.opening, hint, "short")


def _examples(code: str, label: str) -> Field:
    hint = _("One a line, six at most.") if code == "en" else ""
    return Field(code, label, checks.each_line(checks.plain(120), 6), hint, "lines", code)


_NAME = (
    Field("name", _("Name"), checks.plain(80, required=True), _("In full: City of Northport.")),
    Field(
        "short_name",
        _("Short name"),
        checks.plain(24),
        _("For the top of the page, on phones too. Without one the name stands there."),
    ),
    Field(
        "logo",
        _("Logo"),
        checks.plain(64),
        _("PNG or SVG, 100 KB at most; shown 40 pixels high. Metadata in it is removed."),
        "logo",
    ),
)
_COLOURS = (
    Field("brand", _("Colour"), checks.brand, _("# and six digits, such as #0d5a6c."), "colour"),
    Field(
        "brand_dark",
        _("Colour for dark screens"),
        checks.brand_dark,
        _("Without one it is made from the other colour."),
        "colour",
    ),
)
_NUMBERS = (
    Field(
        "emergency",
        _("Emergency number"),
        checks.emergency,
        _("To call when a life is in danger. Without one it is that of the installation."),
        "short",
    ),
    Field(
        "help",
        _("Help numbers"),
        checks.each_line(checks.help_number),
        _("One a line, who and the number: Crisis line: 116 123."),
        "lines",
    ),
    Field(
        "exit",
        _("Page that “Leave this page quickly” opens"),
        checks.website,
        _("For people in danger from somebody near them. Without one it is an encyclopedia."),
    ),
)
_CONTACTS = (
    Field("telephone", _("Telephone"), checks.telephone, _("Such as +49 30 901820."), "short"),
    Field("email", _("E-mail"), checks.email),
    Field("address", _("Address"), checks.plain(300, lines=True), _("As on an envelope."), "lines"),
    Field("website", _("Web page"), checks.website, _("Such as https://www.example.org/.")),
)
_HOURS = (
    *(_day(name, label) for name, label in zip(DAY_FIELDS, WEEKDAYS.values(), strict=True)),
    Field(
        "country",
        _("Closed on the public holidays of"),
        checks.country,
        _("A country by its code, or a part of one: DE, or DE-BY. Empty for none."),
        "short",
    ),
    Field(
        "closed",
        _("Other days on which it is closed"),
        checks.each_line(checks.closed_day, 40),
        _("One a line: 2026-12-24, or 2026-12-24 to 2027-01-01: winter break."),
        "lines",
    ),
)
_ORIGINS = Field(
    "origins",
    _("Sites"),
    checks.each_line(checks.origin, 20),
    _("One a line, 20 at most, each as it begins in the browser: https://www.example.org."),
    "lines",
)
_PERSONA = (
    Field("name", _("Name"), checks.plain(60), _("As whom it speaks: the assistant of Northport.")),
    Field("tone", _("Tone"), checks.plain(200), _("Such as: calm, formal, short sentences.")),
    Field(
        "policy",
        _("Policy"),
        checks.plain(1_000, lines=True),
        _("What holds for every question. 1,000 characters; each is paid for with each call."),
        "text",
    ),
)
_OWN_WORDS = Field(
    "own_words",
    _("Show the assistant’s own words where they pass every check"),
    checks.switch,
    _(
        "They are marked as written by an automated assistant. Otherwise an answer over several "
        "agencies is told in the words of the service list, and a message that is no question is "
        "answered with your own text."
    ),
    "switch",
)

_SWITCHES = (
    Field(
        "chat",
        _("The assistant’s page takes no questions"),
        checks.switch,
        _("The page says so. What was asked before is answered and can be read."),
        "switch",
    ),
    Field(
        "api",
        _("The citizens’ API is off"),
        checks.switch,
        _("Programs, and the channels that use it, are answered 503."),
        "switch",
    ),
    Field(
        "model",
        _("No model is asked"),
        checks.switch,
        _("Questions are taken and wait. After 30 minutes a person gets each of them."),
        "switch",
    ),
    Field(
        "agencies",
        _("Agencies for which the assistant does not answer"),
        checks.each_line(checks.agency, 100),
        _("One a line, by its id. A person reads every answer about them before it leaves."),
        "lines",
    ),
)

_SECTIONS: Final[Sequence[SectionOf]] = (
    SectionOf(
        "switches",
        _("Switched off"),
        _("What stands still until you switch it on again. It works at once, and loses nothing."),
        _SWITCHES,
    ),
    SectionOf(
        "name",
        _("Name and logo"),
        _("They stand at the top of every page, in its title, and in what is sent."),
        _NAME,
    ),
    SectionOf(
        "colours",
        _("Colours"),
        _(
            "The colour of links, buttons and the line at the top. Text in it has to be read by "
            "everybody, so its contrast is checked."
        ),
        _COLOURS,
    ),
    SectionOf(
        "numbers",
        _("Emergency and help numbers"),
        _(
            "Shown on every page, and on “Talk to a person”. What somebody in danger is told by "
            "name stays with the help lines of the knowledge."
        ),
        _NUMBERS,
    ),
    SectionOf(
        "contacts",
        _("Contacts"),
        _("How citizens reach people without the assistant."),
        _CONTACTS,
    ),
    SectionOf(
        "hours",
        _("Opening hours"),
        _("When somebody answers the telephone and the door. Leave a day empty when it is closed."),
        _HOURS,
    ),
    SectionOf(
        "languages",
        _("Languages"),
        _("In which the citizen’s pages are offered."),
        (Field("offered", _("Languages"), checks.offered, "", "languages"),),
    ),
    SectionOf(
        "examples",
        _("Examples"),
        _(
            "Questions on the first page, which citizens send with one press. Without any in a "
            "language there are none in it, but for those of the demo. Ask each yourself first."
        ),
        tuple(_examples(*language) for language in languages.NAMES.items()),
    ),
    SectionOf(
        "answers",
        _("Answers"),
        _("Whose words citizens read. The services below an answer are always shown as they are."),
        (_OWN_WORDS,),
    ),
    SectionOf(
        "persona",
        _("Persona"),
        _(
            "What a language model is told of itself at the beginning of every call, behind the "
            "rules of the software, which it cannot change. Citizens do not read it."
        ),
        _PERSONA,
    ),
    SectionOf(
        "other_sites",
        _("Other sites"),
        _(
            "Sites whose pages may show the assistant in a frame, and whose scripts may use the "
            "citizens’ API. No other site may."
        ),
        (_ORIGINS,),
    ),
)

_LEGAL: Final[Mapping[str, tuple[Promise, Promise]]] = {
    "controller": (
        _("Who is responsible"),
        _("Name and address of the controller of personal data."),
    ),
    "officer": (_("Data protection officer"), _("How to reach them.")),
    "purposes": (
        _("Purposes and legal basis"),
        _("What the data are for, and the law behind it."),
    ),
    "rights": (
        _("Rights"),
        _("What citizens may ask for: access, correction, erasure, objection."),
    ),
    "authority": (_("Supervisory authority"), _("Where citizens may complain.")),
    "imprint": (_("Imprint"), _("Who publishes this site.")),
    "barriers": (
        _("Contact for accessibility"),
        _("Whom to tell of a barrier, and how soon they answer."),
    ),
    "enforcement": (
        _("Enforcement of accessibility"),
        _("Who helps when that answer does not."),
    ),
}
LEGAL_FIELDS: Final = tuple(_LEGAL)


def _legal(code: str) -> SectionOf:
    check = checks.plain(LEGAL_LIMIT, lines=True)
    return SectionOf(
        LEGAL + code,
        format_lazy(_("Legal texts: {language}"), language=languages.NAMES[code]),
        _(
            "Plain text; an empty line begins a paragraph. Addresses of pages and mail become "
            "links. They stand on the pages “Privacy” and “Accessibility statement”."
        ),
        tuple(
            Field(name, label, check, hint, "text", code) for name, (label, hint) in _LEGAL.items()
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
