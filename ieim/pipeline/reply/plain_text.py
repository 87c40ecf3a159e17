"""Plain text out of text that may be Markdown: its paragraphs, its first sentence, its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HTTP = re.compile(r"https?://[^\s<>\"\\\x00-\x1f\x7f]+", re.IGNORECASE)
_SENTENCE_END = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:No|Dr|Mr|Ms|St))(?<!\b(?:e\.g|i\.e|Mrs|Inc|Ltd))"
    r"[.!?][\"”’')\]]?(?=\s+[^\sa-z])"
)

# Markdown. No pattern tries a character twice: what may repeat excludes what ends it.
_LINK = re.compile(r"!?\[([^\[\]]*+)\]\(\s?<?([^\s<>()]*+)[^()\n]*+\)")
_MARKS = (
    re.compile(r"(?<![\w*])(\*{1,3})(?![\s*])(?P<words>[^*\n]++)(?<!\s)\1(?!\*)"),
    re.compile(r"(?<![\w/])(_{1,3})(?![\s_])(?P<words>[^_\n]++)(?<!\s)\1(?!\w)"),
    re.compile(r"(~~|`{1,3})(?P<words>[^~`\n]++)\1"),
)
_RULE = re.compile(r"[-*_=\s]*+|\s*+(?:```|~~~).*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)")
_ITEM = re.compile(r"(?<!\s)\s*+(?:[-*+•‣▪]|(\d{1,3}[.)]))\s++(.*)")
_QUOTE = re.compile(r"\A\s{0,3}>[>\s]*")


def first_sentence(text: str) -> str:
    """Return the first sentence of ``text``, all of it where it has no other."""
    end = _SENTENCE_END.search(text)
    return (text[: end.end()] if end else text).strip()


def paragraphs(text: str) -> Iterator[str]:
    """Split plain text or Markdown into paragraphs, without its marks.

    A heading or an item of a list is a paragraph of its own. Linear in the length of the text.
    """
    lines: list[str] = []
    for written in [*text.splitlines(), ""]:
        line = _QUOTE.sub("", written, count=1)
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        ends = _RULE.fullmatch(line)
        if (ends or heading or item) and lines:
            yield plain(" ".join(lines))
            lines = []
        if heading:
            yield plain(heading[1].rstrip().rstrip("#"))
        elif item:
            lines = [" ".join(filter(None, item.groups()))]
        elif not ends:
            lines.append(line.strip())


def plain(text: str) -> str:
    """Return ``text`` without Markdown's marks; a link is its words and its full URL."""
    text = _LINK.sub(_link_words, text)
    for marks in _MARKS:
        text = marks.sub(r"\g<words>", text)
    return text.strip()


def _link_words(match: re.Match[str]) -> str:
    words, url = match.groups()
    address = url.removeprefix("mailto:").removeprefix("tel:")
    says_more = address not in words and (address != url or _HTTP.fullmatch(url))
    return f"{words} ({address})" if words and says_more else words or address
