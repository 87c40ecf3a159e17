"""Quoting: which sentences of its sources a free text was made from.

Pure, deterministic, bounded in time; no str raises. :mod:`.terms` reads a text as sentences of
terms, :mod:`.lexicon` has the words of each language, :mod:`.cues` those that tie a sentence to
others, :mod:`.matching` compares the sentences.
"""

from ieim.pipeline.quoting.cues import Segment, leans, order_word
from ieim.pipeline.quoting.lexicon import language_of
from ieim.pipeline.quoting.matching import (
    LONGEST,
    Entry,
    Passage,
    Quote,
    of_service,
    passages,
    quotes,
    says_anything,
    unquoted,
)
from ieim.pipeline.quoting.terms import Sentence, questions, sentences

__all__ = [
    "LONGEST",
    "Entry",
    "Passage",
    "Quote",
    "Segment",
    "Sentence",
    "language_of",
    "leans",
    "of_service",
    "order_word",
    "passages",
    "questions",
    "quotes",
    "says_anything",
    "sentences",
    "unquoted",
]
