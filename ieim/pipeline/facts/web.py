"""URLs and e-mail addresses in a reading."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ieim.pipeline.facts.reading import MARKS, Hit, read

# Every quantifier over characters is possessive or fixed, so that nothing is tried twice.
_TAIL = r'[^\s<>"`|\\]'
_LABEL = rf"[\w{MARKS}-]"
_HOST = rf"{_LABEL}++(?:\.{_LABEL}++)+"
_WEB = re.compile(
    rf"(?<![\w{MARKS}-])(?:"
    rf"(?P<link>[A-Za-z][A-Za-z0-9+.-]{{1,30}}+://{_TAIL}++)"
    rf"|(?P<script>(?i:javascript|vbscript):\s?{_TAIL}++|(?i:data):(?:[\w.+-]++/[\w.+-]++)?[;,]{_TAIL}*+)"
    rf"|(?P<host>{_HOST})(?P<tail>(?::\d{{1,5}}+)?(?:[/?#]{_TAIL}*+)?))"
)
_MARKDOWN = re.compile(r'\]\(\s?<?(?!(?i:mailto|tel):)([^\s<>)"]++)')
_AT = re.compile(rf"@({_HOST})")
_EXAMPLE = re.compile(r"\A[-_]*(?:(?:e\.g|i\.e)\.)?", re.IGNORECASE)
_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]*+)://")
_PARENTHESIS = re.compile(r"[()]")
_TRAILING = ".,;:!?*_~'…]}–—"

_TOP_LEVEL = re.compile(
    r"gov|com|org|net|int|edu|mil|info|biz|museum|coop|example|test|invalid|local|xn--.*",
    re.IGNORECASE,
)
# What looks like a host and is a file's name.
_FILE = re.compile(
    r"pdf|docx?|odt|rtf|txt|xlsx?|ods|csv|pptx?|jpe?g|png|gif|heic|tiff?|xml|json|html?",
    re.IGNORECASE,
)


def hits(text: str) -> Iterator[Hit]:
    """Yield every URL and e-mail address of a reading; they may overlap."""
    if "." in text or ":" in text:
        for match in _WEB.finditer(text):
            if hit := _host(match) if match["host"] else _link(match[0], match.start()):
                yield hit
    if "](" in text:
        for match in _MARKDOWN.finditer(text):
            if hit := _link(match[1], match.start(1)):
                yield hit
    if "@" in text:
        free = 0  # after the address before: none begins inside another
        for match in _AT.finditer(text):
            begin = match.start()
            while begin > free and (text[begin - 1].isalnum() or text[begin - 1] in "_.+%'-"):
                begin -= 1
            if begin == match.start():
                continue
            free = match.end()
            matched = text[begin:free]
            address = matched.lstrip(".'-_").rstrip("-_")
            start = begin + matched.index(address)
            yield Hit("email", start, start + len(address), _composed(address.lower()))


def url_value(url: str) -> str:
    """Return what two spellings of one URL share.

    No http or https, no ``www.``, no trailing slash, the host in lower case; the rest is kept, and
    so is any other scheme.
    """
    text = _composed(read(url).text.strip())
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in ("http", "https"):
        return scheme[1].lower() + text[scheme.end(1) :]
    rest = text[scheme.end() :] if scheme else text.removeprefix("//")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return host.lower().removeprefix("www.").rstrip(".") + rest[len(host) :].rstrip("/")


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _link(address: str, start: int) -> Hit | None:
    link = _trimmed(address)
    return Hit("url", start, start + len(link), url_value(link)) if link else None


def _host(match: re.Match[str]) -> Hit | None:
    """Return a bare host with its path, None when it is only words that a full stop joins.

    Labels that cannot end a host are given up from the right, so that a sentence that begins
    straight after a host does not hide it.
    """
    host = _EXAMPLE.sub("", match["host"])
    start = match.end("host") - len(host)
    labels = host.rstrip("-_").split(".")
    size = len(labels)
    if size < 2:
        return None
    if not _ends_host(labels, size, path=bool(match["tail"])):
        size -= 1
        while size > 1 and not _ends_host(labels, size, path=False):
            size -= 1
        if size < 2:
            return None
        url = ".".join(labels[:size])
    else:
        url = ".".join(labels) + match["tail"]
        if len(match["tail"]) > 1 or match["tail"] == "/":
            url = _trimmed(url)
    return Hit("url", start, start + len(url), url_value(url))


def _ends_host(labels: list[str], size: int, *, path: bool) -> bool:
    """Whether the first ``size`` labels make a host, judged by the last two of them."""
    last, before = labels[size - 1], labels[size - 2]
    if _TOP_LEVEL.fullmatch(last):
        return True
    if not 2 <= len(last) <= 24 or not last.isalpha():
        # An address in digits is a URL with a path; without one it may be a section's number.
        return path and size == 4 and all(label.isdecimal() for label in labels)
    if path or labels[0].lower() == "www":
        return True
    one_case = last.islower() or last.isupper()
    if len(last) == 2:
        # "Pay the fee.It is" is two sentences, "Service.Gov.Uk" is a host.
        return not before.isdecimal() and (one_case or (size > 2 and len(before) > 1))
    if _FILE.fullmatch(last) or len(before) < 2 or before.isdecimal():
        return False
    return last.islower() or (last.isupper() and before.isupper())


def _trimmed(url: str) -> str:
    """Leave out what belongs to the sentence: a closing parenthesis that the URL did not open and
    what follows it, and punctuation at the end."""
    url = url.split("](", maxsplit=1)[0]
    depth = 0
    for match in _PARENTHESIS.finditer(url):
        depth += 1 if match[0] == "(" else -1
        if depth < 0:
            url = url[: match.start()]
            break
    return url.rstrip(_TRAILING)
