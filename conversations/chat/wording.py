"""The fixed words around an answer, in the citizen's language where pages have it.

Templates translate their own sentences, in ``{% language words.code %}``. Here are the sentences
that code chooses among, and those that have a value in them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from babel.dates import format_date, format_time, format_timedelta, get_datetime_format
from django.utils import timezone, translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from conversations import page_languages
from ieim.knowledge.headings import HEADINGS

PAGE = "en"
"""The language that the words are written in, and that of words that nobody has translated."""

ANSWER_HEADINGS: Mapping[str, Promise] = {
    **HEADINGS,
    "category_value": _("Topic"),
    "agency_name": _("Agency"),
    "agency_description": _("About the agency"),
    "agency_path": _("The agency’s page"),
    "agencies": _("Agencies"),
}
"""The headings of an answer by field; a citizen's own facts have one for all."""

STEPS: Mapping[str, Promise] = {
    "judgement_v1": _("Reading your question"),
    "agency_detect_v1": _("Finding the right agency"),
    "category_select_v1": _("Finding the topic"),
    "semantic_analysis_v1": _("Finding the topics at each agency"),
    "service_select_v1": _("Finding the right service"),
    "multi_agency_service_answer_v1": _("Putting one answer together"),
}
"""The steps of the assistant, by contract."""

STATUSES: Mapping[str, Promise] = {
    "done": _("done"),
    "running": _("in progress"),
    "stopped": _("passed to a person"),
    "pending": _("to come"),
}

_INDEX = _("Chosen by an automated assistant (AI). Every word comes from the service list.")
ORIGINS: Mapping[str, Promise] = {
    "model": _("Written by an automated assistant (AI) and checked against the service list."),
    "guidance": _("Written by an automated assistant (AI)."),
    "prepared": _("This is a prepared text."),
    "index": _INDEX,
    "retold": _INDEX,
    "offline": _(
        "Put together by the offline engine from the service list, without a language model."
    ),
    "model_approved": _("A caseworker checked this answer."),
    "staff_override": _("A caseworker chose this answer from the service list."),
    "citizen_choice": _(
        "You chose this from what the assistant offered. It is shown as it stands in the service "
        "list."
    ),
    "staff": _("A caseworker wrote this answer."),
    "question": _("A caseworker asks you this. Please answer in the box below."),
}
"""Whose words a reply is."""

ANNOUNCED: Mapping[str, Promise] = {
    "received": _("We have your question."),
    "corrected": _("An answer has been corrected."),
    "ready": _("Your answer is ready."),
    "needs_review": _("A person will answer your question."),
    "asking": _("The assistant asks you to choose."),
    "awaiting_model": _("Your question is waiting. The assistant cannot be reached at the moment."),
}
"""What screen readers are sent, some of it by the state of a turn."""

WHY_HELD: Mapping[str, Promise] = {
    "unsafe": _(
        "The assistant could not answer this safely by itself, so it does not guess. It has passed "
        "your question to a caseworker."
    ),
    "unsure": _(
        "The assistant is not sure enough what the right answer is, so it does not guess. It has "
        "passed your question to a caseworker."
    ),
    "risk": _("Some messages are read by a person before anybody answers. Yours is one of them."),
    "asked": _("You asked for a person. One reads your message and answers you."),
    "language": _(
        "The assistant has no answer in the language of your question. It has passed your question "
        "to a caseworker."
    ),
    "none": _(
        "None of the services that the assistant found was what you need. It has passed your "
        "question to a caseworker."
    ),
    "expired": _(
        "You did not choose any of the services that the assistant found. It has passed your "
        "question to a caseworker."
    ),
    "unsigned": _(
        "A caseworker has written an answer. More than one agency has to agree to it before you "
        "get it."
    ),
    "failed": _(
        "Something did not work on our side. Your question is safe. It has been passed to a "
        "caseworker."
    ),
}
"""Why a person answers, by :attr:`conversations.chat.presenters.WaitingView.reason`."""


