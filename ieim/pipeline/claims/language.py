"""The language of a reply, told by its glue words."""

from __future__ import annotations

import re

from ieim.pipeline.claims.lexicon import glue_of_all, plain

_WORD = re.compile(r"[^\W\d_]+")


def told(text: str) -> str:
    """Return the language (ISO 639-1) with the most glue words in ``text``, English on a tie."""
    words = [plain(word) for word in _WORD.findall(text)]
    counts = {name: sum(word in glue for word in words) for name, glue in glue_of_all().items()}
    return max(counts, key=lambda name: (counts[name], name == "en"), default="en")
