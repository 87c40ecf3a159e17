"""The legible text of a message: its words without what was pasted or typed around them.

Markup (HTML, entities, Markdown, e-mail quotes, tables) and signs that add nothing to a word (vowel
points, stacked accents, Arabic's stretching, styled and full-width letters, characters without
width) lead search, language detection and the signs of danger astray. They are left out for these;
a map leads back to the text as sent.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ieim.pipeline.message.screen import STRIPPED_CLASS

# Joiners (U+200C, U+200D) and variation selectors stay: some scripts are spelled with them.
_UNSEEN_CLASS = f"{STRIPPED_CLASS}\u00ad\u034f\u0640\u180e\u200b\u2060-\u2064\u206a-\u206f"
_MARK_CLASS = "".join(
    chr(code)
    for first, beyond in (
        *((0x300, 0x370), (0x483, 0x488)),  # Latin, Greek, Cyrillic
        *((0x591, 0x5C8), (0x610, 0x750), (0x8D3, 0x900)),  # Hebrew, Arabic, Syriac
        *((0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x20D0, 0x2100), (0xFE20, 0xFE30)),
    )
    for code in range(first, beyond)
    if unicodedata.category(chr(code)) == "Mn"
)
_FORM_CLASS = (
    "\uff21-\uff3a\uff41-\uff5a\uff66-\uff9d\uffa1-\uffdc"  # full and half width
    # Arabic by position, styled letters. U+FDFA and U+FDFB are each a phrase of many words.
    "\ufb50-\ufdf9\ufe70-\ufefc\U0001d400-\U0001d7cb"
)
_INLINE = (
    *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font"),
    *("i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong"),
    *("sub", "sup", "tt", "u", "var", "wbr"),
)
_BLOCK = (
    *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "col"),
    *("colgroup", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "img", "input"),
    *("legend", "li", "link", "main", "meta", "nav", "o:p", "ol", "option", "p", "pre", "script"),
    *("section", "select", "style", "table", "tbody", "td", "textarea", "tfoot", "th", "thead"),
    *("title", "tr", "ul"),
)
_ATTRIBUTE = r"""\s++[\w:.-]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'|[^\s"'<>=]++)"""
_TAG = rf"(?:{_ATTRIBUTE})*\s*+/?+>"
_EMPHASIS = r"(?:[*_]{1,3}+(?![*_])|~~|`{1,3}+)"

_TOKEN = re.compile(
    rf"""
      (?P<gone> [{_UNSEEN_CLASS}]+
        | (?<![^\s(\["'“«>]){_EMPHASIS}(?=[^\s*_~`])
        | (?<=[^\s*_~`]){_EMPHASIS}(?![^\s.,;:!?)\]"'”»<])
        | ^[ \t]*+(?:>[ \t]*+)+ | ^[ \t]*+\#{{1,6}}+[ \t]++ | ^[ \t|:+=-]{{3,}}+$
        | !?+\[(?=[^][\n]*+\]\([^()\s]*+\)) | (?<=\S)\]\([^()\s]*+\) )
    | (?P<tag> <(?=[a-z/!?])(?: (?P<code>style|script){_TAG}[^<]*+</(?P=code)>
        | /?+(?P<name>{"|".join((*_INLINE, *_BLOCK))}){_TAG}
        | (?:!(?:--|\[|doctype\b)|\?(?:xml|mso))[^<>]*+> ) )
    | (?P<cell> [ \t]?+\|[ \t]?+ )
    | (?P<entity> &(?:\#[0-9]{{1,7}}|\#x[0-9a-f]{{1,6}}|[a-z][a-z0-9]{{1,31}}); )
    | (?P<form> [{_FORM_CLASS}][\uff9e\uff9f]?+[{_MARK_CLASS}]*+ )
    | (?P<marked> [^\W\d_]?[{_MARK_CLASS}]+ )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_NEEDED = re.compile(f"[][<>&|*_~`#{_UNSEEN_CLASS}{_FORM_CLASS}{_MARK_CLASS}]")
_NEEDLESS = re.compile(f"[{_UNSEEN_CLASS}{_MARK_CLASS}]")
_MAX_MARKS = 8
"""A taller stack of marks is no letter, and composing it takes quadratic time."""

_PASSES = 2
"""Markup is pasted as its source (``&lt;p&gt;``), too."""


@dataclass(frozen=True, slots=True)
class Legible:
    """A legible ``text``; character ``k`` of it replaces code points ``starts[k]`` to ``ends[k]``
    (half-open) of the text as sent."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


@lru_cache(maxsize=64)
def legible(text: str) -> Legible:
    """Return the legible text of a message; any str is taken. Linear in its length."""
    read = Legible(text, range(len(text)), range(1, len(text) + 1))
    for _ in range(_PASSES):
        if not _NEEDED.search(read.text):
            break
        read = _once(read)
    return read


def _once(read: Legible) -> Legible:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    for token in _TOKEN.finditer(read.text):
        first, beyond = token.span()
        words = _words(token)
        pieces += read.text[last:first], words
        starts += [*read.starts[last:first], *[read.starts[first]] * len(words)]
        ends += [*read.ends[last:first], *[read.ends[beyond - 1]] * len(words)]
        last = beyond
    pieces.append(read.text[last:])
    return Legible("".join(pieces), [*starts, *read.starts[last:]], [*ends, *read.ends[last:]])


def _words(token: re.Match[str]) -> str:
    """Return what is read in place of a token."""
    match token.lastgroup:
        case "tag":
            return "" if (token["name"] or "").lower() in _INLINE else "\n"
        case "cell":
            return " "
        case "entity":
            return _NEEDLESS.sub("", html.unescape(token[0]))
        case "form":
            return _NEEDLESS.sub("", unicodedata.normalize("NFKC", token[0][:_MAX_MARKS]))
        case "marked":
            return _NEEDLESS.sub("", unicodedata.normalize("NFC", token[0][:_MAX_MARKS]))
    return ""
