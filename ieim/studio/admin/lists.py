"""The list of a table: as fast on its last page as on its first."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest


class LightList(ChangeList):
    """A list that leaves the long columns where they are: sorting by position would carry them."""

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: list[str | None] | None = None
    ) -> QuerySet[Any]:
        """Return the rows, without the long columns that no column of the list shows."""
        rows = super().get_queryset(request, exclude_parameters)
        shown = {"overview", *(name for name in self.list_display if isinstance(name, str))}
        long = (models.TextField, models.JSONField)
        fields = self.model._meta.concrete_fields
        return rows.defer(*(f.name for f in fields if isinstance(f, long) and f.name not in shown))
