"""The audited rows of the settings (see :mod:`ieim.audit.audited`)."""

from __future__ import annotations

from ieim.administration.models import Logo, Section
from ieim.audit.audited import AuditedModel

SECTION = AuditedModel(
    "administration_section",
    Section.objects.all,
    ("name", "content", "sha256", "version", "changed_at", "changed_by_id"),
    is_blank=lambda section: section.version == 0 and not section.content,
)
LOGO = AuditedModel(
    "administration_logo",
    Logo.objects.all,
    ("sha256", "media_type", "content", "added_at"),
    is_immutable=True,
    chunk_size=10,
)
KINDS = (SECTION, LOGO)
