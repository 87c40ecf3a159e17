"""Cards, national numbers and telephone numbers: runs of digits in a reading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import phonenumbers
from stdnum import luhn

from ieim.pipeline.facts import dates, money
from ieim.pipeline.personal import LIKELY, SURE, Budget, Found, lead
from ieim.pipeline.personal.national import IN_FIGURES, Outcome, check

_DIGITS = re.compile(r"[0-9]+")
# What may stand inside one number; with a space it may also stand between two.
_JOINT = re.compile(r" ?[-–./()]{0,2} ?")
_MOST_GROUPS = 8
_SHORTEST, _LONGEST = 7, 19
_MOST_IN_PHONE = 15

_ATTACHED_BEFORE = re.compile(r"(?:[A-Za-z_@#]|[A-Za-z_][-./])\Z")
_ATTACHED_AFTER = re.compile(r"(?!(?i:x|ext)\.?\d)[A-Za-z_@]|[-/][A-Za-z]")
_EXTENSION = re.compile(r",? ?(?i:extension|ext|x)\.? ?\d{1,5}(?![0-9A-Za-z])")
_YEARS = re.compile(r"(?:(?:19|20)\d\d[-–/ ]{0,3}){2,}")
_PLUS = re.compile(r"\+ ?\(?\Z")
# Groups of national telephone numbers that are written without a leading zero.
_PHONE_GROUPS = frozenset(
    ["3-3-4", "1-3-3-4", "3-7", "3-3-3", "3-2-2-2", "2-3-2-2", "3-6", "1-10", "2-2-2-2-2"]
)
# Prefix and lengths of each scheme, as the issuers publish them (ISO/IEC 7812).
_CARD = re.compile(
    r"4\d{12}(?:\d{3}){0,2}"  # Visa
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|[689]\d)\d{11}(?:\d{2})?"  # Diners Club
    r"|(?:6011|65\d\d|64[4-9]\d)\d{12}(?:\d{3})?"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12}"  # JCB
    r"|62\d{14,17}"  # UnionPay
    r"|(?:50|5[6-9]|6[037])\d{11,17}"  # Maestro
    r"|(?:9792|220[0-4])\d{12}"  # Troy, Mir
)
_FILLER = (
    r"(?:[\s.:=#(№-]{0,4}+[^\W\d_]{1,9}+){0,4}[\s.:=#(№-]{0,4}+(?:n[or]?[°.]?\s?)?\+?\s?\(?(?=\d)"
)
_PHONE_LEAD = lead("phone", between=_FILLER)
_REFERENCE_LEAD = lead("reference", between=_FILLER)
_NATIONAL_LEAD = lead("national", between=_FILLER)

Group = tuple[int, int]


@dataclass(frozen=True)
class Message:
    """A reading, and what its digits are searched with.

    ``called`` are the places where digits begin that the nearest word before says to be a telephone
    number, ``referred`` those of a reference.
    """

    text: str
    groups: Sequence[Group]
    regions: Sequence[str]
    budget: Budget
    called: frozenset[int]
    referred: frozenset[int]

    @cached_property
    def other(self) -> bytes:
        """1 for each character that belongs to an amount of money or a date."""
        occupied = bytearray(len(self.text) + 1)
        starts = [start for start, _ in self.groups]
        for hit in (*money.hits(self.text, starts, ()), *dates.hits(self.text, starts)):
            occupied[hit.start : hit.end] = bytes([1]) * (hit.end - hit.start)
        return bytes(occupied)


def hits(text: str, regions: Sequence[str], budget: Budget) -> Iterator[Found]:
    """Yield the cards, national numbers and telephone numbers of a reading; none overlap.

    ``regions`` are the countries (ISO 3166) whose national telephone numbers are known.
    """
    groups = [match.span() for match in _DIGITS.finditer(text)]
    if not groups:
        return
    # "In my case, SSN …": the nearest word tells.
    called, referred, national = (
        {match.end(): match.start() for match in pattern.finditer(text)}
        for pattern in (_PHONE_LEAD, _REFERENCE_LEAD, _NATIONAL_LEAD)
    )
    message = Message(
        text,
        groups,
        regions,
        budget,
        frozenset(at for at, word in called.items() if word >= referred.get(at, -1)),
        frozenset(
            at
            for at, word in referred.items()
            if word > called.get(at, -1) and word >= national.get(at, -1)
        ),
    )
    for run in _runs(text, groups):
        yield from _in_run(message, run)


def _runs(text: str, groups: Sequence[Group]) -> Iterator[list[Group]]:
    run = [groups[0]]
    for group in groups[1:]:
        if not _JOINT.fullmatch(text, run[-1][1], group[0]):
            yield run
            run = []
        run.append(group)
    yield run


def _in_run(message: Message, run: list[Group]) -> Iterator[Found]:
    """Yield what stands in a run of digit groups: from each on, the longest number first."""
    text = message.text
    first = 0
    while first < len(run):
        begins = first == 0 or " " in text[run[first - 1][1] : run[first][0]]
        hit = _from(message, run, first) if begins else None
        if hit is None:
            first += 1
            continue
        yield hit
        while first < len(run) and run[first][0] < hit.end:
            first += 1


def _from(message: Message, run: list[Group], first: int) -> Found | None:
    windows = list(_windows(message.text, run, first))
    for window in windows:
        if message.budget.exhausted:
            # Nobody writes so many numbers: rather too much is hidden than anything shown.
            return Found("NATIONAL_ID", window[0][0], window[-1][1], LIKELY)
        if hit := _number(message, window):
            return hit
    if windows and windows[-1][0][0] in message.called:
        for window in windows:
            if len(_figures(message.text, window)) <= _MOST_IN_PHONE:
                return _phone(message, window, LIKELY)
    return None


def _windows(text: str, run: list[Group], first: int) -> Iterator[list[Group]]:
    """Yield the groups of each number that may begin at ``first``, the longest first."""
    window = run[first : first + _MOST_GROUPS]
    digits = sum([end - start for start, end in window])
    while digits >= _SHORTEST:
        last = first + len(window)
        ends = last == len(run) or " " in text[run[last - 1][1] : run[last][0]]
        if ends and digits <= _LONGEST:
            yield window
        digits -= window[-1][1] - window[-1][0]
        window = window[:-1]


def _number(message: Message, window: list[Group]) -> Found | None:
    text, start, end = message.text, window[0][0], window[-1][1]
    attached = _ATTACHED_AFTER.match(text, end) or (
        start not in message.called and _ATTACHED_BEFORE.search(text, max(0, start - 2), start)
    )
    if attached:
        return None
    figures = _figures(text, window)
    sizes = "-".join(str(b - a) for a, b in window)
    if _CARD.fullmatch(figures):
        message.budget.spend()
        if luhn.is_valid(figures):
            return Found("CARD", start, end)
    if _PLUS.search(text, max(0, start - 3), start):
        return _phone(message, window, SURE) if len(figures) <= _MOST_IN_PHONE else None
    if start not in message.called and _is_national(message, window, figures, sizes):
        return Found("NATIONAL_ID", start, end, LIKELY)
    # Few texts come so far, and to look for money and dates takes longer than all the rest.
    if _is_phone(message, start, figures, sizes) and message.other.find(1, start, end) < 0:
        return _phone(message, window, LIKELY)
    return None


def _is_national(message: Message, window: list[Group], figures: str, sizes: str) -> bool:
    start, end = window[0][0], window[-1][1]
    if start in message.referred or _YEARS.fullmatch(message.text, start, end):
        return False
    for name, groups in IN_FIGURES.get(len(figures), ()):
        if groups and groups != sizes:
            continue
        message.budget.spend()
        # Of numbers in groups the check wants the marks between them, as of 850730-033.
        number = message.text[start:end] if groups == "6-4" else figures
        if check(name, number) is Outcome.PASSED:
            return True
    return False


def _is_phone(message: Message, start: int, figures: str, sizes: str) -> bool:
    called = start in message.called
    if start in message.referred:
        return False
    if figures.startswith("00") and len(figures) > 10:
        return _valid(message, "+" + figures[2:], None)
    if not figures.startswith("0") and not called and sizes not in _PHONE_GROUPS:
        return False
    return any(
        _valid(message, figures, region)
        for region in message.regions
        if figures.startswith("0") or phonenumbers.ndd_prefix_for_region(region, True) != "0"
    )


def _valid(message: Message, number: str, region: str | None) -> bool:
    message.budget.spend()
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


def _phone(message: Message, window: list[Group], certainty: int) -> Found:
    """Return the number with the mark before it, its parentheses and its extension."""
    text, start, end = message.text, window[0][0], window[-1][1]
    if plus := _PLUS.search(text, max(0, start - 3), start):
        start = plus.start()
    elif text[start - 1 : start] == "(" and ")" in text[start:end]:
        start -= 1
    if extension := _EXTENSION.match(text, end):
        end = extension.end()
    return Found("PHONE", start, end, certainty)


def _figures(text: str, window: list[Group]) -> str:
    return "".join(text[start:end] for start, end in window)
