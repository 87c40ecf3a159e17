"""The filters of the metrics page's address: a period, and one agency or all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from django.utils.translation import gettext

from review.metrics.queries import Period
from review.queue.filters import BadAddress

CHOICES = (7, 28, 90)
DEFAULT = 28
LONGEST = 366
EARLIEST = date(2000, 1, 1)
"""No deployment is older, and not every time zone has a midnight at the beginning of year 1."""


@dataclass(frozen=True, slots=True)
class Filters:
    """``days`` is one of :data:`CHOICES`, or 0 for a period of one's own.

    ``agency`` is an id, empty for all that the user may see.
    """

    period: Period
    days: int
    agency: str

    @property
    def query(self) -> str:
        """The address's query string."""
        return self.query_of(self.days)

    def query_of(self, days: int) -> str:
        """Return the query string of the same figures over other days."""
        dates = {"from": self.period.first.isoformat(), "to": self.period.last.isoformat()}
        values = {"days": str(days)} if days else dates
        return urlencode({**values, "agency": self.agency} if self.agency else values)


def parse(params: Mapping[str, str], today: date) -> Filters:
    """Return the filters of an address; raises :class:`BadAddress`.

    Dates (``from`` and ``to``, ISO 8601) count before ``days``; the default is the last 28 days.
    """
    agency = params.get("agency", "")
    first, last = params.get("from", "").strip(), params.get("to", "").strip()
    if first or last:
        return Filters(_period(_date(first, "from"), _date(last, "to"), today), 0, agency)
    days = params.get("days", str(DEFAULT))
    if days not in map(str, CHOICES):
        raise BadAddress(gettext("Choose the last 7, 28 or 90 days, or enter two dates."), "from")
    return last_days(int(days), today, agency)


def last_days(days: int, today: date, agency: str = "") -> Filters:
    """Return the figures of the last days, today's among them."""
    return Filters(Period(today - timedelta(days=days - 1), today), days, agency)


def _date(text: str, field: str) -> date:
    first = field == "from"
    if not text:
        missing = (
            gettext("Enter the first day too.") if first else gettext("Enter the last day too.")
        )
        raise BadAddress(missing, field)
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        message = (
            gettext("The first day is not a date. Write it as 2026-01-31.")
            if first
            else gettext("The last day is not a date. Write it as 2026-01-31.")
        )
        raise BadAddress(message, field) from error


def _period(first: date, last: date, today: date) -> Period:
    if last > today:
        raise BadAddress(
            gettext("The last day has not come yet. Choose today or a day before."), "to"
        )
    if first > last:
        raise BadAddress(gettext("The first day is after the last day. Swap the two."), "from")
    if first < EARLIEST:
        raise BadAddress(gettext("The first day is before 2000. Choose a later one."), "from")
    if (last - first).days >= LONGEST:
        message = gettext("That is more than {number} days. Choose a shorter period.").format(
            number=LONGEST
        )
        raise BadAddress(message, "from")
    return Period(first, last)
