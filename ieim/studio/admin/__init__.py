"""Django's admin for the draft: lists and files of every table, forms of those without pages.

Tables and columns are named here, for translation, and not in the models: a name there is part of
the migrations. Django makes migrations and permissions of the names that the models have of their
own, which stay as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from ieim.studio.labels import COLUMNS
from ieim.studio.models import (
    Agency,
    CaseText,
    Category,
    ExampleQuestion,
    HelpLine,
    Label,
    RiskExample,
    Service,
    Situation,
    Translation,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

TABLES: dict[type[Model], tuple[StrPromise, StrPromise]] = {
    Agency: (_("agency"), _("agencies")),
    CaseText: (_("case text"), _("case texts")),
    Category: (_("dictionary entry"), _("dictionary entries")),
    ExampleQuestion: (_("example question"), _("example questions")),
    HelpLine: (_("help line"), _("help lines")),
    Label: (_("label"), _("labels")),
    RiskExample: (_("risk example"), _("risk examples")),
    Service: (_("service"), _("services")),
    Situation: (_("situation"), _("situations")),
    Translation: (_("translation"), _("translations")),
}

for table, (one, many) in TABLES.items():
    table._meta.verbose_name, table._meta.verbose_name_plural = one, many
    for column in table._meta.concrete_fields:
        if column.name in COLUMNS and not column.auto_created:
            column.verbose_name = COLUMNS[column.name]

from ieim.studio.admin import tables  # noqa: E402  # forms take the names over as they are made

__all__ = ["tables"]
