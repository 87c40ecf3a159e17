"""The sections of the settings: what each asks for, and what may be written there."""

from __future__ import annotations

from ieim.administration.sections.table import NAMES, Field, SectionOf, section

__all__ = ["NAMES", "Field", "SectionOf", "section"]
