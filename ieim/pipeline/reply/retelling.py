"""Retelling: an answer over several agencies in the words of its sources (DESIGN decision 22).

A model's text says which sentences of the cited entries matter, and in which order. The citizen
reads those sentences: what the text adds, drops or turns round reaches nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from ieim.pipeline import claims
from ieim.pipeline.gate import grounding
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.reply.cards import Card, lead
from ieim.pipeline.reply.plain_text import plain

HEADS: Final = {
    "en": {"fees": "Fees", "time": "Time", "requirement": "What you need", "contact": "Contact"},
    "fr": {"fees": "Frais", "time": "Délai", "requirement": "Ce qu’il vous faut"},
    "de": {"fees": "Kosten", "time": "Dauer", "requirement": "Was Sie brauchen"},
    "es": {"fees": "Costo", "time": "Plazo", "requirement": "Qué necesita", "contact": "Contacto"},
}
"""What stands before a field that is no sentence, by language: heads that the lexicon knows."""

MOST: Final = 10
"""Sentences of one entry at most: its card has the rest."""

_ENDS = (".", "!", "?", "…", "。", "！", "？")
_SKIPPED = frozenset({"name", "agency"})


def retold(text: str, cited: Sequence[Service], release: Release, *, question: str) -> str:
    """Return a paragraph for each of the ``cited`` services: its agency's name, or its own where
    several are of one agency, and the sentences of its entry that ``text`` was made from.

    Of one that the text took nothing from it is what to do first. A sentence that the gate
    would not let through by itself is left out. ``release`` is in the language of the citizen as
    far as it is. Empty where nothing is cited.
    """
    services = list(dict.fromkeys(cited))
    entries = [claims.of_service(s, release.agencies.get(s.agency)) for s in services]
    found = claims.quotes(text, entries, question=question)
    of_agency = Counter(service.agency for service in services)
    paragraphs = []
    for index, service in enumerate(services):
        own = [
            quote
            for quote in found
            if quote.entry == index
            and _may_stand(quote, service, release)
            and _grounded(quote.text, service, release)
        ][:MOST]
        first = lead(service) if _grounded(lead(service), service, release) else ""
        said = " ".join(_told(own, release)) or first or service.name
        one = of_agency[service.agency] == 1
        paragraphs.append(
            f"{release.agencies[service.agency].name if one else service.name}: {said}"
        )
    return "\n\n".join(paragraphs)


def is_retold(paragraphs: Sequence[str], cards: Sequence[Card]) -> bool:
    """Whether paragraphs say nothing but what stands on the ``cards`` below them."""
    return all(any(_is_of(paragraph, card) for card in cards) for paragraph in paragraphs)


def _may_stand(quote: claims.Quote, service: Service, release: Release) -> bool:
    """Whether a quote is none of what stands there anyway: names, and where it all comes from."""
    addresses = (service.url, service.path, release.agencies[service.agency].path)
    return quote.kind not in _SKIPPED and quote.text not in addresses


def _grounded(text: str, service: Service, release: Release) -> bool:
    return not grounding.check(text, [service], release)


def _told(own: Sequence[claims.Quote], release: Release) -> Iterator[str]:
    """Yield the quotes, those of one field beside each other under its head."""
    if not own:
        return
    language = release.language or claims.told(" ".join(quote.text for quote in own))
    heads = HEADS.get(language, {})
    for kind, group in groupby(own, key=lambda quote: quote.kind):
        said = " ".join(_ended(plain(quote.text)) for quote in group)
        yield f"{heads[kind]}: {said}" if kind in heads else said


def _ended(text: str) -> str:
    return text if text.endswith(_ENDS) else f"{text}."


def _is_of(paragraph: str, card: Card) -> bool:
    for name in (card.source.agency_name, card.title):
        if not paragraph.startswith(f"{name}: "):
            continue
        left = paragraph.removeprefix(f"{name}: ")
        for said in sorted(_sentences(card), key=len, reverse=True):
            left = left.replace(said, "")
        words = left.replace(".", " ").split(":")
        known = {head for heads in HEADS.values() for head in heads.values()}
        return all(not word.strip() or word.strip() in known for word in words)
    return False


def _sentences(card: Card) -> Iterator[str]:
    """Yield the texts on a card and their sentences."""
    items = (item for section in card.sections for item in section.items)
    for text in (card.title, card.lead, *items):
        if text:
            yield text
        for start, end in claims.sentences(text):
            yield text[start:end]
