from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import NoReverseMatch, URLResolver, get_resolver, reverse

from conversations.models import Turn
from review.access import ACCESS, BEARER, BY_PERMISSION, EVERYBODY, PREFIXES, who_may
from review.models import ReviewItem
from review.roles import Role
from review.services import open_item
from tests.review.people import browser, person

LOGIN = "/staff/login/"
APIS = ("review_api:", "knowledge_api:")
NAMELESS = {""}
"""The API's catch-all, which says that there is nothing; the admin's own are below its prefix."""


def addresses(
    resolver: URLResolver | None = None, space: str = "", taken: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every address of the site: ``(name, names of what is filled in)``."""
    for pattern in (resolver or get_resolver()).url_patterns:
        filled = (*taken, *pattern.pattern.regex.groupindex)
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from addresses(pattern, inner, filled)
        elif pattern.name:
            yield f"{space}{pattern.name}", filled
        elif not space.startswith(tuple(PREFIXES)):
            assert str(pattern.pattern) in NAMELESS, f"{pattern} has no name"


NAMES = dict(addresses())
STAFF_PAGES = [
    name
    for name in NAMES
    if who_may(name) not in (None, EVERYBODY, BEARER) and not name.startswith(tuple(PREFIXES))
]
ITEM_PAGES = [n for n in STAFF_PAGES if n.startswith("review") and "pk" in NAMES[n]]


@pytest.fixture
def item(published: None, turn: Turn) -> ReviewItem:
    return open_item(turn_id=turn.pk, stage="reply", codes=["schema"])


def address(name: str, item: ReviewItem) -> str:
    known: dict[str, Any] = {"pk": item.pk}
    try:
        return reverse(name, kwargs={each: known.get(each, uuid4()) for each in NAMES[name]})
    except NoReverseMatch:  # some are known by number
        return reverse(name, kwargs=dict.fromkeys(NAMES[name], 1))


def open_page(client: Client, path: str) -> HttpResponse:
    """Get it, or post or put to it where that is all that can be done."""
    response: HttpResponse
    for method in (client.get, client.post, client.put):
        response = method(path)  # type: ignore[assignment]
        if response.status_code != 405:
            break
    return response


def refused(response: HttpResponse) -> bool:
    return response.status_code == 403 or response.headers.get("Location", "").startswith(LOGIN)


def walk(names: Sequence[str], check: Callable[[str], object]) -> None:
    """Check every address, each as if it were the first, and name all that fail."""
    wrong = []
    for name in names:
        try:
            with transaction.atomic():
                check(name)
                transaction.set_rollback(True)
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
    assert wrong == []


def test_every_address_is_in_the_table() -> None:
    unlisted = sorted(name for name in NAMES if who_may(name) is None)
    assert unlisted == [], "say in review/access.py who may open these"


def test_the_table_has_no_address_that_is_gone() -> None:
    assert sorted(set(ACCESS) - set(NAMES)) == []


def test_nobody_comes_in_without_a_login(client: Client, item: ReviewItem) -> None:
    def check(name: str) -> None:
        path = address(name, item)
        response = open_page(client, path)
        if name.startswith(APIS):
            assert response.status_code in (401, 403)
        else:
            assert (response.status_code, response["Location"]) == (302, f"{LOGIN}?next={path}")

    walk(STAFF_PAGES, check)


@pytest.mark.parametrize("role", [*Role, None])
def test_each_role_opens_what_the_table_says(item: ReviewItem, role: Role | None) -> None:
    client = browser(person("somebody", role))

    def check(name: str) -> None:
        response = open_page(client, address(name, item))
        who = who_may(name)
        may = who == frozenset(Role) or role in (who or ())
        assert refused(response) is not may
        assert response.status_code < 500

    walk(STAFF_PAGES, check)


@pytest.mark.parametrize("role", Role)
def test_an_item_of_another_agency_is_not_there(item: ReviewItem, role: Role) -> None:
    ReviewItem.objects.filter(pk=item.pk).update(agency="housing")
    elsewhere = browser(person("elsewhere", role, "vehicles"))
    there = browser(person("there", role, "vehicles", "housing"))

    def check(name: str) -> None:
        assert open_page(elsewhere, address(name, item)).status_code == 404
        # Of a decision that there is not, and for a form that asks for no service.
        nothing = name in ("review:undo", "review:services")
        assert (open_page(there, address(name, item)).status_code == 404) is nothing

    walk([name for name in ITEM_PAGES if role in (who_may(name) or ())], check)


def test_the_admin_asks_for_a_login_and_for_permission(client: Client, db: None) -> None:
    eva = browser(person("eva", Role.CASEWORKER))

    def check(name: str) -> None:
        path = reverse(name)
        assert (client.get(path).status_code == 302) is (name != "admin:login")
        if name.endswith(("_changelist", "_add")):
            assert eva.get(path).status_code == 403

    names = [n for n in NAMES if who_may(n) is BY_PERMISSION and not NAMES[n]]
    assert names
    walk(names, check)


@pytest.mark.parametrize("name", [name for name in NAMES if who_may(name) == BEARER])
@pytest.mark.parametrize("login", [False, True])
def test_the_api_takes_a_token_and_no_login(
    client: Client, db: None, name: str, login: bool
) -> None:
    if login:
        User.objects.create_superuser("root")
        client.force_login(User.objects.get())
    path = reverse(name, kwargs={each: uuid4() for each in NAMES[name]})
    assert open_page(client, path).status_code in (401, 403)
