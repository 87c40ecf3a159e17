"""What a longer history must not slow down: the plans of what is read from the largest tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ieim.people.models import User
from review.metrics import selectors as metrics
from review.metrics.selectors import Period
from review.queue import selectors
from review.queue.filters import ItemFilter

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

DAYS = {
    "turn_day",
    "reply_day",
    "attempt_day",
    "choice_day",
    "rating_day",
    "feedback_day",
    "unused_day",
    "review_opened",
    "decision_day",
}
"""The indexes that lead to what happened on a day."""


def plans(made: CaptureQueriesContext) -> Iterator[str]:
    """Yield the plan of each reading statement, as it is where the tables are large."""
    selects = [query["sql"] for query in made.captured_queries if query["sql"].startswith("SELECT")]
    with connection.cursor() as cursor:
        postgres = connection.vendor == "postgresql"
        if postgres:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")
        for sql in selects:
            cursor.execute(f"EXPLAIN {'' if postgres else 'QUERY PLAN'} {sql}")
            yield "\n".join(str(row[-1]) for row in cursor.fetchall())


def test_figures_begin_at_the_first_day_of_their_period(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    with CaptureQueriesContext(connection) as made:
        metrics.load(Period(date(2026, 11, 1), date(2026, 11, 7)), None)
    text = "\n".join(plans(made))
    assert {index for index in DAYS if index not in text} == set()


def test_what_was_decided_is_not_looked_for_among_what_is_open() -> None:
    user = User.objects.create_superuser("root")
    with CaptureQueriesContext(connection) as made:
        selectors.page(selectors.listing(user, ItemFilter({"tab": "done"}), timezone.now()))
    # An index that is read backwards begins with the rows without a value: those that are open.
    (sql,) = (query["sql"] for query in made.captured_queries if "LIMIT" in query["sql"])
    assert '"decided_at" IS NOT NULL' in sql
