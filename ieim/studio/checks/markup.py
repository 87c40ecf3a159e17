"""Texts with HTML in them: it is never run, so people read the signs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import COLUMNS
from ieim.knowledge.bundles.rows import IDENTITY, TABLES
from ieim.knowledge.headings import headings
from ieim.studio.checks.remarks import Remark, Severity

CODE = "text.markup"

_SHOWN = 3
# A tag, a comment, or a character by its name or number. Which names there are is looked up.
_SIGNS = re.compile(
    r"</?([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>|<!--|&(?:([a-z][a-z0-9]*;)|#[0-9]+;|#x[0-9a-f]+;)",
    re.IGNORECASE,
)
# The elements of the HTML standard, and those that it had: "<name>" and "<A38>" are none.
_NAMES = """
a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink
blockquote body br button canvas caption center cite code col colgroup data datalist dd del
details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame
frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend
li link main map mark marquee math menu meta meter nav nobr noframes noscript object ol
optgroup option output p param picture pre progress q rp rt ruby s samp script search section
select slot small source span strike strong style sub summary sup svg table tbody td template
textarea tfoot th thead time title tr track tt u ul var video wbr
"""
_ELEMENTS = frozenset(_NAMES.split())


def markup(bundle: Bundle) -> Iterator[Remark]:
    """Yield a warning for each text with markup that somebody reads: examples only teach."""
    for table in TABLES:
        if table == "risk_examples":
            continue
        for row in getattr(bundle, table):
            entry = " ".join(filter(None, (getattr(row, name) for name in IDENTITY[table])))
            agency = row.id if table == "agencies" else getattr(row, "agency", "")
            for column in COLUMNS[table]:
                if tags := _tags(getattr(row, column)):
                    name = headings().get(column, column.replace("_", " ").capitalize())
                    sentence = (
                        f"There is markup in “{name}” ({', '.join(tags[:_SHOWN])}). It is shown "
                        "as it was typed: write plain text."
                    )
                    yield Remark(CODE, Severity.WARNING, table, entry, agency, sentence)


def _tags(value: object) -> list[str]:
    text = "\n".join(value) if isinstance(value, tuple) else value
    if not isinstance(text, str):
        return []
    return list(dict.fromkeys(sign[0][:40] for sign in _SIGNS.finditer(text) if _means(sign)))


def _means(sign: re.Match[str]) -> bool:
    """Whether browsers would know the name of an element or a character, where there is one."""
    element, character = sign.groups()
    return element.lower() in _ELEMENTS if element else not character or character in html5