@dataclass(frozen=True, slots=True)
class Words:
    """Writes in ``language`` (ISO 639-1), one that pages have."""

    language: str

    @property
    def code(self) -> str:
        """The language as Django knows it."""
        return _code(self.language)

    @property
    def direction(self) -> str:
        """``ltr`` or ``rtl``, as in HTML."""
        return page_languages.locale(self.language).text_direction

    def translate(self, sentence: Promise, **values: object) -> str:
        """Return a lazy translation in this language, with the values of its placeholders."""
        with translation.override(self.code):
            text = str(sentence)
        return text.format(**values) if values else text

    def _around(self, sentence: Promise, name: str = "{name}") -> tuple[str, str]:
        prefix, _placeholder, suffix = self.translate(sentence).partition(name)
        return prefix, suffix

    @property
    def around_names(self) -> tuple[str, str]:
        """The text before and after the names in the sentence that says why this is the answer."""
        return self._around(_("The marked words of your question match {names}."), "{names}")

    @property
    def around_more(self) -> tuple[str, str]:
        """The text before and after the name of what can be read in full."""
        return self._around(_("Everything about this: {name}"))

    @property
    def around_situation(self) -> tuple[str, str]:
        """The text before and after the name of a situation, above its checklist."""
        return self._around(_("{name}: everything in order"))

    @property
    def quotes(self) -> tuple[str, str]:
        """The quotation marks around a name."""
        return self._around(_("“{name}”"))

    def heading(self, field: str) -> str:
        """Return the heading of a section of a reply."""
        return self.translate(ANSWER_HEADINGS.get(field) or _("From your message"))

    def notice_heading(self, agency: str) -> str:
        """Return whose notice it is; ``agency`` is empty for every agency's."""
        if not agency:
            return self.translate(_("Notice"))
        return self.translate(_("Notice from {agency}"), agency=agency)

    def day(self, day: date | datetime) -> str:
        """Return a day, or that of a moment, as the language writes it in a sentence."""
        on = timezone.localtime(day).date() if isinstance(day, datetime) else day
        return format_date(on, format="long", locale=page_languages.locale(self.language))

    def moment(self, moment: datetime) -> str:
        """Return the day and the time of a moment."""
        locale = page_languages.locale(self.language)
        time = format_time(timezone.localtime(moment).time(), format="short", locale=locale)
        both = str(get_datetime_format("medium", locale=locale))
        return both.replace("'", "").format(time, self.day(moment))

    def limit(self, days: str, first: str = "") -> str:
        """Return a time limit in words, empty for none; ``first`` (ISO 8601) is the day from which
        it is counted, where it ends soon or is over."""
        if not days:
            return ""
        locale = page_languages.locale(self.language)
        # Babel's format_unit has no word for a day in Portuguese, Chinese and Arabic.
        limit = timedelta(int(days))
        time = format_timedelta(limit, "day", threshold=math.inf, locale=locale)
        within = self.translate(_("Time limit: {time}"), time=time)
        if not first:
            return within
        last = date.fromisoformat(first) + timedelta(int(days))
        start, end = (format_date(day, "long", locale) for day in (date.fromisoformat(first), last))
        if last < timezone.localdate():
            ends = _("Counted from {start}, it ended on {end}.")
        else:
            ends = _("Counted from {start}, it ends on {end}.")
        return f"{within}. {self.translate(ends, start=start, end=end)}"

    def too_many(self, seconds: int) -> str:
        """Return the sentence that a message came too early, and when to send it again."""
        with translation.override(self.code):
            if seconds > 90:
                count = math.ceil(seconds / 60)
                wait = ngettext("{count} minute", "{count} minutes", count)
            else:
                count = max(2, seconds)
                wait = ngettext("{count} second", "{count} seconds", count)
        return self.translate(
            _(
                "Too many questions have come from here in a short time. Please wait {wait}, then "
                "send yours again."
            ),
            wait=wait.format(count=count),
        )

    def switched_off(self) -> str:
        """Return the sentence that nothing is answered at the moment."""
        return self.translate(
            _(
                "The assistant is switched off at the moment. What you asked before is safe. "
                "Please try again later, or talk to a person."
            )
        )

    def only_in(self, language: str, *, whole: bool) -> str:
        """Return the sentence that a reply, ``whole`` or in part, is only in ``language``."""
        if whole:
            sentence = _("This information is only available in {language}.")
        else:
            sentence = _("Some of this information is only available in {language}.")
        return self.translate(sentence, language=self._name(language))

    def read_as(self, language: str, *, named_in: str) -> str:
        """Return the sentences that a question was read as being in ``language``, that there is no
        answer in it, and that what there is to choose from is named in ``named_in``."""
        return self.translate(
            _(
                "The assistant read your question as being in {language}. There are no answers in "
                "that language. The services below are named as they are in the service list, in "
                "{named_in}. Choose one, and you get its answer at once."
            ),
            language=self._name(language),
            named_in=self._name(named_in),
        )

    def _name(self, language: str) -> str:
        return page_languages.name(language, in_language=self.language)


def words(language: str) -> Words:
    """Return the words in ``language`` (ISO 639-1); in the page's where that has none."""
    code = _code(language) or _code(page_languages.current()) or _code(PAGE)
    return Words(page_languages.iso_code(code))


def _code(language: str) -> str:
    page_language = page_languages.find(language)
    return page_language.code if page_language else ""
