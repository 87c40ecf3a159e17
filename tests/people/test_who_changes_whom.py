"""Nobody below a superuser raises anybody, whichever way they try; and every change is recorded."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import PermissionDenied
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.test import Client

from ieim.audit.models import PEOPLE_CHAIN, AuditEvent
from ieim.audit.verify import verify
from ieim.people.accounts import account_of, refusal
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.services import changing
from tests.people.pages import add, change, page_of
from tests.review.people import browser, person
from tests.studio.admin import admin_pages

pytestmark = pytest.mark.django_db

USERS = "/admin/people/user/"
PASSWORD = "a long enough one 7"


@pytest.fixture
def ada() -> User:
    """An administrator."""
    return person("ada", Role.ADMINISTRATOR, "passports")


@pytest.fixture
def desk(ada: User) -> Client:
    return browser(ada)


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password="old")


@pytest.fixture
def carl() -> User:
    return person("carl", Role.CASEWORKER, "passports")


def group(role: Role) -> int:
    return Group.objects.get(name=role.value).pk


def right(name: str) -> int:
    return Permission.objects.get(codename=name).pk


def events(kind: str = "") -> list[tuple[str, str, dict[str, Any]]]:
    """The changes of people, oldest first: kind, actor, payload without the rows."""
    audit_events = AuditEvent.objects.filter(chain=PEOPLE_CHAIN, kind__startswith=f"people.{kind}")
    results = [
        (entry.kind, entry.actor, json.loads(entry.payload))
        for entry in audit_events.order_by("seq")
    ]
    for _, _, payload in results:
        payload.pop("rows", None)
        payload.pop("were", None)
    return results


def powers(user: User) -> Any:
    account = account_of(user.pk)
    return account and (account.powers, account.password)


def test_nobody_raises_themselves(desk: Client, ada: User) -> None:
    before = powers(ada)
    raised = {
        "is_superuser": "on",
        "user_permissions": [right("delete_user")],
        "roles": [*Role],
        "agencies": ["*"],
        "is_staff": "on",
    }
    assert change(desk, ada, **raised).status_code == 303
    assert powers(ada) == before
    page = desk.get(page_of(ada)).content.decode()
    assert "Nobody changes what they themselves may do" in page
    for action in ("link", "factors", "sessions"):
        assert desk.post(f"{page_of(ada)}{action}/").status_code == 303
    assert powers(ada) == before
    assert not events("password")


def test_they_change_their_own_name_and_password(desk: Client, ada: User) -> None:
    assert change(desk, ada, last_name="Able").status_code == 303
    assert User.objects.get(pk=ada.pk).last_name == "Able"
    assert events("user_changed")[-1][2] == {
        "user": ada.pk,
        "username": "ada",
        "profile": "changed",
    }


def test_nobody_is_made_a_superuser_or_given_rights_of_their_own(desk: Client, carl: User) -> None:
    before = powers(carl)
    for extra in ({"is_superuser": "on"}, {"user_permissions": [right("delete_user")]}):
        change(desk, carl, **extra)
        assert powers(carl) == before
    sue = add(desk, "sue", is_superuser="on", is_staff="on")
    assert (sue.is_superuser, sue.is_staff) == (False, False)


def test_an_administrator_hands_out_roles_and_agencies(
    published: None, desk: Client, carl: User
) -> None:
    chosen = {"roles": [Role.EDITOR, Role.AUDITOR], "agencies": ["passports", "housing"]}
    assert change(desk, carl, **chosen).status_code == 303
    [(_, actor, payload)] = events("user_changed")
    assert actor == "staff:ada"
    assert payload["roles_given"] == ["auditor", "knowledge editor"]
    assert payload["roles_taken"] == ["caseworker"]
    assert payload["agencies_given"] == ["housing"]


@pytest.mark.parametrize("other_role", ["administrator", "operators"])
def test_other_roles_are_not_theirs_to_give(desk: Client, carl: User, other_role: str) -> None:
    Group.objects.get_or_create(name=other_role)
    before = powers(carl)
    response = change(desk, carl, roles=[Role.CASEWORKER, other_role])
    assert (response.status_code, powers(carl)) == (422, before)
    assert "not one of the available choices" in response.content.decode()


def test_a_role_that_was_given_more_is_not_theirs_to_give(desk: Client, ada: User) -> None:
    newcomer = person("newcomer", None)
    caseworkers = Group.objects.get(name=Role.CASEWORKER.value)
    caseworkers.permissions.add(right("delete_user"))
    change(desk, newcomer, roles=[Role.CASEWORKER])
    assert not newcomer.groups.exists()


@pytest.mark.parametrize("who", ["superuser", "administrator", "operator", "rights"])
def test_accounts_with_more_are_not_touched(desk: Client, who: str) -> None:
    target = person("target", Role.ADMINISTRATOR if who == "administrator" else None, "tax")
    target.is_superuser = who == "superuser"
    target.save()
    if who == "operator":
        target.groups.add(Group.objects.create(name="operators"))
    if who == "rights":
        target.user_permissions.add(right("delete_user"))
    before, page = powers(target), page_of(target)
    for action in ("", "link/", "factors/", "sessions/"):
        assert desk.post(f"{page}{action}", {"first_name": "X"}).status_code == 403, action
    assert powers(target) == before
    text = desk.get(page).content.decode()  # to read
    assert "Only a superuser" in text
    assert "Save" not in text


def test_roles_are_changed_by_superusers_only(desk: Client, ada: User, root: User) -> None:
    models = ("group", "user")
    ada.user_permissions.set(Permission.objects.filter(content_type__model__in=models))
    assert desk.get(USERS).status_code == 403
    page = f"/admin/auth/group/{group(Role.CASEWORKER)}/"
    data = {"name": "caseworker", "permissions": [right("view_metrics")]}
    assert desk.post(f"{page}change/", data).status_code == 403
    assert desk.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    assert desk.post("/admin/auth/group/add/", {"name": "mine"}).status_code == 403
    assert browser(root).post(f"{page}change/", data).status_code == 302
    kind, actor, payload = events("role")[-1]
    assert (kind, actor) == ("people.role_changed", "staff:root")
    assert payload["permissions_given"] == ["review.view_metrics"]
    assert "review.decide_reviewitem" in payload["permissions_taken"]
    call_command("make_roles", stdout=StringIO())
    kind, actor, payload = events("role")[-1]
    assert (kind, actor) == ("people.role_changed", "system")
    assert payload["permissions_taken"] == ["review.view_metrics"]
    before = len(events())
    call_command("make_roles", stdout=StringIO())
    assert len(events()) == before


def test_a_role_goes_however_many_have_it(root: User) -> None:
    many = Group.objects.create(name="many")
    many.user_set.add(*User.objects.bulk_create([User(username=f"u{n}") for n in range(900)]))
    page = f"/admin/auth/group/{many.pk}/delete/"
    assert browser(root).post(page, {"post": "yes"}).status_code == 302
    assert events("role")[-1][2]["members"] == 900
    documents = [
        json.loads(result.payload) for result in AuditEvent.objects.filter(chain=PEOPLE_CHAIN)
    ]
    vouched = [
        (len(result["rows"]), len(result["were"])) for result in documents if result.get("were")
    ]
    assert [sum(numbers) for numbers in zip(*vouched, strict=True)] == [901, 901]


def test_the_rule_holds_for_any_code_that_changes_an_account(ada: User, carl: User) -> None:
    """What a form, an action or a field to come may forget."""
    before = powers(carl)
    with pytest.raises(PermissionDenied, match="Only a superuser"), changing(carl.pk, by=ada):
        User.objects.filter(pk=carl.pk).update(is_superuser=True)
    with pytest.raises(PermissionDenied), changing(carl.pk, by=ada):
        carl.groups.add(group(Role.ADMINISTRATOR))
    with pytest.raises(PermissionDenied), changing(by=ada) as made:
        made.append(User.objects.create_superuser("new").pk)
    assert powers(carl) == before
    assert not User.objects.filter(username="new").exists()
    assert not events("user")


def test_a_superuser_may(root: User, carl: User) -> None:
    desk, page = browser(root), f"{USERS}{carl.pk}/change/"
    assert change(desk, carl, roles=[Role.ADMINISTRATOR]).status_code == 303
    assert events("user_changed")[-1][2]["roles_given"] == ["administrator"]
    data = admin_pages.filled(desk, page, is_superuser="on")
    assert desk.post(page, data).status_code == 302
    payload = events("user_changed")[-1][2]
    assert (payload["superuser_was"], payload["superuser"]) == (False, True)
    assert refusal(root, account_of(carl.pk), None) == ""


def test_a_superuser_does_not_shut_themselves_out(root: User) -> None:
    desk, page = browser(root), f"{USERS}{root.pk}/"
    data = admin_pages.filled(desk, f"{page}change/")
    for flag in ("is_superuser", "is_active"):
        left = {name: value for name, value in data.items() if name != flag}
        assert desk.post(f"{page}change/", left).status_code == 403
    assert desk.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    desk.post(USERS, {"action": "delete_selected", "post": "yes", "_selected_action": [root.pk]})
    assert User.objects.filter(pk=root.pk, is_active=True, is_superuser=True).exists()
    refused = change(desk, root, is_active=False)
    assert refused.status_code == 422
    assert "Nobody shuts themselves out." in refused.content.decode()
    assert not events("user")
    assert change(desk, root, agencies=["*"]).status_code == 303


def test_accounts_come_go_and_get_passwords_on_the_record(
    root: User, carl: User, sent: list[EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getpass", lambda **_: PASSWORD)
    desk = browser(root)
    sue = add(desk, "sue")
    assert not sue.has_usable_password()
    call_command("changepassword", "sue", stdout=StringIO())
    chosen = {"action": "delete_selected", "post": "yes", "_selected_action": [sue.pk, carl.pk]}
    assert desk.post(USERS, chosen).status_code == 302
    assert [kind for kind, _, _ in events("user")] == [
        "people.user_added",
        "people.user_changed",
        "people.user_deleted",
        "people.user_deleted",
    ]
    assert events("user_changed")[-1][2]["password"] == "changed"
    assert not AuditEvent.objects.filter(payload__contains="pbkdf").exists()
    assert verify(PEOPLE_CHAIN).problem is None


def test_ones_own_password_is_on_the_record(carl: User) -> None:
    carl.set_password("old")
    carl.save()
    data = {"old_password": "old", "new_password1": PASSWORD, "new_password2": PASSWORD}
    desk = browser(carl)
    for _ in range(2):  # the second time the old one is wrong
        desk.post("/admin/password_change/", data)
    ((_, actor, payload),) = events("user_changed")
    assert (actor, payload["password"]) == ("staff:carl", "changed")


def test_commands_are_on_the_record(carl: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda **_: PASSWORD)
    call_command("createsuperuser", username="boss", email="", interactive=False, stdout=StringIO())
    call_command("changepassword", "carl", stdout=StringIO())
    assert User.objects.get(pk=carl.pk).check_password(PASSWORD)
    (added, changed) = events("user")
    assert (added[0], added[1], added[2]["superuser"]) == ("people.user_added", "system", True)
    assert (changed[2]["username"], changed[2]["password"]) == ("carl", "changed")


def test_logins_and_logouts_are_on_the_record(client: Client, carl: User) -> None:
    carl.set_password(PASSWORD)
    carl.save()
    for name, password in (("carl", "wrong"), (PASSWORD, "carl"), ("carl", PASSWORD)):
        client.post("/staff/login/", {"username": name, "password": password})
    client.post("/staff/logout/")
    client.post("/staff/logout/")
    expected_payload = {"user": carl.pk, "username": "carl"}
    assert events("log") == [
        ("people.login_failed", "system", expected_payload),
        ("people.login_failed", "system", {"user": None}),
        ("people.logged_in", "staff:carl", expected_payload),
        ("people.logged_out", "staff:carl", expected_payload),
    ]
    assert not AuditEvent.objects.filter(payload__contains=PASSWORD).exists()
