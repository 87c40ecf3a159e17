"""The audited rows of the settings (see :mod:`ieim.audit.vouching`)."""

from __future__ import annotations

from ieim.administration.models import Logo, Section
from ieim.audit.vouching import Vouched

SECTION = Vouched(
    "administration_section",
    Section.objects.all,
    ("name", "content", "sha256", "version", "changed_at", "changed_by_id"),
    blank=lambda section: section.version == 0 and not section.content,
)
LOGO = Vouched(
    "administration_logo",
    Logo.objects.all,
    ("sha256", "media_type", "content", "added_at"),
    chunk=10,
)
KINDS = (SECTION, LOGO)
