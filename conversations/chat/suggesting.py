"""Example questions for a first visit."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import ieim.knowledge
from ieim.administration import languages
from ieim.administration import selectors as administration
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.following import follower


def suggestions() -> tuple[str, ...]:
    """Return example questions in the page's language.

    Those of the administration; where it has none in any language those of the demo whose answer is
    in the release that new turns get.
    """
    own = administration.current()
    if own.has_examples:
        return tuple(own.examples(languages.of_page()))
    number = follower.number()
    if number is None:
        return ()
    release = knowledge.release(number)
    services = {key for _, key in release.services}
    return tuple(text for text, wanted in _demo_suggestions() if wanted and wanted <= services)


@cache
def _demo_suggestions() -> tuple[tuple[str, frozenset[str]], ...]:
    path = Path(ieim.knowledge.__file__).parent / "demo" / "questions.jsonl"
    with path.open(encoding="utf-8") as lines:
        return tuple(
            (case["text"], frozenset(case["expected"]["acceptable_services"]))
            for case in map(json.loads, lines)
            if "suggestion" in case["tags"]
        )
