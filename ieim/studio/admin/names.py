"""What the admin calls the tables and columns that are edited here, for translation.

They are said here and not in the models: a name there is part of the migrations. Django makes
migrations and permissions of the names that the models have of their own, which stay as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from ieim.knowledge.models import Publication, Release
from ieim.studio.models import (
    Agency,
    CaseText,
    Category,
    GoldenQuestion,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Translation,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

TABLES: dict[type[Model], tuple[StrPromise, StrPromise]] = {
    Agency: (_("agency"), _("agencies")),
    CaseText: (_("case text"), _("case texts")),
    Category: (_("dictionary entry"), _("dictionary entries")),
    GoldenQuestion: (_("golden question"), _("golden questions")),
    HelpLine: (_("help line"), _("help lines")),
    Label: (_("label"), _("labels")),
    Publication: (_("publication"), _("publications")),
    Release: (_("release"), _("releases")),
    RiskExample: (_("risk example"), _("risk examples")),
    Service: (_("service"), _("services")),
    Translation: (_("translation"), _("translations")),
}
COLUMNS: dict[str, StrPromise] = {
    "agency": _("agency"),
    "applicability_summary": _("applicability summary"),
    "case": _("case"),
    "categories": _("categories"),
    "category": _("category"),
    "code": _("code"),
    "contact": _("contact"),
    "created_at": _("created at"),
    "created_by": _("created by"),
    "deadline_days": _("deadline in days"),
    "description": _("description"),
    "effect": _("effect"),
    "fees": _("fees"),
    "flag": _("flag"),
    "how_to_apply": _("how to apply"),
    "key": _("key"),
    "keywords": _("keywords"),
    "kind": _("kind"),
    "language": _("language"),
    "name": _("name"),
    "next_services": _("next services"),
    "note": _("note"),
    "number": _("number"),
    "overview": _("overview"),
    "path": _("path"),
    "position": _("position"),
    "processing_time": _("processing time"),
    "published_at": _("published at"),
    "published_by": _("published by"),
    "release": _("release"),
    "requirements": _("requirements"),
    "service": _("service"),
    "set": _("set"),
    "text": _("text"),
    "threshold": _("threshold"),
    "url": _("url"),
    "value": _("value"),
}


def set_names() -> None:
    """Give the tables and columns these names; once, before there is a form of any."""
    for table, (one, many) in TABLES.items():
        table._meta.verbose_name, table._meta.verbose_name_plural = one, many
        for column in table._meta.concrete_fields:
            if column.name in COLUMNS:
                column.verbose_name = COLUMNS[column.name]
            elif column.name == "id" and not column.auto_created:
                column.verbose_name = _("id")
