"""What editors read instead of codes.

What becomes better or worse is stored by these headings: they are translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.utils.translation import gettext_noop

from conversations.chat.showing import HEADINGS
from ieim.pipeline.reply.cards import Section
from ieim.pipeline.reply.reply import Reply


def parts_of(said: Reply) -> Iterator[tuple[str, str]]:
    """Yield the parts of a reply as ``(heading, text)``, empty ones too."""
    yield gettext_noop("Title"), said.title
    yield gettext_noop("What to do first"), said.lead
    yield gettext_noop("Text"), "\n".join(said.paragraphs)
    yield from _sections("", said.sections)
    for card in said.cards:
        yield f"{card.title}: what to do first", card.lead
        yield from _sections(f"{card.title}: ", card.sections)


def _sections(before: str, sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    for section in sections:
        heading = HEADINGS.get(section.field, section.field.replace("_", " ").capitalize())
        yield f"{before}{heading}", "\n".join(section.items)
