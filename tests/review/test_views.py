from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.models import Attempt, Turn
from review.models import ReviewItem
from review.services import open_item
from review.views import PAGE_SIZE
from tests.review.conftest import make_turn

QUEUE = reverse("review:queue")


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def address_of(item: ReviewItem) -> str:
    return reverse("review:item", args=[item.pk])


def test_it_asks_anonymous_visitors_to_log_in(client: Client, turn: Turn) -> None:
    item = open_item(turn_id=turn.pk, stage="reply", codes=[])
    for address in (QUEUE, address_of(item)):
        response = client.get(address)
        assert response.status_code == 302
        assert response["Location"].endswith(f"?next={address}")


def test_it_is_closed_without_the_permission(client: Client, turn: Turn) -> None:
    item = open_item(turn_id=turn.pk, stage="reply", codes=[])
    mallory = User.objects.create_user("mallory", is_staff=True)
    mallory.user_permissions.set(Permission.objects.exclude(codename="view_reviewitem"))
    client.force_login(mallory)
    for address in (QUEUE, address_of(item)):
        assert client.get(address).status_code == 403


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_it_is_to_read_only(staff: Client, turn: Turn, method: str) -> None:
    item = open_item(turn_id=turn.pk, stage="reply", codes=[])
    for address in (QUEUE, address_of(item)):
        assert getattr(staff, method)(address).status_code == 405


def test_it_is_not_kept_by_caches(staff: Client, stopped: Turn) -> None:
    assert "no-store" in staff.get(QUEUE)["Cache-Control"]
    assert "no-store" in staff.get(address_of(ReviewItem.objects.get()))["Cache-Control"]


def test_the_queue_says_that_nothing_waits(staff: Client) -> None:
    assert "Nothing is waiting." in page(staff, QUEUE)


def test_the_queue_says_why_where_and_for_whom(staff: Client, stopped: Turn) -> None:
    text = page(staff, QUEUE)

    assert "1 open item," in text
    assert "answer was not in the form it must have." in text
    assert "Which topic?" in text
    assert "Immigration" in text
    assert stopped.session.reference in text
    assert f'href="{address_of(ReviewItem.objects.get())}"' in text
    assert "json.syntax" not in text


def test_the_queue_comes_in_pages(staff: Client, turn: Turn) -> None:
    for _ in range(PAGE_SIZE + 1):
        open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])

    first, second = page(staff, QUEUE), page(staff, f"{QUEUE}?page=2")

    assert f"{PAGE_SIZE + 1} open items" in first
    assert first.count('scope="row"') == PAGE_SIZE
    assert 'href="?page=2"' in first
    assert second.count('scope="row"') == 1
    assert 'href="?page=1"' in second
    for nonsense in ("99", "x", "-1"):
        assert staff.get(QUEUE, {"page": nonsense}).status_code == 200


def test_the_queue_asks_as_often_for_a_full_page_as_for_one_item(staff: Client, turn: Turn) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            page(staff, QUEUE)
        return len(captured)

    open_item(turn_id=turn.pk, stage="reply", codes=["schema"])
    queries()  # Fill Django's own caches.
    one = queries()
    for _ in range(PAGE_SIZE - 1):
        open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])
    assert queries() == one


def test_an_item_shows_the_message_the_reason_and_the_findings(
    staff: Client, stopped: Turn
) -> None:
    item = ReviewItem.objects.get()
    text = page(staff, address_of(item))

    assert stopped.text in text
    assert stopped.session.reference in text
    assert "<code>json.syntax</code>" in text
    finding = Attempt.objects.filter(stage__contract="category_select_v1")[0].findings[0]
    assert finding["message"].split("'")[0] in text
    assert "Attempt 1" in text
    assert "Attempt 2" in text
    assert "nothing was wrong" in text


def test_an_item_shows_a_pointer_into_the_answer(staff: Client, stopped: Turn) -> None:
    Attempt.objects.filter(stage__contract="category_select_v1", number=1).update(
        findings=[
            {
                "code": "score.minimum",
                "path": "/categorySelection/candidates/<b>/score",
                "message": "The score is below 0.5.",
                "waivable": True,
            }
        ]
    )
    text = page(staff, address_of(ReviewItem.objects.get()))
    assert "<code>/categorySelection/candidates/&lt;b&gt;/score</code>" in text
    assert "The score is below 0.5." in text


def test_an_item_shows_what_the_citizen_wrote_and_not_its_markup(staff: Client, turn: Turn) -> None:
    turn.text = "<script>alert(1)</script>\nwhere?"
    turn.save()
    item = open_item(turn_id=turn.pk, stage="reply", codes=["policy.risk"])

    text = page(staff, address_of(item))

    assert "&lt;script&gt;alert(1)&lt;/script&gt;\nwhere?" in text
    assert "<script>alert" not in text
    assert "The message shows a risk, so a person has to look first." in text
    assert "The assistant had not begun." in text


def test_it_knows_no_item_of_another_id(staff: Client) -> None:
    assert staff.get(reverse("review:item", args=[uuid4()])).status_code == 404
    assert staff.get(f"{QUEUE}x/").status_code == 404
