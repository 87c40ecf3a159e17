"""Two people who decide the same items together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from review.batches import services
from review.models import BatchEntry, Decision
from tests.review import desk
from tests.review.batches.test_batches import start, states, stopped

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]
InThreads = Callable[[list[Callable[[], Any]]], list[Any]]


@pytest.mark.usefixtures("published")
def test_each_item_is_decided_once(in_threads: InThreads) -> None:
    items = stopped(6)
    batches = [start(desk.person(name), items[::step]) for name, step in (("eva", 1), ("ben", -1))]
    in_threads([partial(services.run, batch_id=batch.pk) for batch in batches * 2])
    assert states(items) == ["sending"] * 6
    decided = Decision.objects.values_list("item", flat=True)
    assert sorted(decided) == sorted(item.pk for item in items)
    entries = BatchEntry.objects.values_list("state", flat=True)
    assert sorted(entries) == ["decided"] * 6 + ["refused"] * 6
