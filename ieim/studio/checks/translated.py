"""Translations and help lines whose figures are not those of what they translate.

A fee that is raised in one language only tells the others the old one, and a help line with an old
number leads nowhere. Words cannot be compared across languages, but figures can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.columns import TRANSLATED
from ieim.pipeline.knowledge import Agency, Service
from ieim.studio.checks.remarks import Remark, Severity

CODE = "translation.figures"

# Groups of digits, not numbers: 1,250.00 is 1 250,00 elsewhere.
_DIGITS = re.compile(r"\d+")

_Text: TypeAlias = str | tuple[str, ...]


def behind(bundle: Bundle) -> Iterator[Remark]:
    """Yield translations of agencies and services that have other figures than the original, and
    help lines that have others than their flag's label.

    Categories are left out: their keywords are what citizens type, not what they are told.
    """
    agencies = {agency.id: agency for agency in bundle.agencies}
    services = {(service.agency, service.key): service for service in bundle.services}
    for text in bundle.translations:
        if text.category:
            continue
        original: Agency | Service | None = (
            services.get((text.agency, text.service)) if text.service else agencies.get(text.agency)
        )
        if original is None:
            continue  # a dangling reference, which is said elsewhere
        columns = TRANSLATED["service" if text.service else "agency"]
        differ = {
            name: both
            for name in columns
            if (both := _differ(getattr(original, name), getattr(text, name)))
        }
        if differ:
            parts = (text.language, text.agency, text.service)
            name = " ".join(filter(None, parts))
            sentence = _sentence(differ)
            yield Remark(CODE, Severity.WARNING, "translations", name, text.agency, sentence)
    flags = {label.code: label for label in bundle.labels if label.set == "risk_flags"}
    for line in bundle.help_lines:
        label = flags.get(line.flag)
        if label is not None and (both := _differ(label.description, line.text)):
            name, sentence = f"{line.language} {line.flag}", _sentence({"text": both})
            yield Remark(CODE, Severity.WARNING, "help_lines", name, "", sentence)


def _differ(original: _Text, translation: _Text) -> tuple[str, str] | None:
    """Return the figures that only the original has and those that only the translation has."""
    translated = _joined(translation)
    if not translated:
        return None  # not translated: citizens get the original
    theirs = _DIGITS.findall(_joined(original))
    ours = _DIGITS.findall(translated)
    if set(theirs) == set(ours):
        return None
    return _only(theirs, ours), _only(ours, theirs)


def _joined(value: _Text) -> str:
    return value if isinstance(value, str) else "\n".join(value)


def _only(figures: list[str], others: list[str]) -> str:
    return ", ".join(each for each in dict.fromkeys(figures) if each not in others) or "none"


def _sentence(differ: Mapping[str, tuple[str, str]]) -> str:
    found = "; ".join(
        f"{column.replace('_', ' ')}: {original} in the original, {translated} here"
        for column, (original, translated) in differ.items()
    )
    return f"It has other figures ({found}). See whether the translation is behind."
