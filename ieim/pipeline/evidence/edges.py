"""Edges: where a quote may begin and end without changing what was said.

A place in the text is judged by the characters on both sides of it, as people see them: folded,
and past the characters that fold to nothing. What is cut is refused; nothing is repaired.
"""

from __future__ import annotations

import re
import unicodedata

from ieim.pipeline.evidence.folding import JOINS, SPACE, fold_char
from ieim.pipeline.facts.reading import SYMBOLS

# As far as any rule looks: eight letters and an apostrophe before; after, a space, three digits and
# what follows them.
_BEFORE, _AFTER = 9, 6

_THIN_SPACES = "\u00a0\u202f\u2009"
_POINTS = ".\u066b"
_INSIDE_NUMBERS = frozenset(".,'\u066b\u066c\u00b7/:\u2044")
_SIGNS = "-+±"
_PERCENT = "%‰"
_APOSTROPHES = "'`´"
_AMOUNT_SO_FAR = re.compile(
    rf"(?P<currency>(?:[{SYMBOLS}]|\b[A-Z]{{3}})\s?)?"
    r"(?<!\d)(?<!\d[ .,])[1-9]\d{0,2}(?: \d{3})*\Z"
)
_REST_OF_AMOUNT = re.compile(
    rf"(?: \d{{3}}(?!\d)){{1,6}}(?:[.,]\d{{1,2}}(?!\d))?\s?(?P<currency>[{SYMBOLS}]|[A-Z]{{3}}\b)?"
)
_LONGEST_AMOUNT = 24
_KHMER_AND_MYANMAR_STACKERS = "\u17d2\u1039"
_JOINER = "\u200d"
_UNSPACED = re.compile(
    "[\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af"  # Han
    "\u3041-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # Hiragana, Katakana
    "\u0e00-\u0eff\u1780-\u17ff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f]"  # Thai to Myanmar
)
_ELISIONS = frozenset(
    {"l", "d", "j", "m", "t", "s", "c", "qu", "lorsqu", "puisqu", "quoiqu", "jusqu"}
    | {"dell", "all", "nell", "sull", "dall", "un"}
)
"""What may stand before an apostrophe and be left out of a quote. Never n: n'ai is a negation."""
_LETTERS_BEFORE_APOSTROPHE = re.compile(rf"(?<![^\W\d_])([^\W\d_]++)[{_APOSTROPHES}]\Z")
_NEGATING_PREFIX = re.compile(r"(?<!\w)(?:non|un|anti)-\Z")


