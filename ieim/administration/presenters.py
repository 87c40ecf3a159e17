"""The settings as their page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext

from ieim.administration import languages
from ieim.administration.models import Section
from ieim.administration.organisation import Administration
from ieim.administration.sections import LEGAL, NAMES, Field, SectionOf, section

SectionView = Mapping[str, Any]


def page(stored: Mapping[str, Section], language: str) -> list[SectionView]:
    """Return every section; of the legal texts only the one in ``language``."""
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
    """Return a section as it is stored, or with what was ``typed`` and its ``problems``.

    ``changed`` is the stored row, None before the first save; ``errors`` are the fields with one.
    """
    content: Mapping[str, str] = stored.content if stored else {}
    now = stored.version if stored else 0
    fields = []
    for field in of.fields:
        current = content.get(field.name, "")
        value = current if typed is None else typed.get(field.name, "")
        other = current if conflict and value.strip() != current else None
        problem = (problems or {}).get(field.name, "")
        fields.append(_field(field, f"{of.name}-{field.name}", value, problem, other))
    return {
        "of": of,
        "version": now if version is None else version,
        "fields": fields,
        "errors": [field for field in fields if field["error"]],
        "changed": stored if now else None,
        "conflict": conflict,
    }


def _field(field: Field, id_: str, value: str, error: str, stored: str | None) -> dict[str, Any]:
    """Return a field for the template.

    ``stored`` is what the database holds where that differs from what was typed, else None;
    ``described`` are the ids for ``aria-describedby``, ``rows`` the height of the text box in
    lines, ``choices`` the languages to choose from: code, name, whether it is chosen.
    """
    notes = {"hint": bool(field.hint), "error": bool(error), "stored": stored is not None}
    chosen = value.split() or list(languages.NAMES)
    return {
        "field": field,
        "id": id_,
        "value": value,
        "error": error,
        "stored": stored,
        "described": " ".join(f"{id_}-{name}" for name, present in notes.items() if present),
        "direction": languages.direction(field.language) if field.language else "auto",
        "rows": min(max(len(value.splitlines()) + 1, 3), 12),
        "choices": [(code, name, code in chosen) for code, name in languages.NAMES.items()],
    }


class Missing(NamedTuple):
    """A setting that has to be made before citizens come, and where."""

    what: str
    section: str
    field: str


def missing(organisation: Administration) -> list[Missing]:
    """Return what is missing before going live, in the order of the page."""
    legal = LEGAL + organisation.languages[0]
    texts = organisation.legal(organisation.languages[0])
    contact = gettext("A way to reach people: telephone, e-mail or address")
    found = [
        (organisation.is_named, "name", "name", gettext("The name of the administration")),
        (organisation.has_contact, "contacts", "telephone", contact),
        (bool(organisation.hours), "hours", "monday", gettext("Opening hours")),
    ]
    needed = {
        "controller": gettext("Who is responsible for personal data"),
        "purposes": gettext("What personal data are used for"),
        "rights": gettext("Which rights citizens have"),
        "authority": gettext("Where citizens may complain"),
        "imprint": gettext("The imprint"),
        "barriers": gettext("Whom to tell of a barrier"),
        "enforcement": gettext("Who enforces accessibility"),
    }
    found += [(name in texts, legal, name, what) for name, what in needed.items()]
    return [Missing(what, where, field) for there, where, field, what in found if not there]
