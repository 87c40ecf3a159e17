"""The fixed words around an answer, in the citizen's language where there are any."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from django.utils.translation import get_language_info

from ieim.knowledge.headings import headings

PAGE = "en"
"""The language of the pages, and of the words for a language that has none of its own."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of ``wording.yaml`` in ``language``; ``headings`` are by field, ``around`` those of
    the agency and the category, ``steps`` by contract, ``statuses`` by a step's status, ``origins``
    by whose words a reply is. ``day`` is a date's format, as Django's filter takes it."""

    language: str
    answer: str
    first: str
    headings: Mapping[str, str]
    around: Mapping[str, str]
    from_message: str
    source: str
    sources: str
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
    day: str
    help_now: str
    announced: Mapping[str, str]
    held: Mapping[str, str]
    waiting: Mapping[str, str]
    choice: Mapping[str, str]
    still: Mapping[str, str]
    closed: Mapping[str, str]
    more: str
    uncovered: Mapping[str, str]
    only: str
    partly: str
    too_many: Mapping[str, str]
    names: Mapping[str, str]

    @property
    def direction(self) -> str:
        """``ltr`` or ``rtl``, as in HTML."""
        return "rtl" if get_language_info(self.language)["bidi"] else "ltr"

    @property
    def around_names(self) -> tuple[str, str]:
        """What stands before and after the names in :attr:`match`."""
        before, _, after = self.match.partition("{names}")
        return before, after

    @property
    def quotes(self) -> tuple[str, str]:
        """The opening and the closing quotation mark."""
        opening, _, closing = self.quoted.partition("{name}")
        return opening, closing

    def heading(self, field: str) -> str:
        """Return the heading of a section of a reply; a citizen's own facts have one for all."""
        return self.headings.get(field) or self.around.get(field) or self.from_message

    def notice_heading(self, agency: str) -> str:
        """Return whose notice it is; ``agency`` is empty for every agency's."""
        return self.notice_from.format(agency=agency) if agency else self.notice

    def too_many_for(self, seconds: int) -> str:
        """Return the sentence that a message came too early, and when to send it again."""
        unit, count = "seconds", max(2, seconds)
        if seconds > 90:
            unit, count = "minutes", math.ceil(seconds / 60)
        return self.too_many["sentence"].format(wait=self.too_many[unit].format(count=count))

    def only_in(self, language: str, *, whole: bool) -> str:
        """Return the sentence that what is told, ``whole`` or in part, is only in ``language``."""
        sentence = self.only if whole else self.partly
        return sentence.format(language=self._name(language))

    def read_as(self, language: str, *, named_in: str) -> str:
        """Return the sentences that a question was read as being in ``language``, that there is no
        answer in it, and that what there is to choose from is named in ``named_in``."""
        return self.choice["language"].format(
            language=self._name(language), named_in=self._name(named_in)
        )

    def _name(self, language: str) -> str:
        return self.names.get(language) or _own_name(language)


def words(language: str) -> Words:
    """Return the words in ``language`` (ISO 639-1), in English where it has none."""
    return _all().get(language) or _all()[PAGE]


@cache
def _all() -> Mapping[str, Words]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return {
        code: Words(language=code, headings=headings()[code], **texts)
        for code, texts in yaml.safe_load(text).items()
    }


def _own_name(language: str) -> str:
    try:
        return str(get_language_info(language)["name_local"])
    except KeyError:
        return language
