"""Staff accounts: logging in, and what each demo account may open."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from ieim.config import demo
from ieim.people.models import AgencyScope, User
from tests.people.test_who_changes_whom import SCOPES, USERS, events
from tests.review.people import browser
from tests.studio.admin.admin_pages import filled

pytestmark = pytest.mark.django_db


def logged_in(username: str) -> Client:
    """A browser in which the demo account has logged in through the page."""
    account = next(account for account in demo.ACCOUNTS if account.username == username)
    client = Client()
    response = client.post(
        "/staff/login/", {"username": username, "password": account.password, "next": "/staff/"}
    )
    assert (response.status_code, response["Location"]) == (302, "/staff/")
    return client


@pytest.fixture(autouse=True)
def _accounts(db: None) -> None:
    demo.create_accounts()


def test_it_asks_who_you_are(client: Client) -> None:
    response = client.get("/staff/")
    assert (response.status_code, response["Location"]) == (302, "/staff/login/?next=/staff/")


def test_it_refuses_a_wrong_password(client: Client) -> None:
    response = client.post("/staff/login/", {"username": "caseworker", "password": "wrong"})
    assert response.status_code == 200
    assert client.get("/staff/").status_code == 302


@pytest.mark.parametrize(
    ("username", "path", "status"),
    [
        ("admin", "/review/", 200),
        ("admin", "/admin/people/user/", 200),
        ("caseworker", "/review/", 200),
        ("caseworker", "/admin/studio/service/", 403),
        ("editor", "/review/", 403),
        ("editor", "/admin/studio/service/", 200),
        ("editor", "/admin/people/user/", 403),
    ],
)
def test_it_opens_what_the_account_may_see(username: str, path: str, status: int) -> None:
    assert logged_in(username).get(path).status_code == status


@pytest.mark.parametrize(
    ("username", "work"),
    [("admin", "/review/"), ("caseworker", "/review/"), ("editor", "/knowledge/")],
)
def test_it_leads_staff_to_their_work(username: str, work: str) -> None:
    response = logged_in(username).get("/staff/")
    assert (response.status_code, response["Location"]) == (302, work)


def test_it_logs_out() -> None:
    client = logged_in("caseworker")
    response = client.post("/staff/logout/")
    assert (response.status_code, response["Location"]) == (302, "/staff/login/")
    assert client.get("/staff/").status_code == 302


def test_it_keeps_a_password_that_was_changed(client: Client) -> None:
    user = get_user_model().objects.get(username="caseworker")
    user.set_password("another-one")
    user.save()
    demo.create_accounts()
    form = {"username": "caseworker", "password": "another-one"}
    assert client.post("/staff/login/", form).status_code == 302


def test_a_superuser_does_not_shut_themselves_out() -> None:
    root = User.objects.create_superuser("root", password="old")
    desk, page = browser(root), f"{USERS}{root.pk}/"
    before = len(events("user"))
    data = filled(desk, f"{page}change/")
    for gone in ("is_superuser", "is_active"):
        left = {name: value for name, value in data.items() if name != gone}
        assert desk.post(f"{page}change/", left).status_code == 403
    assert desk.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    desk.post(USERS, {"action": "delete_selected", "post": "yes", "_selected_action": [root.pk]})
    assert User.objects.filter(pk=root.pk, is_active=True, is_superuser=True).exists()
    assert len(events("user")) == before
    scope = AgencyScope.objects.create(user=root, agency="passports")
    assert desk.post(f"{SCOPES}{scope.pk}/delete/", {"post": "yes"}).status_code == 302
