"""An administration as its settings describe it, with what holds where they are silent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final
from zoneinfo import ZoneInfo

from django.conf import settings

from ieim.administration import contrast, languages
from ieim.administration.hours import Closed, Hours, Status, read_closed, read_spans
from ieim.administration.sections.table import DAY_FIELDS, LEGAL, LEGAL_FIELDS
from ieim.pipeline.canonical import digest

Content = Mapping[str, str]

NAMELESS: Final = "IEIM"
"""What stands where a name is not set."""
_BRAND, _BRAND_DARK = "#0d5a6c", "#7fcbdb"


@dataclass(frozen=True, slots=True)
class Text:
    """A text with the language that it is in."""

    text: str
    language: str

    @property
    def direction(self) -> str:
        """``rtl`` or ``ltr``."""
        return languages.direction(self.language)


@dataclass(frozen=True, slots=True)
class Colours:
    """The brand colour, its counterpart for dark screens, and those of what the pointer is over."""

    brand: str
    brand_dark: str

    @property
    def hover(self) -> str:
        """A darker one: what can be read stays so."""
        return contrast.mixed(self.brand, "#000000", 0.35)

    @property
    def hover_dark(self) -> str:
        """A lighter one."""
        return contrast.mixed(self.brand_dark, "#ffffff", 0.45)

    @property
    def version(self) -> str:
        """What changes when a colour does."""
        return digest([self.brand, self.brand_dark])[:12]


@dataclass(frozen=True)
class Administration:
    """What is set: ``sections`` holds the content of each section by its name."""

    sections: Mapping[str, Content]

    def _get(self, section: str, field: str) -> str:
        return self.sections.get(section, {}).get(field, "")

    @property
    def is_named(self) -> bool:
        """Whether it has a name of its own."""
        return bool(self._get("name", "name"))

    @property
    def name(self) -> str:
        """The name in full."""
        return self._get("name", "name") or NAMELESS

    @property
    def short_name(self) -> str:
        """The name for the top of a page and its title."""
        return self._get("name", "short_name") or self.name

    @property
    def logo(self) -> str:
        """The digest of the logo, empty for none."""
        return self._get("name", "logo")

    @cached_property
    def colours(self) -> Colours | None:
        """The colours, None for those of the style sheet."""
        brand, dark = self._get("colours", "brand"), self._get("colours", "brand_dark")
        if not (brand or dark):
            return None
        made = contrast.readable(brand, dark=True) if brand else _BRAND_DARK
        return Colours(brand or _BRAND, dark or made)

    @property
    def emergency_number(self) -> str:
        """What to call when a life is in danger: the installation's unless one is set here."""
        return self._get("numbers", "emergency") or str(settings.IEIM_EMERGENCY_NUMBER)

    @cached_property
    def help_numbers(self) -> Sequence[tuple[str, str]]:
        """Who helps besides, and their numbers."""
        lines = self._get("numbers", "help").splitlines()
        parts = (line.rpartition(": ") for line in lines)
        return tuple((who, number) for who, _, number in parts)

    @property
    def telephone(self) -> str:
        """The telephone number, as people write it."""
        return self._get("contacts", "telephone")

    @property
    def telephone_link(self) -> str:
        """The telephone number as a telephone dials it."""
        return re.sub(r"[^+0-9]", "", self.telephone)

    @property
    def email(self) -> str:
        """The e-mail address."""
        return self._get("contacts", "email")

    @property
    def address(self) -> str:
        """The postal address, in lines."""
        return self._get("contacts", "address")

    @property
    def website(self) -> str:
        """The administration's page."""
        return self._get("contacts", "website")

    @property
    def has_contact(self) -> bool:
        """Whether citizens can reach anybody by what is set."""
        return bool(self.telephone or self.email or self.address)

    @cached_property
    def hours(self) -> Hours:
        """The opening hours; false where none are set."""
        return Hours(
            zone=ZoneInfo(settings.TIME_ZONE),
            days=tuple(read_spans(self._get("hours", day)) for day in DAY_FIELDS),
            country=self._get("hours", "country"),
            closed=tuple(map(read_closed, self._get("hours", "closed").splitlines())),
        )

    def status(self, now: datetime) -> Status | None:
        """Whether it is open at a moment; None where no hours are set."""
        return self.hours.status(now) if self.hours else None

    def closed_from(self, now: datetime) -> Sequence[Closed]:
        """The days, from today on, on which it is closed besides."""
        today = now.astimezone(self.hours.zone).date()
        coming = (each for each in self.hours.closed if each.last >= today)
        return tuple(sorted(coming, key=lambda each: each.first))

    @cached_property
    def languages(self) -> Sequence[str]:
        """The codes of the languages that the citizen's pages are offered in."""
        chosen = self._get("languages", "offered").split()
        return tuple(code for code in chosen if code in languages.NAMES) or tuple(languages.NAMES)

    @cached_property
    def other_sites(self) -> Sequence[str]:
        """The origins that may frame the citizen's pages and call the citizens' API."""
        return tuple(self._get("other_sites", "origins").splitlines())

    def examples(self, language: str) -> Sequence[str]:
        """Questions for the first page in a language."""
        return tuple(self._get("examples", language).splitlines())

    @property
    def has_examples(self) -> bool:
        """Whether there are any in any language."""
        return any(self.sections.get("examples", {}).values())

    def legal(self, language: str) -> dict[str, Text]:
        """The legal texts by field: in ``language``, else in the first that has one."""
        order = dict.fromkeys([language, "en", *self.languages, *languages.NAMES])
        found = {}
        for name in LEGAL_FIELDS:
            texts = ((self._get(LEGAL + code, name), code) for code in order)
            if first := next((Text(*each) for each in texts if each[0]), None):
                found[name] = first
        return found
