from __future__ import annotations

import re
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ieim.people.models import User
from ieim.people.roles import Role
from review import claims
from review.models import ReviewItem, SavedView
from review.services import open_item
from tests.review.conftest import make_turn
from tests.review.people import browser, person

QUEUE, BULK = reverse("review:queue"), reverse("review:bulk")
VIEWS = reverse("review:save_view")
HERE = f"{QUEUE}?tab=mine"


@pytest.fixture
def eva(db: None) -> User:
    return person("eva", Role.SUPERVISOR, name="Eva Maro")


@pytest.fixture
def client(eva: User) -> Client:
    return browser(eva)


@pytest.fixture
def items(db: None) -> list[ReviewItem]:
    return [open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"]) for _ in range(3)]


def messages(client: Client, response: Any) -> list[str]:
    """What the page says to which a form has led back."""
    assert (response.status_code, response["Location"]) == (303, HERE)
    text = client.get(HERE).content.decode()
    return [unescape(line) for line in re.findall(r"said__line[^>]*>([^<]+)<", text)]


def post(client: Client, what: str, items: list[ReviewItem], **more: str) -> list[str]:
    chosen: dict[str, Any] = {
        "do": what,
        "item": [str(item.pk) for item in items],
        "queue": HERE,
        **more,
    }
    return messages(client, client.post(BULK, chosen))


def holders(items: list[ReviewItem]) -> list[str | None]:
    for item in items:
        item.refresh_from_db()
    return [item.claimed_by.username if item.claimed_by else None for item in items]


def test_it_claims_what_is_free_and_says_who_has_the_rest(
    client: Client, items: list[ReviewItem]
) -> None:
    result = claims.claim(item_id=items[0].pk, actor=person("ben"))
    assert result.claimed_until is not None
    until = timezone.localtime(result.claimed_until)

    response = post(client, "claim", items)

    assert response == ["2 items claimed.", f"Ben has this item until {until:%H:%M}."]
    assert holders(items) == ["ben", "eva", "eva"]


def test_it_assigns(client: Client, items: list[ReviewItem]) -> None:
    person("ben")
    assert post(client, "assign", items[:1], to="ben") == ["1 item given to Ben."]
    assert holders(items) == ["ben", None, None]
    for nobody in ("nobody", "be\0n"):
        assert post(client, "assign", items, to=nobody) == ["Choose whom to give the items to."]
    person("rita", Role.AUDITOR)
    assert post(client, "assign", items, to="rita") == ["Rita may not decide items. (3 items)"]


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"do": "claim"}, "Choose at least one item."),
        ({"do": "claim", "item": ["x"]}, "An item is not there any more."),
        ({"do": "claim", "item": [str(uuid4())]}, "An item is not there any more."),
        ({"do": "claim", "item": [str(n) for n in range(101)]}, "Choose at most 100 items"),
        ({"do": "eat", "item": [str(uuid4())]}, "Choose what to do"),
        ({"item": [str(uuid4())]}, "Choose what to do"),
    ],
)
def test_it_says_what_is_missing(client: Client, form: dict[str, Any], problem: str) -> None:
    (message,) = messages(client, client.post(BULK, {**form, "queue": HERE}))
    assert problem in message


def test_assigning_is_for_supervisors(items: list[ReviewItem]) -> None:
    client = browser(person("ben"))
    assert "Assign chosen" not in client.get(QUEUE).content.decode()
    assert post(client, "assign", items, to="ben") == ["You do not have the right to do this."]
    assert holders(items) == [None, None, None]


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:x"])
def test_it_leads_nowhere_else(client: Client, items: list[ReviewItem], elsewhere: str) -> None:
    chosen = {"do": "claim", "item": str(items[0].pk), "queue": elsewhere}
    assert client.post(BULK, chosen)["Location"] == QUEUE


def test_a_claim_opens_the_item(client: Client, items: list[ReviewItem]) -> None:
    item = items[0]
    page = reverse("review:item", args=[item.pk])
    for name, holder, leads_to in (
        ("claim", "eva", page),
        ("renew", "eva", page),
        ("release", None, QUEUE),
        ("take_over", "eva", page),
    ):
        response = client.post(reverse(f"review:{name}", args=[item.pk]))
        assert (response.status_code, response["Location"]) == (303, leads_to)
        assert holders([item]) == [holder]


