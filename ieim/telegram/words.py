"""What the channel says by itself, in the language of the chat: it is in ``locale/``."""

from __future__ import annotations

import gettext
import re
from functools import cache
from pathlib import Path

LOCALE = Path(__file__).resolve().parents[2] / "locale"
ENGLISH = "en"
_TAG = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}")
_CALLED = {"zh": "zh_Hans", "tl": "fil"}


def language(told: object) -> str:
    """Return a language as ``Accept-Language`` names it; English for what is no language."""
    text = told.lower() if isinstance(told, str) else ""
    return text if _TAG.fullmatch(text) else ENGLISH


@cache
def words(language: str) -> gettext.NullTranslations:
    """Return the sentences in a language, in English where there is no catalogue of it."""
    main = language.partition("-")[0]
    return gettext.translation("django", LOCALE, [_CALLED.get(main, main)], fallback=True)