def whole(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` cuts no word, number or character at either end.

    Outer white space and invisible characters of the slice do not count; a slice of nothing else is
    not whole.
    """
    while start < end and fold_char(text[start])[1] <= SPACE:
        start += 1
    while start < end and fold_char(text[end - 1])[1] <= SPACE:
        end -= 1
    return start < end and may_begin(text, start) and may_end(text, end)


def may_begin(text: str, at: int) -> bool:
    """Whether a quote may begin before ``text[at]``, a visible character."""
    if at == 0 or text[at - 1] in " \n":
        return not _cuts_spaced_amount(text, at - 1)
    return not _cuts(text, at, begins=True)


def may_end(text: str, at: int) -> bool:
    """Whether a quote may end before ``text[at]``, having ended with a visible character."""
    if at == len(text) or text[at] in " \n":
        return not _cuts_spaced_amount(text, at)
    return not _cuts(text, at, begins=False)


def _cuts(text: str, at: int, *, begins: bool) -> bool:
    around = text[at - 1 : at + 1]
    if around.isascii() and around.isalnum():
        return True  # by far the most frequent cut, so the quick way first
    before, after = _seen_before(text, at), _seen_after(text, at)
    if not before or not after:
        return False
    return (
        _cuts_character(before[-1], after[0], joiner=_JOINER in around)
        or _cuts_word(before[-1], after[0])
        or _cuts_number(before, after)
        or _cuts_sign(before, after, begins=begins)
        or _cuts_at_apostrophe(before, after, begins=begins)
        or (begins and after[0].isalpha() and bool(_NEGATING_PREFIX.search(before)))
    )


def _cuts_character(left: str, right: str, *, joiner: bool) -> bool:
    if left.isspace():
        return False
    if fold_char(right)[1] == JOINS:
        return True
    if left in _KHMER_AND_MYANMAR_STACKERS and _in_word(right):
        return True
    return joiner and not (_in_word(left) or right.isspace())


def _cuts_word(left: str, right: str) -> bool:
    # Han has numerals of its own: 3 is not what 3万 says, although Han separates no words.
    if left.isnumeric() and right.isnumeric():
        return True
    if not (_in_word(left) and _in_word(right)):
        return False
    return not (_UNSPACED.match(left) or _UNSPACED.match(right))


def _cuts_number(before: str, after: str) -> bool:
    left, right = before[-1], after[0]
    if left.isdigit():
        return (
            right in _PERCENT
            or (right in _INSIDE_NUMBERS and after[1:2].isdigit())
            or (right in _THIN_SPACES and _is_group_of_three(after[1:]))
        )
    if right.isdigit():
        further = before[-2:-1]
        if further.isdigit():
            return left in _INSIDE_NUMBERS or (left in _THIN_SPACES and _is_group_of_three(after))
        # ".5" without its point is ten times as much; after a word or "..." it is punctuation.
        return left in _POINTS and not further.isalpha() and further not in tuple(_POINTS)
    return False


def _cuts_spaced_amount(text: str, space: int) -> bool:
    """Whether the character at ``space`` groups the digits of an amount, as in "£1 250".

    An ordinary space does so only beside a currency: "in room 1 250 people" is two numbers.
    """
    if space < 1 or not (text[space - 1].isdigit() and text[space + 1 : space + 2].isdigit()):
        return False
    before = _AMOUNT_SO_FAR.search(text, max(0, space - _LONGEST_AMOUNT), space)
    after = _REST_OF_AMOUNT.match(text, space)
    return bool(before and after and (before["currency"] or after["currency"]))


def _is_group_of_three(after: str) -> bool:
    return len(after) >= 3 and after[:3].isdigit() and not after[3:4].isdigit()


def _cuts_sign(before: str, after: str, *, begins: bool) -> bool:
    """Whether a number loses its sign here, or the dash of "5-10" becomes one."""
    if _begins_amount(after) and before[-1] in _SIGNS:
        return not _ends_operand(before[:-1])
    return begins and after[0] in _SIGNS and _begins_amount(after[1:]) and _ends_operand(before)


def _begins_amount(after: str) -> bool:
    first, second = after[:1], after[1:2]
    return first.isdigit() or (bool(first) and _is_currency(first) and second.isdigit())


def _ends_operand(before: str) -> bool:
    """Whether a sign that follows ``before`` stands between two things, as in 5-10 or 5%-10%."""
    last, further = before[-1:], before[-2:-1]
    if not last:
        return False
    return last.isalnum() or last in ")%‰°" or (_is_currency(last) and further.isdigit())


def _is_currency(character: str) -> bool:
    return unicodedata.category(character) == "Sc"


def _cuts_at_apostrophe(before: str, after: str, *, begins: bool) -> bool:
    left, right = before[-1], after[0]
    if right in _APOSTROPHES and _in_word(left) and _in_word(after[1:2]):
        possessive = after[1] == "s" and not _in_word(after[2:3])
        return begins or not possessive
    if left in _APOSTROPHES and _in_word(right) and _in_word(before[-2:-1]):
        letters = _LETTERS_BEFORE_APOSTROPHE.search(before)
        return letters is None or letters[1] not in _ELISIONS
    return False


def _in_word(character: str) -> bool:
    """Whether ``character`` (one or none) is a letter, digit, mark or underscore."""
    return character.isalnum() or (
        character != "" and (character == "_" or unicodedata.category(character).startswith("M"))
    )


def _seen_before(text: str, at: int) -> str:
    """Return up to nine visible characters before ``at``, folded one by one."""
    piece = text[max(0, at - _BEFORE) : at]
    if piece.isascii() and piece.isprintable():
        return piece.lower()
    seen: list[str] = []
    while at > 0 and len(seen) < _BEFORE:
        at -= 1
        if character := _seen(text[at]):
            seen.append(character)
    return "".join(reversed(seen))


def _seen_after(text: str, at: int) -> str:
    """Return up to six visible characters from ``at`` on, folded one by one."""
    piece = text[at : at + _AFTER]
    if piece.isascii() and piece.isprintable():
        return piece.lower()
    seen: list[str] = []
    while at < len(text) and len(seen) < _AFTER:
        if character := _seen(text[at]):
            seen.append(character)
        at += 1
    return "".join(seen)


def _seen(character: str) -> str:
    # The spaces that group digits are no word spaces here.
    return character if character in _THIN_SPACES else fold_char(character)[0]
