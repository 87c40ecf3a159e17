"""The sentences of the channel in the language of the chat, from the catalogues in ``locale/``."""

from __future__ import annotations

import gettext
import re
from functools import cache
from pathlib import Path

LOCALE = Path(__file__).resolve().parents[2] / "locale"
ENGLISH = "en"
_TAG = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}")
_FOLDERS = {"zh": "zh_Hans", "tl": "fil"}


def language(code: object) -> str:
    """Return a language as ``Accept-Language`` names it; English for what is no language."""
    text = code.lower() if isinstance(code, str) else ""
    return text if _TAG.fullmatch(text) else ENGLISH


@cache
def translation(language: str) -> gettext.NullTranslations:
    """Return the sentences in a language, in English where there is no catalogue of it."""
    main = language.partition("-")[0]
    return gettext.translation("django", LOCALE, [_FOLDERS.get(main, main)], fallback=True)
