"""Quoting: which sentences of its sources a free text was made from.

Pure, deterministic, bounded in time; no str raises. :mod:`.terms` reads a text as sentences of
terms, :mod:`.lexicon` has the words of each language, :mod:`.matching` compares the sentences.
"""

from ieim.pipeline.quoting.lexicon import language_of
from ieim.pipeline.quoting.matching import LONGEST, Entry, Quote, of_service, quotes, unquoted
from ieim.pipeline.quoting.terms import Sentence, sentences

__all__ = [
    "LONGEST",
    "Entry",
    "Quote",
    "Sentence",
    "language_of",
    "of_service",
    "quotes",
    "sentences",
    "unquoted",
]
