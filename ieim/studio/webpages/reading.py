"""What a web page says: its main text, and what it says as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import trafilatura
from lxml.html import HtmlElement
from trafilatura import load_html
from trafilatura.settings import use_config
from w3lib.encoding import html_to_unicode

from ieim.pipeline.message.language import detect
from ieim.studio.webpages.embedded import data_of

MAX_TEXT = 40_000
"""Code points of a page's text; a longer one is no page about one thing."""
_MAX_MARKDOWN = 10 * MAX_TEXT
"""Code points of it with the addresses of its links."""
LINKS = "\n\n# Links\n"
"""What stands before the addresses of a page's links."""
_MAX_ELEMENTS = 20_000
"""HTML elements of a page: the time to extract its text grows with their square."""
# No link begins inside another's words or address: the time would grow with their square.
_LINK = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\((<[^<>\n]*>|[^()<\s]*)\)")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*\*|__|~~|`)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_HEADING_IN_ITEM = re.compile(r"^([-*]|\d{1,2}\.) +#{1,6} ", re.MULTILINE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?=-|$)")
_INLINE = frozenset(
    ["a", "abbr", "b", "br", "em", "i", "small", "span", "strong", "sub", "sup", "u"]
)
_FILLER = "⸭" * 300
"""Put behind links of the main part while it is extracted: the library takes fewer characters with
links for a menu."""
_FILLED = re.compile("(?<! ) *⸭+")
_SAMPLE = 2_000
"""Code points of a text that its language is told by."""
# A short page keeps its structure too: below this size the library takes all words of a page.
_CONFIG = use_config()
_CONFIG.set("DEFAULT", "MIN_EXTRACTED_SIZE", "20")
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


class Unreadable(Exception):
    """Nothing can be read from a page; the message is a sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was read.

    ``text`` has a block a paragraph: headings begin with ``#``, items of lists with ``- ``, rows of
    tables with ``|``. Its links stand in their words, and with their addresses at its end.
    ``language`` is ISO 639-1, "" where nothing says it. ``data`` is what the page says of itself
    as JSON-LD, and as microdata in the form of JSON-LD.
    """

    title: str
    language: str
    text: str
    data: tuple[Any, ...] = ()


def read(body: bytes, address: str) -> Page:
    """Return what a page in HTML says.

    Raises:
        Unreadable: it is none, has no text of its own, or more than :data:`MAX_TEXT`.
    """
    if body.lstrip()[:5] == b"%PDF-":
        raise Unreadable("It is a PDF. Only web pages can be read: give the page that links to it.")
    try:
        html = body.decode()
    except UnicodeDecodeError:
        # As it declares, or as browsers take a page that does not.
        _, html = html_to_unicode(None, body, default_encoding="cp1252")
    tree = load_html(html)
    if tree is None:
        raise Unreadable("It is no web page (HTML).")
    if tree.xpath("count(//*)") > _MAX_ELEMENTS:
        raise Unreadable(f"It has more than {_MAX_ELEMENTS:,} elements of HTML: split it.")
    data = data_of(tree, address)
    title = " ".join((tree.findtext(".//h1") or tree.findtext(".//title") or "").split())
    declared = _LANGUAGE.match(tree.get("lang") or tree.get(_XML_LANG) or "")
    _keep_words(tree)
    # It takes parts out of the tree, so it comes last.
    markdown = trafilatura.extract(
        tree,
        url=address,
        output_format="markdown",
        include_comments=False,
        include_links=True,
        favor_recall=True,
        config=_CONFIG,
    )
    if not markdown:
        raise Unreadable("It has no text of its own: only menus, scripts or pictures.")
    markdown = _FILLED.sub("", markdown)
    if len(markdown) > _MAX_MARKDOWN or len(text := _plain(markdown)) > MAX_TEXT:
        raise Unreadable(f"It has more than {MAX_TEXT:,} characters of text: split it.")
    language = declared[0].lower() if declared else next(iter(detect(text[:_SAMPLE])), "")
    return Page(title, language, text, data)


def _keep_words(tree: HtmlElement) -> None:
    """Mark as text what the library takes for a menu or leaves out: words in a box outside of any
    paragraph, lists inside of lists, links of the main part, and links to no page."""
    for nested in reversed(list(tree.iter("ul", "ol"))):
        if (item := nested.getparent()) is not None and item.tag == "li":
            for inner in reversed(nested.findall("li")):
                item.addnext(inner)
            nested.drop_tree()
    for block in list(tree.iter("p", "li")):
        if block.xpath(".//a[@href and not(starts-with(@href, '#'))]") and _in_main(block):
            filler = block.makeelement("span")
            filler.text = _FILLER
            block.append(filler)
    for element in list(tree.iter("div", "section", "article", "main", "a")):
        target = element.get("href", "#")
        if element.tag != "a":
            _wrap_words(element)
            if element.tag in ("div", "section") and _in_main(element):
                element.drop_tag()  # a short box with links is taken for a menu otherwise
        elif target == "#" or target.startswith(("tel:", "javascript:")):
            element.tag = "span"


def _in_main(element: HtmlElement) -> bool:
    return next(element.iterancestors("main", "article"), None) is not None


def _wrap_words(box: HtmlElement) -> None:
    """Put the words that stand in a box itself, with what is in line with them, into paragraphs."""
    inside = list(box)
    if not any(text and text.strip() for text in (box.text, *(child.tail for child in inside))):
        return
    paragraph, before, box.text = None, box.text, None
    if before and before.strip():
        paragraph = box.makeelement("p")
        paragraph.text = before
        box.insert(0, paragraph)
    for child in inside:
        if child.tag in _INLINE:
            if paragraph is None:
                paragraph = box.makeelement("p")
                child.addprevious(paragraph)
            paragraph.append(child)  # with the words behind it
            continue
        paragraph, behind, child.tail = None, child.tail, None
        if behind and behind.strip():
            paragraph = box.makeelement("p")
            paragraph.text = behind
            child.addnext(paragraph)


def _plain(markdown: str) -> str:
    """Return Markdown without emphasis and escapes, its links at the end."""
    links: dict[str, None] = {}

    def words(link: re.Match[str]) -> str:
        text, address = plain(link[1]).strip(), link[2].strip("<>")
        mail = address.removeprefix("mailto:")
        if address.startswith(("http://", "https://")) and text != address:
            links[f"- {text}: {address}"] = None
        elif mail != address and mail not in text:
            links[f"- {text}: {mail}"] = None
        return link[1].strip()

    def plain(marked: str) -> str:
        return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", marked))

    text = plain(_LINK.sub(words, markdown))
    text = _HEADING_IN_ITEM.sub(r"\1 ", text)
    return text.strip() + (LINKS + "\n".join(links) if links else "")
