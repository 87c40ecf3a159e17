"""What is not set yet and has to be before citizens come."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext

from ieim.administration.own import Administration
from ieim.administration.sections.table import LEGAL


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing to do: what, and in which field of which section."""

    what: str
    section: str
    field: str


def missing(own: Administration) -> list[Missing]:
    """Return what is missing before going live, in the order of the page."""
    first = own.languages[0]
    legal = own.legal(first)
    todo = [
        (own.is_named, gettext("The name of the administration"), "name", "name"),
        (
            own.has_contact,
            gettext("A way to reach people: telephone, e-mail or address"),
            "contacts",
            "telephone",
        ),
        (bool(own.hours), gettext("Opening hours"), "hours", "monday"),
        (
            "controller" in legal,
            gettext("Who is responsible for personal data"),
            LEGAL + first,
            "controller",
        ),
        (
            "purposes" in legal,
            gettext("What personal data are used for"),
            LEGAL + first,
            "purposes",
        ),
        ("rights" in legal, gettext("Which rights citizens have"), LEGAL + first, "rights"),
        ("authority" in legal, gettext("Where citizens may complain"), LEGAL + first, "authority"),
        ("imprint" in legal, gettext("The imprint"), LEGAL + first, "imprint"),
        ("barriers" in legal, gettext("Whom to tell of a barrier"), LEGAL + first, "barriers"),
        (
            "enforcement" in legal,
            gettext("Who enforces accessibility"),
            LEGAL + first,
            "enforcement",
        ),
    ]
    return [Missing(what, section, field) for there, what, section, field in todo if not there]
