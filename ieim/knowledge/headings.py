"""The headings of an answer, which conversations and the editors' pages show alike."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

HEADINGS: Mapping[str, Promise] = {
    "overview": _("What it is"),
    "applicability_summary": _("Who it is for"),
    "requirements": _("What you need"),
    "fees": _("What it costs"),
    "processing_time": _("How long it takes"),
    "how_to_apply": _("How to apply"),
    "contact": _("Contact"),
}
"""By the field of a service."""
