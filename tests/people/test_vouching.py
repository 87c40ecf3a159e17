"""Whatever the application itself does to accounts, roles and tokens, the record vouches for it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.db import transaction
from django.test import Client, override_settings

from ieim.audit.comparing import second_look
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.audit.verify import verify
from ieim.config import demo
from ieim.people import factors, passwords
from ieim.people.models import Token, User
from ieim.people.roles import Role
from ieim.people.services import changing
from ieim.people.tokens import services as tokens
from tests.people.openid_provider import Directory
from tests.people.pages import add, change
from tests.people.test_factors import code, log_in, recovery_codes, set_up
from tests.people.test_who_changes_whom import USERS, events, group
from tests.review.people import browser, person
from tests.studio.admin import admin_pages

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:authlib"),
]

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def vouched_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After each of these tests the record holds."""
    monkeypatch.setattr("getpass.getpass", lambda **_: PASSWORD)
    yield
    assert faults() == []


def faults() -> list[str]:
    """What verification says of staff."""
    problem = verify(PEOPLE_CHAIN).problem
    messages = [entry.message for entry in second_look(PEOPLE_CHAIN)]
    return [*([problem.message] if problem else []), *messages]


@pytest.fixture
def root() -> User:
    """Made by the command, with a password by the other one."""
    call_command("make_roles", stdout=StringIO())
    call_command("createsuperuser", username="root", email="", interactive=False, stdout=StringIO())
    call_command("changepassword", "root", stdout=StringIO())
    return User.objects.get(username="root")


@pytest.mark.both_databases
def test_by_the_pages(published: None, root: User, sent: list[EmailMessage]) -> None:
    desk = browser(root)
    sue = add(desk, "sue", roles=[Role.CASEWORKER])
    change(desk, sue, roles=[Role.EDITOR], first_name="Sue", agencies=["housing", "passports"])
    change(desk, sue, agencies=["passports"])
    passwords.show_link(user=sue, by=root)
    page = f"{USERS}{sue.pk}/change/"
    desk.post(page, admin_pages.filled(desk, page, username="susan"))
    tokens.make(by=sue, name="x", scopes=["knowledge:read"], agencies=["passports"], days=1)
    role = Group.objects.get(name=Role.EDITOR.value)
    desk.post(f"/admin/auth/group/{role.pk}/delete/", {"post": "yes"})
    desk.post("/admin/auth/group/add/", {"name": "mine"})
    assert not sue.groups.exists()
    assert faults() == []
    desk.post(USERS, {"action": "delete_selected", "post": "yes", "_selected_action": [sue.pk]})
    assert not Token.objects.exists()


def test_by_commands(root: User) -> None:
    for _ in range(2):
        demo.create_accounts()
    call_command("make_roles", stdout=StringIO())


@pytest.mark.parametrize("in_the_form", [False, True])
def test_by_a_password_that_is_hashed_anew(root: User, in_the_form: bool) -> None:
    newer = ["django.contrib.auth.hashers.ScryptPasswordHasher", *settings.PASSWORD_HASHERS]
    with override_settings(PASSWORD_HASHERS=newer):
        if in_the_form:  # which finds the new one too short
            old = {"old_password": PASSWORD, "new_password1": "x", "new_password2": "x"}
            browser(root).post("/admin/password_change/", old)
        else:
            Client().post("/staff/login/", {"username": "root", "password": PASSWORD})
            assert events("password_rehashed")
    assert User.objects.get().password.startswith("scrypt")


def test_by_changing_ones_own_password(root: User) -> None:
    other = {"old_password": PASSWORD, "new_password1": "another 7 x", "new_password2": ""}
    browser(root).post(
        "/admin/password_change/", {**other, "new_password2": other["new_password1"]}
    )
    assert User.objects.get().check_password("another 7 x")


@pytest.mark.both_databases
def test_by_administrators() -> None:
    ada = person("ada", Role.ADMINISTRATOR, "taxes")
    carl = person("carl", Role.CASEWORKER, "taxes")
    with changing(carl.pk, by=ada):
        carl.groups.add(group(Role.PUBLISHER))
    assert faults() == []
    with changing(ada.pk, carl.pk, by=None):
        User.objects.filter(pk__in=[ada.pk, carl.pk]).delete()


def test_of_rights_that_waited_for_a_second_administrator() -> None:
    """Their rows are gone without an event; those of earlier versions still name them."""
    with transaction.atomic():
        row = ("grant", "1", "0" * 64)
        record(
            chain=PEOPLE_CHAIN, kind="people.rights_asked", payload={}, actor="system", rows=[row]
        )


def test_by_tokens() -> None:
    ed = person("ed", Role.EDITOR, "taxes")
    fields: dict[str, Any] = {"scopes": ["knowledge:read"], "agencies": ["taxes"], "days": 9}
    token, _ = tokens.make(by=ed, name="feed", **fields)
    tokens.use(token)
    assert faults() == []
    tokens.revoke(token_id=token.pk, by=ed)


def test_by_second_factors(root: User, django_capture_on_commit_callbacks: Any) -> None:
    desk, _ = log_in("root")
    secret = set_up(desk, django_capture_on_commit_callbacks)
    used = recovery_codes(desk)[0]
    assert faults() == []
    for entry in (used, code(secret)):
        again, _ = log_in("root")
        answer = again.post("/staff/factors/authenticate/", {"code": entry})
        assert answer.status_code == 302
        assert faults() == []
    desk.post("/staff/factors/totp/deactivate/")
    assert not Authenticator.objects.exists()
    ed = person("ed", Role.EDITOR)
    Authenticator.objects.create(user=ed, type=Authenticator.Type.TOTP, data={"secret": "x"})
    factors.remove(ed, by=root)
    Authenticator.objects.create(user=ed, type=Authenticator.Type.TOTP, data={"secret": "x"})
    with changing(ed.pk, by=root):
        ed.delete()


def test_by_the_provider(directory: Directory) -> None:
    for groups in (["desk", "passports"], ["heads"], []):
        directory.person("ada", *groups, email="ada@example.org")
        directory.enter(Client(), "ada")
        assert faults() == []
    assert User.objects.get().socialaccount_set.count() == 1  # type: ignore[attr-defined]  # allauth's
