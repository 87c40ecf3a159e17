"""What a process reads before its first citizen comes, so that nobody waits for it."""

from __future__ import annotations

from ieim.pipeline import language, risk


def warm() -> None:
    """Load the language model (half a second) and the risk phrases."""
    text = "A sentence that is long enough to have a language."
    language.detect(text)
    risk.find(text)
