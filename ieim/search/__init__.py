"""Search over one release: a shortlist for the stages, and the words that matched."""

from __future__ import annotations

from ieim.search.analysis import matching_spans
from ieim.search.fusing import FusedIndex, fuse
from ieim.search.index import ON_TOPIC_SCORE, ReleaseIndex, forget_unused, index_for

__all__ = [
    "ON_TOPIC_SCORE",
    "FusedIndex",
    "ReleaseIndex",
    "forget_unused",
    "fuse",
    "index_for",
    "matching_spans",
]
