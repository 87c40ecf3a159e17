"""Cases that are no inquiry and have no text in a language that people are answered in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.reply import guidance
from ieim.studio.checks.remarks import Remark, Severity

CODE = "text.missing"


def untold(bundle: Bundle, languages: Sequence[str]) -> Iterator[Remark]:
    """Yield a warning for each case and language without a text.

    ``languages`` are those that the knowledge is written and answered in; those of its translations
    come to them.
    """
    known = dict.fromkeys([*languages, *(each.language for each in bundle.translations)])
    for language in known:
        for case in guidance.missing(bundle.texts, language):
            begun = any(each.case == case for each in bundle.texts)
            told = "the one that is shipped, or English," if begun else "English"
            sentence = (
                f"There is no text for the case {case.replace('_', ' ')} in the language "
                f"{language}, so people read {told} instead: write one."
            )
            yield Remark(CODE, Severity.WARNING, "texts", f"{case} {language}", "", sentence)
