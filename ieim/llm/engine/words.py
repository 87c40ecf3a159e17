"""Text as stems: the search adapter's analysis, and what the engine adds to it."""

from __future__ import annotations

from ieim.search.analysis import STEMMED, fold


def stems(text: str) -> list[str]:
    """Return the stems of ``text`` in order, without stop words; repeated words repeat."""
    return list(STEMMED.analyze(fold(text)))
