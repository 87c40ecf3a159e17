"""Evidence: the place of a quote in the citizen's text, if it is there.

Offsets are Unicode code points, half-open, into the text as it was sent. An exact slice is taken
first, then one that is equal after folding; both must begin and end at whole words and numbers.
A quote that is not found is searched once more without its surrounding quotation marks.
Nothing fuzzy is ever accepted. No function here raises for any str.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from ieim.pipeline.evidence.edges import may_begin, may_end, whole
from ieim.pipeline.evidence.folding import Folded, fold, fold_cached, fold_quote
from ieim.pipeline.facts.reading import MARKS

# Screening strips these, and people see them as white space: a quote may have it either way.
_CONTROL_SPACES = {ord(c): " " for c in "\x0b\x0c\x1c\x1d\x1e\x1f\x85"}
_CONTROL_SPACE = re.compile("[\x0b\x0c\x1c-\x1f\x85]")

# What a quote may be put between, by kind. A prime is none.
_QUOTATION_MARKS = {
    **dict.fromkeys("'‘’‚‛‹›＇", "'"),
    **dict.fromkeys('"“”„‟«»＂', '"'),
    **dict.fromkeys("「」｢｣", "「"),
    **dict.fromkeys("『』", "『"),
}
# One that may be open, or a unit: not the apostrophe of a word.
_OPEN_MARK = {"'": re.compile(r"(?<![^\W\d_])'|'(?![^\W\d_])"), '"': re.compile('"')}

# A word with its marks: without them the i and the d of a folded "İd" were the i and d of "I'd".
_WORD = re.compile(rf"(?:[^\W_][{MARKS}]*+)+")

_SPACES_AND_DASHES = " -‐‑‒–—―−"
_HIDDEN = "redacted|masked|hidden|removed|name|e-?mail|phone|address|number|date|account|card|id"
_PLACEHOLDER = rf"[A-Z][A-Z0-9_ .:-]*|(?i:(?:{_HIDDEN})(?:[ _-](?:{_HIDDEN}|\d+))*)"
_MASK = re.compile(
    r"\*+|[•●∙■▪█…]+|·{2,}|\.{3,}|#{2,}|_{2,}"
    r"|[Xx]{3,}|(?<![^\W\d_])[Xx]{2}(?![^\W\d_])"
    rf"|\[(?:{_PLACEHOLDER})\]|<(?:{_PLACEHOLDER})>|\{{(?:{_PLACEHOLDER})\}}"
)

_STOP_WORDS = tuple(
    frozenset(words.split())
    for words in yaml.safe_load(
        Path(__file__).with_name("stop_words.yaml").read_text(encoding="utf-8")
    ).values()
)
"""Filler words, one set a language."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where a quote stands: code points ``start`` to ``end`` (half-open) of the citizen's text.

    ``occurrences`` is how many places would do.
    """

    start: int
    end: int
    occurrences: int


UsedSpans = dict[str, set[tuple[int, int]]]
"""The places that quotes have had, by the folded quote."""


def locate(text: str, snippet: str) -> Span | None:
    """Return the first place of ``snippet`` in ``text``, None when it is not there."""
    places = _quoted_places(text, snippet)
    return Span(*places[0], occurrences=len(places)) if places else None


def locate_each(
    text: str, snippets: Sequence[str], used_spans: UsedSpans | None = None
) -> list[Span | None]:
    """Locate every snippet of one list.

    A quote that is repeated in the list (whatever its case or typography) maps to successive
    occurrences; when there are more repeats than occurrences, to the last one. Lists that
    share ``used_spans`` (empty at first) are mapped as if they were one.
    """
    used_spans = {} if used_spans is None else used_spans
    spans: list[Span | None] = []
    for snippet in snippets:
        places = _quoted_places(text, snippet)
        if not places:
            spans.append(None)
            continue
        used = used_spans.setdefault(fold_quote(_unquoted(snippet) or snippet), set())
        span = next((span for span in places if span not in used), places[-1])
        used.add(span)
        spans.append(Span(*span, occurrences=len(places)))
    return spans


def is_trivial(snippet: str) -> bool:
    """Whether ``snippet`` says too little to be evidence: fewer than two
    letters or digits, or nothing but stop words of one language."""
    folded = fold_quote(snippet)
    if sum(character.isalnum() for character in folded) < 2:
        return True
    words = set(_WORD.findall(folded))
    return any(words <= stop_words for stop_words in _STOP_WORDS)


def snippet_sha256(text: str, span: Span) -> str:
    """Return the lower-case hex SHA-256 over the UTF-8 of ``text[span.start:span.end]``."""
    piece = text[span.start : span.end]
    return hashlib.sha256(piece.encode("utf-8", "surrogatepass")).hexdigest()


def contains_value(quote: str, value: str, *, masks: bool = True) -> bool:
    """Whether ``quote`` contains ``value``, ignoring spaces and hyphens.

    It may not be cut out of a longer number or word. Of a masked value (``****1234``, ``[EMAIL]``)
    only the unmasked parts must be there, in order, and may be cut where the mask adjoins; a
    wholly masked one always is. Without ``masks`` such a value is taken as it is written. A
    blank value is never contained.
    """
    if _places(quote, value):
        return True
    parts = _MASK.split(value) if masks else [value]
    if len(parts) > 1:
        # Beside a mask a hyphen joins: the one of ****-1234 is no minus.
        parts = [parts[0], *(part.lstrip(_SPACES_AND_DASHES) for part in parts[1:])]
    needles = [_close_up(fold(part)).text if _says_something(part) else "" for part in parts]
    if not any(needles):
        return len(parts) > 1
    haystack = _close_up(fold(quote))
    at = 0
    for number, needle in enumerate(needles):
        if not needle:
            continue
        match = _find_part(
            quote, haystack, needle, at, first=number == 0, last=number == len(parts) - 1
        )
        if match is None:
            return False
        at = match
    return True


def _quoted_places(text: str, snippet: str) -> list[tuple[int, int]]:
    """Return the places of ``snippet``, or else of the text between its quotation marks."""
    places = _places(text, snippet)
    if not places and (inner := _unquoted(snippet)):
        return _places(text, inner)
    return places


def _unquoted(snippet: str) -> str:
    """Return ``snippet`` without one pair of quotation marks around the whole of it; "" when it
    has none.

    After a digit the last mark may be a unit instead, as in ``'5' and 6'`` (feet): then none of its
    kind may stand inside, but for the apostrophes of words.
    """
    snippet = snippet.strip()
    mark = _QUOTATION_MARKS.get(snippet[:1])
    if mark is None or _QUOTATION_MARKS.get(snippet[-1]) != mark:
        return ""
    inner = snippet[1:-1].strip()
    open_mark = _OPEN_MARK.get(mark)
    if open_mark and inner[-1:].isdigit() and open_mark.search(fold(inner).text):
        return ""
    return inner


def _places(text: str, snippet: str) -> list[tuple[int, int]]:
    """Return every place of ``snippet``, from left to right, none overlapping another."""
    places = _places_as_written(text, snippet)
    if not places and (_CONTROL_SPACE.search(text) or _CONTROL_SPACE.search(snippet)):
        as_spaces = text.translate(_CONTROL_SPACES), snippet.translate(_CONTROL_SPACES)
        return _places_as_written(*as_spaces)
    return places


def _places_as_written(text: str, snippet: str) -> list[tuple[int, int]]:
    size = len(text)
    exact = Folded(text, range(size), range(1, size + 1))
    if snippet and (places := list(_whole_matches(text, exact, snippet))):
        return places
    needle = fold_quote(snippet)
    return list(_whole_matches(text, fold_cached(text), needle)) if needle else []


def _whole_matches(text: str, haystack: Folded, needle: str) -> Iterator[tuple[int, int]]:
    at = haystack.text.find(needle)
    while at >= 0:
        start, end = haystack.starts[at], haystack.ends[at + len(needle) - 1]
        is_match = start >= 0 and end >= 0 and whole(text, start, end)
        if is_match:
            yield start, end
        at = haystack.text.find(needle, at + (len(needle) if is_match else 1))


def _find_part(
    quote: str, haystack: Folded, needle: str, at: int, *, first: bool, last: bool
) -> int | None:
    """Return the index after the first fit of ``needle`` from ``at`` on; the outer edges of the
    first and the last part must be whole."""
    at = haystack.text.find(needle, at)
    while at >= 0:
        start, end = haystack.starts[at], haystack.ends[at + len(needle) - 1]
        if (
            start >= 0
            and end >= 0
            and (not first or may_begin(quote, start))
            and (not last or may_end(quote, end))
        ):
            return at + len(needle)
        at = haystack.text.find(needle, at + 1)
    return None


def _says_something(part: str) -> bool:
    """Whether a part of a value has a letter, a digit, a percent or a currency sign."""
    return re.search(r"[^\W_]|[%‰$¢-¥\u20a0-\u20cf]", part) is not None


def _close_up(folded: Folded) -> Folded:
    """Leave out spaces and hyphens, but not the sign of a number.

    A hyphen is a sign when a digit follows it at once, it does not follow a letter or digit at
    once, and it does not follow a digit at all ("020 -7946" is a telephone number).
    """
    remaining: list[int] = []
    last = ""
    for index, character in enumerate(folded.text):
        if character == "-":
            previous, following = folded.text[index - 1 : index], folded.text[index + 1 : index + 2]
            if previous.isalnum() or last.isdigit() or not following.isdigit():
                continue
        elif character == " ":
            continue
        remaining.append(index)
        last = character
    return Folded(
        "".join(folded.text[index] for index in remaining),
        [folded.starts[index] for index in remaining],
        [folded.ends[index] for index in remaining],
    )
