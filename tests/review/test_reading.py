"""Reading what a citizen wrote is in the record of the conversation."""

from __future__ import annotations

import pytest

from ieim.audit.models import AuditEvent
from ieim.people.roles import Role
from review.models import ReviewItem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import browser, person


@pytest.fixture
def item(published: None) -> ReviewItem:
    return desk.the_item(desk.ask(VISA, {"service_select_v1": desk.BAD}), "service_select_v1")


def test_who_reads_an_item_is_recorded_once_an_hour_and_never_the_words(item: ReviewItem) -> None:
    for name in ("eva", "ada"):
        client = browser(person(name))
        assert client.get(f"/review/{item.pk}/").status_code == 200
        assert client.get(f"/api/v1/review/items/{item.pk}/").status_code == 200
    read = AuditEvent.objects.filter(chain=item.turn.session_id, kind="review.read")
    assert [event.actor for event in read.order_by("seq")] == ["staff:eva", "staff:ada"]
    assert item.turn.text not in "".join(event.payload for event in read)


def test_who_may_not_read_it_leaves_no_trace_in_it(item: ReviewItem) -> None:
    assert (
        browser(person("nobody", Role.CASEWORKER, "elsewhere"))
        .get(f"/review/{item.pk}/")
        .status_code
        == 404
    )
    assert not AuditEvent.objects.filter(kind="review.read").exists()
