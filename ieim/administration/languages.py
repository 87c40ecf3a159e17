"""The languages that a citizen's page may be offered in, by their codes and their own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.translation import get_language

NAMES: Final[Mapping[str, str]] = {
    "en": "English",
    "fr": "Français",
    "de": "Deutsch",
    "es": "Español",
    "zh-hans": "简体中文",
    "ar": "العربية",
    "fil": "Filipino",
}
RIGHT_TO_LEFT: Final = frozenset({"ar"})


def of_page() -> str:
    """Return the code of the language that the page is made in now, English where it is another."""
    active = get_language() or "en"
    return next((code for code in (active, active.partition("-")[0]) if code in NAMES), "en")


def direction(code: str) -> str:
    """Return ``rtl`` or ``ltr``."""
    return "rtl" if code in RIGHT_TO_LEFT else "ltr"
