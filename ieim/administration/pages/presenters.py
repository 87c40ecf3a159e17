"""The settings as their page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ieim.administration import languages
from ieim.administration.models import Section
from ieim.administration.sections import Field, SectionOf, section
from ieim.administration.sections.table import LEGAL, NAMES


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field with what stands in it; ``stored`` is shown where it is another than was typed, ""
    where nothing is stored."""

    field: Field
    id: str
    value: str
    error: str = ""
    stored: str | None = None

    @property
    def described(self) -> str:
        """The ids of what describes the field."""
        there = {
            "hint": bool(self.field.hint),
            "error": bool(self.error),
            "stored": self.stored is not None,
        }
        return " ".join(f"{self.id}-{name}" for name, is_there in there.items() if is_there)

    @property
    def direction(self) -> str:
        """The direction of what is typed there."""
        return languages.direction(self.field.language) if self.field.language else "auto"

    @property
    def rows(self) -> int:
        """How high its box is."""
        return min(max(len(self.value.splitlines()) + 1, 3), 12)

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """The languages to choose from: code, name, whether it is chosen."""
        chosen = self.value.split() or list(languages.NAMES)
        return [(code, name, code in chosen) for code, name in languages.NAMES.items()]


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section of the page; ``by`` and ``at`` are who saved it last."""

    of: SectionOf
    version: int
    fields: Sequence[FieldView]
    changed: Section | None
    conflict: bool = False
    other_languages: Sequence[tuple[str, str]] = ()

    @property
    def errors(self) -> list[FieldView]:
        """The fields that have one."""
        return [each for each in self.fields if each.error]


def page(stored: Mapping[str, Section], language: str) -> list[SectionView]:
    """Return every section, and of the legal texts those in ``language``."""
    names = [name for name in NAMES if not name.startswith(LEGAL) or name == LEGAL + language]
    return [shown(section(name), stored.get(name)) for name in names]


def shown(
    of: SectionOf,
    stored: Section | None,
    *,
    typed: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
    version: int | None = None,
    conflict: bool = False,
) -> SectionView:
    """Return a section as it is stored, or with what was ``typed`` and is wrong with it."""
    content: Mapping[str, str] = stored.content if stored else {}
    now = stored.version if stored else 0
    fields = []
    for field in of.fields:
        value = content.get(field.name, "") if typed is None else typed.get(field.name, "")
        other = conflict and value.strip() != content.get(field.name, "")
        fields.append(
            FieldView(
                field,
                f"{of.name}-{field.name}",
                value,
                (problems or {}).get(field.name, ""),
                content.get(field.name, "") if other else None,
            )
        )
    return SectionView(
        of, now if version is None else version, fields, stored if now else None, conflict
    )