def test_a_claim_that_fails_says_who_has_it(client: Client, items: list[ReviewItem]) -> None:
    claims.claim(item_id=items[0].pk, actor=person("ben"))
    (result,) = messages(
        client, client.post(reverse("review:claim", args=[items[0].pk]), {"next": HERE})
    )
    assert result.startswith("Ben has this item until ")


def test_htmx_gets_the_claim_as_a_part(client: Client, items: list[ReviewItem]) -> None:
    address = reverse("review:claim", args=[items[0].pk])
    htmx = {"HX-Request": "true"}
    mine = client.post(address, headers=htmx)
    assert (mine.status_code, "Yours until" in mine.content.decode()) == (200, True)
    theirs = browser(person("ben")).post(address, headers=htmx)
    assert (theirs.status_code, "Eva Maro has this" in theirs.content.decode()) == (409, True)


def save(client: Client, name: str, query: str = "overdue=1", **more: str) -> str:
    form = {"name": name, "query": query, "next": HERE, **more}
    (message,) = messages(client, client.post(VIEWS, form))
    return message


def views(owner: User) -> dict[str, str]:
    return dict(SavedView.objects.filter(owner=owner).values_list("name", "query"))


def test_it_saves_renames_changes_and_deletes_a_view(client: Client, eva: User) -> None:
    assert save(client, " Late  ones ") == "The view “Late ones” is saved."
    assert views(eva) == {"Late ones": "overdue=1"}
    save(client, "Overdue")
    assert views(eva) == {"Overdue": "overdue=1"}
    save(client, "Overdue", "overdue=1&agency=housing")
    assert views(eva) == {"Overdue": "agency=housing&overdue=1"}
    text = client.get(f"{QUEUE}?overdue=1&agency=housing").content.decode()
    link = '<a class="queue-views__link" href="?agency=housing&amp;overdue=1" aria-current="true">'
    assert f'{link}Overdue <span class="facet__number">' in text
    pk = str(SavedView.objects.get().pk)
    assert save(client, "Overdue", delete="1", view=pk) == "The view “Overdue” is deleted."
    assert views(eva) == {}


def test_a_view_is_its_owners(client: Client, eva: User) -> None:
    save(client, "Late")
    ben = person("ben")
    pk = str(SavedView.objects.get().pk)
    assert "only its owner" in save(browser(ben), "Late", delete="1", view=pk)
    save(browser(ben), "Late", "q=dog")
    assert (views(eva), views(ben)) == ({"Late": "overdue=1"}, {"Late": "q=dog"})


@pytest.mark.parametrize(
    ("name", "query", "problem"),
    [
        (" ", "", "Give the view a name."),
        ("a\0b", "", "Give the view a name."),
        ("x" * 61, "", "at most 60 characters"),
        ("Late", "tab=x", "There is no such list."),
        ("Late", "agency=" + "%C3%A9" * 190, "too many filters"),
    ],
)
def test_it_saves_no_view_that_cannot_be_had(
    client: Client, eva: User, name: str, query: str, problem: str
) -> None:
    assert problem in save(client, name, query)
    assert views(eva) == {}


def test_it_keeps_a_number_of_views_that_can_be_read(client: Client, eva: User) -> None:
    SavedView.objects.bulk_create(
        SavedView(owner=eva, name=str(n), query=f"q={n}") for n in range(30)
    )
    assert "Delete one first" in save(client, "one more")
    assert len(views(eva)) == 30


def ticked(html: str) -> list[str]:
    return re.findall(r'name="item" value="([^"]+)"[^>]* checked', html)


def test_what_was_chosen_is_kept_where_nothing_could_be_done(
    client: Client, items: list[ReviewItem]
) -> None:
    for item in items:
        client.post(reverse("review:claim", args=[item.pk]))
    chosen = [str(item.pk) for item in items[:2]]
    form = {"do": "assign", "to": "nobody", "item": chosen, "queue": HERE}
    assert client.post(BULK, form)["Location"] == HERE
    html = client.get(HERE).content.decode()
    assert "Choose whom to give the items to." in html
    assert sorted(ticked(html)) == sorted(chosen)
    # Once: who comes back later begins anew.
    assert ticked(client.get(HERE).content.decode()) == []
