"""The form of the metrics page: a period, and one agency or all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from review.metrics.selectors import Period

DAYS = (7, 28, 90)
DEFAULT_DAYS = 28
MAX_DAYS = 366
EARLIEST = date(2000, 1, 1)
"""No deployment is older, and not every time zone has a midnight at the beginning of year 1."""
ISO = ["%Y-%m-%d"]
DATE = forms.DateInput(attrs={"type": "date"}, format=ISO[0])


def last_days(days: int, today: date) -> Period:
    """Return the last days, today among them."""
    return Period(today - timedelta(days=days - 1), today)


class MetricsForm(forms.Form):
    """Filters of the figures, from an address.

    Two dates (``from`` and ``to``) count before ``days``; the default is the last 28 days. The
    ``period`` is in the cleaned data.
    """

    first = forms.DateField(
        required=False,
        widget=DATE,
        input_formats=ISO,
        label=_("First day"),
        error_messages={"invalid": _("The first day is not a date. Write it as 2026-01-31.")},
    )
    last = forms.DateField(
        required=False,
        widget=DATE,
        input_formats=ISO,
        label=_("Last day"),
        error_messages={"invalid": _("The last day is not a date. Write it as 2026-01-31.")},
    )
    days = forms.CharField(required=False)
    agency = forms.CharField(required=False, label=_("Agency"))

    def __init__(
        self, data: Mapping[str, Any], *, today: date, agencies: frozenset[str] | None
    ) -> None:
        """Read ``data``; ``agencies`` are those of the user, None for all."""
        super().__init__(data, auto_id="%s")
        self.today = today
        self.agencies = agencies

    def add_prefix(self, field_name: str) -> str:
        """Return the parameter of a field: ``from``, a keyword of Python, names no attribute."""
        return {"first": "from", "last": "to"}.get(field_name, field_name)

    def clean_agency(self) -> str:
        """Return the agency, if it is one of the user's."""
        agency: str = self.cleaned_data["agency"]
        if agency and self.agencies is not None and agency not in self.agencies:
            message = _("There are no figures of that agency for you. Choose one of the list.")
            raise forms.ValidationError(message)
        return agency

    def clean(self) -> dict[str, Any]:
        """Add the period."""
        if not self.errors:
            self.cleaned_data["period"] = self._period()
        return self.cleaned_data

    def query(self, days: int | None = None) -> str:
        """Return the query string of these figures, or of those of the last ``days``."""
        period, agency = self.cleaned_data["period"], self.cleaned_data["agency"]
        values = {"days": str(days)} if days else {"from": period.first, "to": period.last}
        return urlencode({**values, "agency": agency} if agency else values)

    def _period(self) -> Period | None:
        first, last = self.cleaned_data["first"], self.cleaned_data["last"]
        if first is None and last is None:
            days = self.cleaned_data["days"] or str(DEFAULT_DAYS)
            if days in map(str, DAYS):
                return last_days(int(days), self.today)
            self.add_error("first", _("Choose the last 7, 28 or 90 days, or enter two dates."))
        elif first is None:
            self.add_error("first", _("Enter the first day too."))
        elif last is None:
            self.add_error("last", _("Enter the last day too."))
        elif last > self.today:
            self.add_error(
                "last", _("The last day has not come yet. Choose today or a day before.")
            )
        elif first > last:
            self.add_error("first", _("The first day is after the last day. Swap the two."))
        elif first < EARLIEST:
            self.add_error("first", _("The first day is before 2000. Choose a later one."))
        elif (last - first).days >= MAX_DAYS:
            message = _("That is more than {number} days. Choose a shorter period.")
            self.add_error("first", message.format(number=MAX_DAYS))
        else:
            return Period(first, last)
        return None
