"""Search over one release: one ranking, and the words that matched."""

from __future__ import annotations

from ieim.search.analysis import matching_spans
from ieim.search.ranking import Search, forget_unused, fuse, index_for

__all__ = ["Search", "forget_unused", "fuse", "index_for", "matching_spans"]
