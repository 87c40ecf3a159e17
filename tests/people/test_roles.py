from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.test import Client

from ieim.config import demo
from ieim.people.models import User
from ieim.people.roles import PERMISSIONS, Role
from ieim.people.scope import agencies_of
from tests.review.people import browser, person

pytestmark = pytest.mark.django_db


def rights(group: Group) -> set[str]:
    return {f"{p.content_type.app_label}.{p.codename}" for p in group.permissions.all()}


def test_it_makes_every_role_and_names_them_in_a_line() -> None:
    output = StringIO()
    call_command("make_roles", stdout=output)
    for role in Role:
        assert rights(Group.objects.get(name=role.value)) == set(PERMISSIONS[role])
    [line] = output.getvalue().splitlines()
    assert ", ".join(Role) in line


def test_it_can_be_made_again_and_takes_back_what_is_too_much() -> None:
    call_command("make_roles", stdout=StringIO())
    group = Group.objects.get(name="caseworker")
    eva = User.objects.create_user("eva")
    eva.groups.add(group)
    group.permissions.add(Permission.objects.get(codename="delete_user"))

    call_command("make_roles", stdout=StringIO())

    assert Group.objects.count() == len(Role)
    assert "people.delete_user" not in rights(group)
    assert eva.has_perm("review.decide_reviewitem")


def test_an_auditor_changes_nothing() -> None:
    assert all(name.split(".")[1].startswith("view_") for name in PERMISSIONS[Role.AUDITOR])


def test_the_demo_accounts_have_their_roles_and_agencies() -> None:
    demo.create_accounts()
    demo.create_accounts()
    groups = {user.username: [g.name for g in user.groups.all()] for user in User.objects.all()}
    assert groups == {
        "admin": [],
        "caseworker": ["caseworker"],
        "colleague": ["caseworker"],
        "supervisor": ["supervisor"],
        "editor": ["knowledge editor"],
        "publisher": ["knowledge publisher"],
        "auditor": ["auditor"],
    }
    assert agencies_of(User.objects.get(username="admin")) is None
    assert agencies_of(User.objects.get(username="supervisor")) is None
    assert agencies_of(User.objects.get(username="colleague")) == frozenset({"immigration"})


def test_a_demo_account_keeps_a_password_that_was_changed(client: Client) -> None:
    demo.create_accounts()
    user = User.objects.get(username="caseworker")
    user.set_password("another-one")
    user.save()
    demo.create_accounts()
    form = {"username": "caseworker", "password": "another-one"}
    assert client.post("/staff/login/", form).status_code == 302


@pytest.mark.parametrize(
    ("role", "page"),
    [
        (Role.CASEWORKER, "/review/"),
        (Role.EDITOR, "/knowledge/"),
        (Role.AUDITOR, "/audit/"),
        (Role.ADMINISTRATOR, "/staff/people/"),
    ],
)
def test_it_leads_staff_to_their_work(role: Role, page: str) -> None:
    response = browser(person("ada", role)).get("/staff/")
    assert (response.status_code, response["Location"]) == (302, page)
