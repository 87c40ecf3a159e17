"""Dates of birth in a reading: a full date beside a word such as "born"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ieim.pipeline.facts.reading import MARKS
from ieim.pipeline.personal.found import Found
from ieim.pipeline.personal.words import lead

_BIRTH = lead("birth", between="")
# Beside such a word any word may be a month's, in any language. A year alone is left: people ask
# what holds for those born in it.
_MONTH = rf"[^\W\d_][\w{MARKS}]{{2,14}}+\.?"
_DATE = re.compile(
    r"(?<![0-9])(?:"
    r"[0-9]{4}\s?[-/.]\s?[0-9]{1,2}\s?[-/.]\s?[0-9]{1,2}"
    r"|[0-9]{1,2}\s?[-/.]\s?[0-9]{1,2}\s?[-/.]\s?(?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日?"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|o|a|-?го)?[\s-](?:of\s|de\s)?{_MONTH}"
    r",?[\s-](?:of\s|de\s)?[0-9]{4}"
    r"|[0-9]{8}|[0-9]{6})(?![0-9])"
    rf"|(?<!\w){_MONTH}\s[0-9]{{1,2}}(?:st|nd|rd|th)?,?\s[0-9]{{4}}(?![0-9])",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"[!?;]|\.\s+[A-Z]|\n\n")
_AFTER, _BEFORE = 48, 32
"""How far from the word the date may be, in characters."""


def hits(text: str) -> Iterator[Found]:
    """Yield the date nearest to each word, after it or else before it; they may be the same."""
    if not re.search("[0-9]", text):
        return
    done = -1
    for word in _BIRTH.finditer(text):
        date = _DATE.search(text, word.end(), word.end() + _AFTER)
        if date is None or _SENTENCE_ENDS.search(text, word.end(), date.start()):
            date = _last(text, word.start())
        if date and date.start() != done:
            done = date.start()
            yield Found("DATE_OF_BIRTH", date.start(), date.end())


def _last(text: str, end: int) -> re.Match[str] | None:
    """Return the last date before ``end`` in the same sentence."""
    dates = list(_DATE.finditer(text, max(0, end - _BEFORE), end))
    if not dates or _SENTENCE_ENDS.search(text, dates[-1].end(), end):
        return None
    return dates[-1]
