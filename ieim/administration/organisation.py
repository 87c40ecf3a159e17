"""The organisation settings as the rest of the site reads them, with defaults where unset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, Literal
from zoneinfo import ZoneInfo

from django.conf import settings

from ieim.administration import contrast, languages
from ieim.administration.forms import DAY_FIELDS, LEGAL, LEGAL_FIELDS
from ieim.administration.hours import Closed, Hours, Status, read_closed, read_spans
from ieim.pipeline.canonical import digest

Content = Mapping[str, str]

NAMELESS: Final = "IEIM"
"""The name while none is set."""
NEUTRAL_PAGE: Final = "https://www.wikipedia.org/"
_BRAND, _BRAND_DARK = "#0d5a6c", "#7fcbdb"


@dataclass(frozen=True, slots=True)
class Text:
    """A text and the code of its language."""

    text: str
    language: str

    @property
    def direction(self) -> str:
        return languages.direction(self.language)


@dataclass(frozen=True, slots=True)
class Colours:
    """The brand colour for light and dark screens; the hover colours keep the contrast."""

    brand: str
    brand_dark: str

    @property
    def hover(self) -> str:
        return contrast.mixed(self.brand, "#000000", 0.35)

    @property
    def hover_dark(self) -> str:
        return contrast.mixed(self.brand_dark, "#ffffff", 0.45)

    @property
    def version(self) -> str:
        """Changes when a colour does: part of the address of the style sheet."""
        return digest([self.brand, self.brand_dark])[:12]


def _stored(section: str, field: str) -> property:
    """Return a property that reads one field, empty where it is not set."""
    return property(lambda administration: administration.get(section, field))


@dataclass(frozen=True)
class Administration:
    """The settings; ``sections`` maps a section's name to its content."""

    sections: Mapping[str, Content]

    logo = _stored("name", "logo")  # the digest of the picture
    telephone = _stored("contacts", "telephone")
    email = _stored("contacts", "email")
    address = _stored("contacts", "address")
    website = _stored("contacts", "website")

    def get(self, section: str, field: str) -> str:
        return self.sections.get(section, {}).get(field, "")

    @property
    def is_named(self) -> bool:
        return bool(self.get("name", "name"))

    @property
    def name(self) -> str:
        return self.get("name", "name") or NAMELESS

    @property
    def short_name(self) -> str:
        """The name for the top of a page and its title."""
        return self.get("name", "short_name") or self.name

    @cached_property
    def colours(self) -> Colours | None:
        """The colours, None for those of the style sheet."""
        brand, dark = self.get("colours", "brand"), self.get("colours", "brand_dark")
        if not (brand or dark):
            return None
        adjusted = contrast.readable(brand, dark=True) if brand else _BRAND_DARK
        return Colours(brand or _BRAND, dark or adjusted)

    @property
    def emergency_number(self) -> str:
        """The number to call when a life is in danger; by default the installation's."""
        return self.get("numbers", "emergency") or str(settings.IEIM_EMERGENCY_NUMBER)

    @cached_property
    def help_numbers(self) -> Sequence[tuple[str, str]]:
        """Other help lines as ``(name, number)``."""
        parts = (line.rpartition(": ") for line in self.get("numbers", "help").splitlines())
        return tuple((name, number) for name, _, number in parts)

    @property
    def exit_page(self) -> str:
        """The address that “Leave this page quickly” opens."""
        return self.get("numbers", "exit") or NEUTRAL_PAGE

    @property
    def telephone_link(self) -> str:
        """The telephone number for a ``tel:`` link."""
        return re.sub(r"[^+0-9]", "", self.telephone)

    @property
    def has_contact(self) -> bool:
        """Whether there is a way to reach people."""
        return bool(self.telephone or self.email or self.address)

    @cached_property
    def hours(self) -> Hours:
        """The opening hours; false where none are set."""
        return Hours(
            zone=ZoneInfo(settings.TIME_ZONE),
            days=tuple(read_spans(self.get("hours", day)) for day in DAY_FIELDS),
            country=self.get("hours", "country"),
            closed=tuple(map(read_closed, self.get("hours", "closed").splitlines())),
        )

    def status(self, now: datetime) -> Status | None:
        """Whether it is open at ``now``; None where no hours are set."""
        return self.hours.status(now) if self.hours else None

    def closed_from(self, now: datetime) -> Sequence[Closed]:
        """The extra closed days from today on, in order."""
        today = now.astimezone(self.hours.zone).date()
        coming = (days for days in self.hours.closed if days.last >= today)
        return tuple(sorted(coming, key=lambda days: days.first))

    @cached_property
    def languages(self) -> Sequence[str]:
        """The codes of the languages of the citizen's pages."""
        chosen = self.get("languages", "offered").split()
        return tuple(code for code in chosen if code in languages.NAMES) or tuple(languages.NAMES)

    @property
    def persona(self) -> str:
        """The part of the system prompt behind the rules of the software, "" if nothing is set."""
        fields = {"Name": "name", "Tone": "tone", "Policy": "policy"}
        texts = {label: self.get("persona", field) for label, field in fields.items()}
        lines = [f"{label}: {text}" for label, text in texts.items() if text]
        head = "Within these rules, the administration that you work for asks:"
        return "\n".join([head, *lines]) if lines else ""

    @property
    def own_words(self) -> bool:
        """Whether a model's own words are shown where they pass every check."""
        return bool(self.get("answers", "own_words"))

    @property
    def omits_stale(self) -> bool:
        """Whether a translated text is left out while its original is newer."""
        return bool(self.get("answers", "omit_stale"))

    def is_off(self, channel: Literal["chat", "api", "model"]) -> bool:
        """Whether an administrator has switched it off."""
        return bool(self.get("switches", channel))

    @cached_property
    def agencies_off(self) -> frozenset[str]:
        """The ids of agencies for which the assistant does not answer by itself."""
        return frozenset(self.get("switches", "agencies").splitlines())

    @cached_property
    def other_sites(self) -> Sequence[str]:
        """The origins that may frame the citizen's pages and call the citizens' API."""
        return tuple(self.get("other_sites", "origins").splitlines())

    def examples(self, language: str) -> Sequence[str]:
        """Example questions for the first page in a language."""
        return tuple(self.get("examples", language).splitlines())

    @property
    def has_examples(self) -> bool:
        return any(self.sections.get("examples", {}).values())

    def legal(self, language: str) -> dict[str, Text]:
        """The legal texts by field: in ``language``, else in the first that has one."""
        order = dict.fromkeys([language, "en", *self.languages, *languages.NAMES])
        texts = {}
        for name in LEGAL_FIELDS:
            candidates = (Text(self.get(LEGAL + code, name), code) for code in order)
            if text := next((text for text in candidates if text.text), None):
                texts[name] = text
        return texts
