"""The pages of accounts: the list with its states, one page an account, and a new one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.staff.views import PAGE_SIZE
from tests.people.pages import NEW, PEOPLE, add, change, filled, page_of
from tests.people.test_who_changes_whom import events
from tests.review.people import browser, person

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(published: None) -> Client:
    ada = person("ada", Role.ADMINISTRATOR, "passports")
    return browser(ada)


def text_of(page: Any) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page.content.decode()))


def test_the_list_says_who_has_what_and_in_which_state(desk: Client) -> None:
    active, off, locked = (person(name, Role.EDITOR, "housing") for name in ("abe", "ben", "cyd"))
    person("dot", None)
    for user in (active, locked):
        user.set_password("x")
        user.save()
    User.objects.filter(pk=off.pk).update(is_active=False)
    AccessAttempt.objects.create(
        username="cyd",
        ip_address="192.0.2.1",
        attempt_time=timezone.now(),
        failures_since_start=settings.AXES_FAILURE_LIMIT,
    )
    text = text_of(desk.get(PEOPLE))
    row = "knowledge editor Housing and Land Office Never"
    for line in (
        f"Abe abe – {row} Active",
        f"Ben ben – {row} Switched off",
        f"Cyd cyd – {row} Locked after wrong passwords",
        "Dot dot – – Every agency Never Invited",
    ):
        assert line in text


def test_it_is_searched_and_paged_with_as_many_queries_for_few_as_for_many(
    desk: Client,
) -> None:
    users = User.objects.bulk_create([User(username=f"u{n:02}") for n in range(PAGE_SIZE)])
    User.objects.filter(pk=users[3].pk).update(first_name="Zoë", email="zoe@example.org")
    text = text_of(desk.get(PEOPLE))
    assert "Page 1 of 2" in text
    assert f"u{PAGE_SIZE - 1:02}" not in text
    assert f"u{PAGE_SIZE - 1:02}" in text_of(desk.get(PEOPLE, {"page": "2"}))
    for words in ("zoe@", "Zoë u03", "U03"):
        page = text_of(desk.get(PEOPLE, {"q": words}))
        assert "u03" in page
        assert "u04" not in page
    for words in ("nobody of this name", "a\0b", "x" * 5000):
        assert "No account fits." in text_of(desk.get(PEOPLE, {"q": words}))
    counts = []
    for words in ("u03", "u"):
        with CaptureQueriesContext(connection) as queries:
            desk.get(PEOPLE, {"q": words})
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_new_account_comes_with_a_link_that_is_shown(desk: Client) -> None:
    data = filled(desk, NEW, username="sue", roles=[Role.CASEWORKER], agencies=["housing"])
    page = desk.post(NEW, data)
    assert page.status_code == 201
    match = re.search(r'value="http://testserver(/staff/password/[^"]+)"', page.content.decode())
    assert match
    assert "ada alone gave this account its rights or a link" in text_of(page)
    visitor = Client()
    form = visitor.get(match[1])["Location"]
    new = "an entirely new sentence"
    visitor.post(form, {"new_password1": new, "new_password2": new})
    login = visitor.post("/staff/login/", {"username": "sue", "password": new})
    assert login["Location"] == "/staff/"
    [(_, actor, payload)] = events("user_added")
    assert (actor, payload["roles_given"]) == ("staff:ada", ["caseworker"])
    assert payload["agencies_given"] == ["housing"]
    assert [actor for _, actor, _ in events("password_link_shown")] == ["staff:ada"]


def test_with_a_mail_server_the_link_goes_by_mail_unless_it_is_to_be_shown(
    desk: Client, sent: list[EmailMessage]
) -> None:
    add(desk, "sue")
    assert [message.to for message in sent] == [["sue@example.org"]]
    for values in ({"show": "on"}, {"email": ""}):
        User.objects.filter(username="tom").delete()
        data = {"username": "tom", "email": "tom@example.org", **values}
        page = desk.post(NEW, filled(desk, NEW, **data))
        assert page.status_code == 201
        assert "The link for tom" in text_of(page)
    assert len(sent) == 1


def test_without_passwords_there_are_no_links(
    desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "IEIM_PASSWORDS", False)
    page = page_of(add(desk, "sue"))
    assert "/link/" not in desk.get(page).content.decode()
    desk.post(f"{page}link/", {"way": "show"})
    assert not events("password_link")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"username": "ADA"}, "already exists"),
        ({"username": "a/b"}, "valid username"),
        ({"username": ""}, "required"),
        ({"username": "a\0b"}, "Null characters"),
        ({"username": "sue", "email": "sue"}, "valid email"),
        ({"username": "sue", "first_name": "x" * 151}, "at most 150"),
        ({"username": "sue", "roles": [Role.ADMINISTRATOR]}, "available choices"),
    ],
)
def test_what_is_wrong_with_a_new_account_is_said_and_nothing_is_made(
    desk: Client, values: dict[str, Any], message: str
) -> None:
    page = desk.post(NEW, filled(desk, NEW, **values))
    assert page.status_code == 422
    assert message in text_of(page)
    assert User.objects.count() == 1


def test_two_who_change_an_account_do_not_undo_each_other(desk: Client) -> None:
    carl = person("carl", Role.CASEWORKER, "passports")
    stale = filled(desk, page_of(carl), last_name="Able")
    assert change(desk, carl, roles=[Role.EDITOR]).status_code == 303
    page = desk.post(page_of(carl), stale)
    assert page.status_code == 422
    assert "Somebody else has changed this account meanwhile" in text_of(page)
    assert [group.name for group in carl.groups.all()] == ["knowledge editor"]
    assert User.objects.get(pk=carl.pk).last_name == ""


def test_an_account_that_is_off_opens_nothing_and_says_so(desk: Client) -> None:
    carl = person("carl", Role.CASEWORKER, "passports")
    theirs = browser(carl)
    assert change(desk, carl, is_active=False).status_code == 303
    assert theirs.get("/review/").status_code == 302
    assert "Switched off" in text_of(desk.get(page_of(carl)))
    assert desk.get(f"{PEOPLE}{10**30}/").status_code == 404
