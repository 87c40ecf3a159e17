"""E-mail addresses, dates of birth and postal addresses in a reading: what patterns tell.

Addresses are kept conservative on purpose: a street word that means other things too counts only
where more of an address is next to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ieim.pipeline.facts.reading import MARKS
from ieim.pipeline.personal import LIKELY, Found, either, lead, vocabulary

# A local part is tried only where it begins, and nothing in it is given back: linear.
_LOCAL = rf"\w{MARKS}.+%'&-"
_LABEL = rf"[\w{MARKS}-]++"
_EMAIL = re.compile(rf"(?<![{_LOCAL}])[{_LOCAL}]++@{_LABEL}(?:\.{_LABEL})+")

_BIRTH = lead("birth", between="")
# Beside such a word any word may be a month's, in any language. A year alone is left: people ask
# what holds for those born in it.
_BIRTH_MONTH = rf"[^\W\d_][\w{MARKS}]{{2,14}}+\.?"
_BIRTH_DATE = re.compile(
    r"(?<![0-9])(?:"
    r"[0-9]{4}\s?[-/.]\s?[0-9]{1,2}\s?[-/.]\s?[0-9]{1,2}"
    r"|[0-9]{1,2}\s?[-/.]\s?[0-9]{1,2}\s?[-/.]\s?(?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日?"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|o|a|-?го)?[\s-](?:of\s|de\s)?{_BIRTH_MONTH}"
    r",?[\s-](?:of\s|de\s)?[0-9]{4}"
    r"|[0-9]{8}|[0-9]{6})(?![0-9])"
    rf"|(?<!\w){_BIRTH_MONTH}\s[0-9]{{1,2}}(?:st|nd|rd|th)?,?\s[0-9]{{4}}(?![0-9])",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"[!?;]|\.\s+[A-Z]|\n\n")
_DATE_AFTER, _DATE_BEFORE = 48, 32
"""How far from the word the date may be, in characters."""

_STREETS = vocabulary()["streets"]
_CAPITAL = rf"[A-Z\u0370-\u03ff\u0400-\u042f][\w{MARKS}'-]{{0,29}}+\.?"
_WORD = rf"[^\W\d_][\w{MARKS}'-]{{0,29}}+\.?"
_NUMBER = (
    r"(?<![\w.,/$€£#-])[0-9]{1,5}(?:\s?-\s?[0-9]{1,5}|[A-Za-z](?!\w))?"
    r"(?:\s?(?:bis|ter|quater)(?!\w))?"
)
# What makes the rest of an address: a flat, then a town with a postcode.
_FLAT = (
    r"(?:,?\s(?:(?i:apt|apartment|flat|unit|suite|ste|no)\.?\s?#?|#\s?)[0-9]{1,5}[A-Za-z]?(?!\w))"
)
_TOWN = rf"{_CAPITAL}(?:\s{_CAPITAL}){{0,2}}"
_POSTCODE = (
    r"(?:[A-Z]{2}\s[0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][0-9A-Z]?\s[0-9][A-Z]{2}"
    r"|[A-Z][0-9][A-Z]\s?[0-9][A-Z][0-9])(?!\w)"
)
_TOWN_POSTCODE = rf"(?:,?\s{_TOWN}){{0,2}},?\s{_POSTCODE}"
_POSTCODE_TOWN = (
    r"(?:,\s?|\s)(?:[A-Z]{1,2}-)?(?:[0-9]{5}|[0-9]{2}-[0-9]{3}|[0-9]{4}\s?[A-Z]{2})(?!\w)"
    rf"(?:\s{_TOWN})?"
)
_REST = rf"(?P<flat>{_FLAT})?(?P<town>{_TOWN_POSTCODE}|{_POSTCODE_TOWN})?"
_LINKS = r"(?:(?:de\sla|de\sl'|de\slos|de\slas|della|del|des|de|du|der|den|la|le|l'|d')\s?){0,2}"

_AFTER_NUMBER = re.compile(
    rf"{_NUMBER},?\s(?P<name>(?:{_WORD}\s){{1,4}}?)"
    rf"(?:(?P<sure>(?i:{either(_STREETS['after_number_sure'])}))"
    rf"|(?i:{either(_STREETS['after_number_unsure'])}))(?!\w)\.?(?:\s[NSEW]{{1,2}}(?!\w))?{_REST}"
)
_ENDING = re.compile(
    rf"(?<![\w{MARKS}])(?P<name>{_WORD}\s|)(?P<street>[^\W\d_][\w{MARKS}-]{{0,39}}+\.?)"
    rf"\s[0-9]{{1,4}}(?:\s?[a-z](?!\w))?(?!\w){_REST}"
)
_ENDS_SURE = re.compile(rf"(?:{either(_STREETS['ending_sure'])})\Z", re.IGNORECASE)
_ENDS_UNSURE = re.compile(rf"(?:{either(_STREETS['ending_unsure'])})\Z", re.IGNORECASE)
_FRENCH = re.compile(
    rf"{_NUMBER},?\s(?i:{either(_STREETS['french'])})\s(?i:{_LINKS}){_WORD}"
    rf"(?:[\s-]{_CAPITAL}){{0,3}}{_REST}"
)
_NAME_FIRST = re.compile(
    rf"(?<![\w/])(?i:{either(_STREETS['name_first'])})(?!\w)\s?(?i:{_LINKS}){_CAPITAL}"
    rf"(?:\s{_WORD}){{0,3}}?,?\s(?:n\.?[°o]?\s?)?[0-9]{{1,4}}(?:/[0-9]{{1,4}})?[a-zA-Z]?(?!\w)"
    rf"(?:,?\s[0-9]{{1,2}}[oa°](?:\s[A-Za-z]{{1,4}})?(?!\w))?{_REST}"
)
_BOX = re.compile(
    rf"(?<![\w.])(?i:{either(_STREETS['box'])})(?!\w)\s?(?:#|no\.?|n°)?\s?"
    rf"[0-9]{{1,5}}(?:\s[0-9]{{1,4}})?(?!\w){_REST}"
)
_BEFORE = re.compile(
    rf"(?<!\w)(?:{either(_STREETS['before'])})(?!\w)[\s:,]{{0,3}}"
    r"(?:(?:is|at|to|the|in|of|der|am|en|au|ist|est|es)\s){0,2}\Z",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 32
_PARTS = vocabulary()["parts"]
_HAN = "\u4e00-\u9fff"
_PART_NUMBER = r"[0-9]{1,5}(?:\s?[-/]\s?[0-9]{1,4})?[A-Za-z]?(?!\w)"
_HAN_NUMBER = r"(?:[0-9]{1,5}(?:[-之][0-9]{1,4})?[A-Za-z]?|[A-Z]|[一二三四五六七八九十百]{1,4})"
_STREET = rf"(?:{either(_PARTS['streets_before'])})\.?"
_PART = re.compile(
    rf"(?<!\w)(?i:(?P<home>{either(_PARTS['home_before'])})|{either(_PARTS['inside_before'])})"
    rf"(?![a-z_])[.:]?\s?(?i:no\.?|#|رقم|عدد)?\s?{_PART_NUMBER}"
    rf"|(?<!\w)(?P<street>{_STREET}(?:\s{_WORD}){{0,5}}?(?:،?\s?(?:رقم|عدد))?\s{_PART_NUMBER}"
    rf"|[0-9]{{1,5}}،?\s{_STREET}(?:\s{_WORD}){{1,3}})"
    rf"|(?<!\w)(?P<named>(?i:{either(_PARTS['named'])})\.?(?:\s{_WORD}){{1,2}})"
    rf"|(?P<road>[{_HAN}]{{1,6}}?(?:{either(_PARTS['streets_after'])}))?"
    rf"附?{_HAN_NUMBER}(?:(?P<own>{either(_PARTS['home_after'])})|{either(_PARTS['inside_after'])})"
)
_BETWEEN = re.compile(rf"[\s,،、.-]{{0,3}}(?:(?:{_WORD}[\s,،、-]{{1,2}}){{0,4}}|[{_HAN}]{{0,8}})")
"""What may stand between two parts: the name of a street or a quarter."""
_PARTS_END = re.compile(
    rf"(?<=[{_HAN}])[0-9]{{1,4}}(?:-[0-9]{{1,4}})?(?![0-9{_HAN}])"
    rf"|(?:[\s,،-]{{1,3}}{_WORD}){{1,4}}?[\s,،-]{{1,3}}[0-9]{{4,6}}(?!\w)"
)
"""What may end them: a flat, or a town with its postcode."""
# Small words in what looks like a street's name: "2 of the road".
_NO_NAME = re.compile(
    r"(?<![\w'-])(?:a|an|and|are|as|at|by|for|from|has|have|i|if|in|is|it|me|my|of|off|on|or|our|that|the|their"
    r"|this|to|was|we|were|with|you|your|years?|months?|weeks?|days?|hours?|minutes?|miles?|km|people"
    r"|high|supreme|crown|county|family|district|federal)(?![\w'-])",
    re.IGNORECASE,
)


def emails(text: str) -> Iterator[Found]:
    """Yield every e-mail address; international ones too."""
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        address = match[0].lstrip("'.-&").rstrip("-_")
        start = match.start() + match[0].index(address)
        yield Found("EMAIL", start, start + len(address))


def births(text: str) -> Iterator[Found]:
    """Yield the date nearest to each word, after it or else before it; they may be the same."""
    if not re.search("[0-9]", text):
        return
    done = -1
    for word in _BIRTH.finditer(text):
        date = _BIRTH_DATE.search(text, word.end(), word.end() + _DATE_AFTER)
        if date is None or _SENTENCE_ENDS.search(text, word.end(), date.start()):
            date = _date_before(text, word.start())
        if date and date.start() != done:
            done = date.start()
            yield Found("DATE_OF_BIRTH", date.start(), date.end())


def _date_before(text: str, end: int) -> re.Match[str] | None:
    """Return the last date before ``end`` in the same sentence."""
    dates = list(_BIRTH_DATE.finditer(text, max(0, end - _DATE_BEFORE), end))
    if not dates or _SENTENCE_ENDS.search(text, dates[-1].end(), end):
        return None
    return dates[-1]


def addresses(text: str) -> Iterator[Found]:
    """Yield every address; they may overlap."""
    if not re.search("[0-9]", text):
        return
    for match in _AFTER_NUMBER.finditer(text):
        if _is_street(text, match):
            yield _found(match)
    for match in _ENDING.finditer(text):
        street = match["street"]
        if _ENDS_SURE.search(street) or (
            _ENDS_UNSURE.search(street) and (match["town"] or _has_cue(text, match.start()))
        ):
            # A name of two words is "Lange Straße"; else the word before is the sentence's.
            two = street[:1].isupper() and _ENDS_SURE.fullmatch(street) and match["name"]
            if len(street) > 6 or two:
                start = match.start() if two else match.start("street")
                yield Found("ADDRESS", start, match.end(), LIKELY)
    for pattern in (_FRENCH, _NAME_FIRST, _BOX):
        yield from map(_found, pattern.finditer(text))
    yield from _in_parts(text)


def _in_parts(text: str) -> Iterator[Found]:
    """Yield the parts of an address that stand together: with a street and its number, or with one
    of a home and another part or a cue."""
    run: list[re.Match[str]] = []
    for part in [*_PART.finditer(text), None]:
        if run and part and _are_one(text, run[-1].end(), part.start()):
            run.append(part)
            continue
        street = any(match["street"] or match["road"] for match in run)
        home = any(match["home"] or match["own"] for match in run)
        if street or (home and (len(run) > 1 or _has_cue(text, run[0].start()))):
            rest = _PARTS_END.match(text, run[-1].end())
            yield Found("ADDRESS", run[0].start(), (rest or run[-1]).end(), LIKELY)
        # A quarter's name belongs to what stands before it.
        run = [part] if part and not part["named"] else []


def _are_one(text: str, start: int, end: int) -> bool:
    between = _BETWEEN.fullmatch(text, start, end)
    return bool(between) and not _NO_NAME.search(text, start, end)


def _found(match: re.Match[str]) -> Found:
    return Found("ADDRESS", match.start(), match.end(), LIKELY)


def _is_street(text: str, match: re.Match[str]) -> bool:
    name = match["name"]
    if _NO_NAME.search(name):
        return False
    whole = match["flat"] or match["town"] or _has_cue(text, match.start())
    if not match["sure"]:
        return bool(whole)
    return bool(whole) or all(word[0].isupper() or word[0].isdigit() for word in name.split())


def _has_cue(text: str, start: int) -> bool:
    return bool(_BEFORE.search(text, max(0, start - _LONGEST_BEFORE), start))
