"""A city that does not exist, so that a first look shows a city's page. For development only."""

from __future__ import annotations

from collections.abc import Mapping

from ieim.administration import services
from ieim.administration.models import Section

LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="48" height="48">'
    '<path fill="#1f4e8c" d="M6 4h36v22c0 10-8 15-18 18C14 41 6 36 6 26z"/>'
    '<path fill="#ffffff" d="M22 11h4v4h6v3h-6v13c4-1 7-3 8-7l3 1c-1 6-6 10-13 10'
    's-12-4-13-10l3-1c1 4 4 6 8 7V18h-6v-3h6z"/></svg>'
)
"""An anchor on a shield."""

_WEEK = {
    **dict.fromkeys(("monday", "tuesday", "wednesday"), "08:30-16:30"),
    "thursday": "08:30-18:00",
    "friday": "08:30-13:00",
}
_OFFICE = "City of Northport\nHarbour Square 1\n10101 Northport"

CONTENT: Mapping[str, Mapping[str, str]] = {
    "name": {"name": "City of Northport", "short_name": "Northport"},
    "colours": {"brand": "#1f4e8c"},
    "numbers": {"help": "Listening Line: +999 20 555 0100\nDoctor on call: 116 117"},
    "contacts": {
        "telephone": "+44 20 7946 0100",
        "email": "office@northport.example",
        "address": _OFFICE,
        "website": "https://www.northport.example/",
    },
    "hours": _WEEK,
    "legal-en": {
        "controller": f"{_OFFICE}\n\nThis city does not exist: it shows what a page looks like.",
        "officer": "Data protection officer of Northport, privacy@northport.example",
        "purposes": "We use what you write to answer your question, and for nothing else.",
        "rights": "You may ask what is stored about you, have it corrected or deleted, and object "
        "to its use. Write to privacy@northport.example.",
        "authority": "Data Protection Commissioner, https://www.privacy.example/",
        "imprint": f"{_OFFICE}\n\nResponsible for the content: the mayor’s office.",
        "barriers": "Write to access@northport.example or call +44 20 7946 0100. You get an "
        "answer within two weeks.",
        "enforcement": "If you are not content with it, ask the Ombudsman for Equal Access, "
        "https://www.equal-access.example/",
    },
}
"""The telephone number is one of those that are kept for fiction, and no country has +999, the code
of the demo's help lines."""


def furnish() -> None:
    """Set everything, where nothing is set yet."""
    if Section.objects.exists():
        return
    for name, typed in CONTENT.items():
        logo = LOGO.encode() if name == "name" else None
        services.change(name=name, typed=typed, version=0, by=None, logo=logo)
