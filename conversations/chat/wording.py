"""The fixed words around an answer, in the citizen's language where there are any."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from babel.dates import format_date, format_time, get_datetime_format
from babel.units import format_unit
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext

from conversations import page_languages
from ieim.knowledge.headings import headings

PAGE = "en"
"""The language that the words are written in, and that of words that nobody has translated."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of ``wording.yaml`` in ``language``; ``headings`` are by field, ``around`` those of
    the agency and the category, ``steps`` by contract, ``statuses`` by a step's status, ``origins``
    by whose words a reply is."""

    language: str
    answer: str
    first: str
    headings: Mapping[str, str]
    around: Mapping[str, str]
    from_message: str
    source: str
    sources: str
    start: str
    why: str
    match: str
    quoted: str
    joined: str
    did: str
    steps: Mapping[str, str]
    statuses: Mapping[str, str]
    origins: Mapping[str, str]
    not_it: str
    person: str
    notice: str
    notice_from: str
    corrected: str
    by_staff: str
    unclear: str
    rating: Mapping[str, str]
    help_now: str
    safe: Mapping[str, str]
    announced: Mapping[str, str]
    held: Mapping[str, str]
    held_why: Mapping[str, str]
    may_help: Mapping[str, str]
    link: Mapping[str, str]
    waiting: Mapping[str, str]
    choice: Mapping[str, str]
    still: Mapping[str, str]
    closed: Mapping[str, str]
    more: str
    outside: Mapping[str, str]
    uncovered: Mapping[str, str]
    unanswered: str
    unsaid: Mapping[str, str]
    next_services: str
    checklist: Mapping[str, str]
    situation: Mapping[str, str]
    only: str
    partly: str
    switched_off: str
    busy: str
    too_many: Mapping[str, str]

    @property
    def code(self) -> str:
        """The language as Django knows it."""
        return _code(self.language)

    @property
    def direction(self) -> str:
        """``ltr`` or ``rtl``, as in HTML."""
        return page_languages.locale(self.language).text_direction

    @property
    def around_names(self) -> tuple[str, str]:
        """The text before and after the names in :attr:`match`."""
        before, _, after = self.match.partition("{names}")
        return before, after

    @property
    def around_more(self) -> tuple[str, str]:
        """The text before and after the name in :attr:`more`."""
        before, _, after = self.more.partition("{name}")
        return before, after

    @property
    def quotes(self) -> tuple[str, str]:
        opening, _, closing = self.quoted.partition("{name}")
        return opening, closing

    def heading(self, field: str) -> str:
        """Return the heading of a section of a reply; a citizen's own facts have one for all."""
        if field == "agencies":
            return self.outside["agencies"]
        return self.headings.get(field) or self.around.get(field) or self.from_message

    def notice_heading(self, agency: str) -> str:
        """Return whose notice it is; ``agency`` is empty for every agency's."""
        return self.notice_from.format(agency=agency) if agency else self.notice

    def day(self, at: datetime) -> str:
        """Return the day of a moment, as the language writes it in a sentence."""
        local = timezone.localtime(at)
        return format_date(local.date(), format="long", locale=page_languages.locale(self.language))

    def moment(self, at: datetime) -> str:
        """Return the day and the time of a moment."""
        locale = page_languages.locale(self.language)
        time = format_time(timezone.localtime(at).time(), format="short", locale=locale)
        both = str(get_datetime_format("medium", locale=locale))
        return both.replace("'", "").format(time, self.day(at))

    def limit(self, days: str, first: str = "") -> str:
        """Return a time limit in words, empty for none; ``first`` (ISO 8601) is the day from which
        it is counted, where it ends soon or is over."""
        if not days:
            return ""
        locale = page_languages.locale(self.language)
        time = format_unit(int(days), "duration-day", locale=locale)
        within = self.checklist["within"].format(time=time)
        if not first:
            return within
        last = date.fromisoformat(first) + timedelta(int(days))
        start, end = (format_date(day, "long", locale) for day in (date.fromisoformat(first), last))
        ends = self.checklist["over" if last < timezone.localdate() else "ends"]
        return f"{within}. {ends.format(start=start, end=end)}"

    @property
    def around_situation(self) -> tuple[str, str]:
        """The text before and after the name of a situation, above its checklist."""
        before, _, after = self.situation["title"].partition("{name}")
        return before, after

    def too_many_for(self, seconds: int) -> str:
        """Return the sentence that a message came too early, and when to send it again."""
        with translation.override(_code(self.language)):
            if seconds > 90:
                count = math.ceil(seconds / 60)
                wait = ngettext("{count} minute", "{count} minutes", count)
            else:
                count = max(2, seconds)
                wait = ngettext("{count} second", "{count} seconds", count)
        return self.too_many["sentence"].format(wait=wait.format(count=count))

    def only_in(self, language: str, *, whole: bool) -> str:
        """Return the sentence that a reply, ``whole`` or in part, is only in ``language``."""
        sentence = self.only if whole else self.partly
        return sentence.format(language=self._name(language))

    def read_as(self, language: str, *, named_in: str) -> str:
        """Return the sentences that a question was read as being in ``language``, that there is no
        answer in it, and that what there is to choose from is named in ``named_in``."""
        return self.choice["language"].format(
            language=self._name(language), named_in=self._name(named_in)
        )

    def _name(self, language: str) -> str:
        return page_languages.name(language, in_language=self.language)


def words(language: str) -> Words:
    """Return the words in ``language`` (ISO 639-1); in the page's where that has none."""
    return _words(_code(language) or _code(page_languages.current()) or _code(PAGE))


@cache
def _words(code: str) -> Words:
    with translation.override(code):
        return Words(
            language=page_languages.iso_code(code),
            headings=_translated(headings()),
            **_translated(_texts()),
        )


@cache
def _texts() -> Mapping[str, Any]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    texts: Mapping[str, Any] = yaml.safe_load(text)[PAGE]
    return texts


def _translated(texts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: gettext(text) if isinstance(text, str) else _translated(text)
        for key, text in texts.items()
    }


def _code(language: str) -> str:
    found = page_languages.find(language)
    return found.code if found else ""
