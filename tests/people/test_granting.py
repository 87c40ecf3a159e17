"""Rights with which one person could be both pairs of eyes: granted, recorded and announced."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.utils import timezone

from ieim.audit import services as audit
from ieim.audit.models import PEOPLE_CHAIN
from ieim.people import openid, passwords, selectors
from ieim.people.accounts import account_of, announced_rights
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.scope import known_agencies
from ieim.people.services import NotAllowed, changing, changing_role
from tests.people.openid_provider import GROUPS
from tests.people.pages import change
from tests.people.test_who_changes_whom import USERS, events, group
from tests.review.people import browser, person, vouched
from tests.studio.admin.admin_pages import filled

pytestmark = pytest.mark.django_db

OVERSEERS = ["ada@example.org", "root@example.org", "sue@example.org"]


@pytest.fixture
def ada() -> User:
    return with_address(person("ada", Role.ADMINISTRATOR, "passports"))


@pytest.fixture
def carl() -> User:
    return with_address(person("carl", None, "passports"))


@pytest.fixture(autouse=True)
def overseers(ada: User) -> None:
    """Two administrators and a supervisor, a second one who has left, and an editor."""
    User.objects.create_superuser("root", email="root@example.org")
    with_address(person("sue", Role.SUPERVISOR))
    User.objects.filter(pk=with_address(person("zoe", Role.SUPERVISOR)).pk).update(is_active=False)
    with_address(person("ed", Role.EDITOR))


def with_address(user: User) -> User:
    User.objects.filter(pk=user.pk).update(email=f"{user.username}@example.org")
    return vouched(User.objects.get(pk=user.pk))


def rights(user: User) -> frozenset[str]:
    return announced_rights(account_of(user.pk))


@pytest.mark.parametrize("role", [Role.PUBLISHER, Role.SUPERVISOR, Role.CASEWORKER])
def test_a_role_is_one_event_and_one_message(
    ada: User,
    carl: User,
    sent: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
    role: Role,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        change(browser(ada), carl, roles=[role])
    [(_, actor, payload)] = events("user_changed")
    assert (actor, payload["roles_given"]) == ("staff:ada", [role.value])
    [message] = sent
    recipients = {*OVERSEERS, "carl@example.org"} if role is Role.SUPERVISOR else {*OVERSEERS}
    assert set(message.to) == recipients
    assert f"Ada gave carl the role {role}." in message.body


def test_every_agency_is_announced_at_once_or_one_by_one(
    published: None,
    ada: User,
    carl: User,
    sent: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
) -> None:
    first, *others = known_agencies()
    desk = browser(ada)
    for agencies, number in ((others, 0), ([first, *others], 1), (["*"], 1)):
        with django_capture_on_commit_callbacks(execute=True):
            change(desk, carl, agencies=agencies)
        assert len(sent) == number
    assert "Ada gave carl every agency." in sent[0].body


def test_what_a_superuser_gives_is_announced_together(
    carl: User, sent: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    desk, page = browser(User.objects.get(username="root")), f"{USERS}{carl.pk}/change/"
    permission = Permission.objects.get(codename="publish_proposal").pk
    form = {"groups": [group(Role.ADMINISTRATOR)], "user_permissions": [permission]}
    with django_capture_on_commit_callbacks(execute=True):
        desk.post(page, filled(desk, page, is_superuser="on", **form))
    [message] = sent
    assert set(message.to) == {*OVERSEERS, "carl@example.org"}
    for right in ("everything (superuser)", "the role administrator", "studio.publish_proposal"):
        assert right in message.body


def test_commands_and_the_provider_are_announced(
    sent: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    openid_settings = {**settings.IEIM_OPENID, "GROUPS": GROUPS}
    monkeypatch.setattr(settings, "IEIM_OPENID", openid_settings)
    with django_capture_on_commit_callbacks(execute=True):
        call_command("createsuperuser", username="bob", email="", interactive=False, verbosity=0)
        for groups in (["heads"], ["heads"], []):
            claims = {"groups": groups, "preferred_username": "lea"}
            openid.synchronise_account("lea", claims)
    first, second = (message.body for message in sent)
    assert "A command or the OpenID provider gave bob everything (superuser)." in first
    assert "gave lea every agency, the role supervisor." in second
    assert not rights(User.objects.get(username="lea"))


def test_a_role_with_members_that_gets_more_is_announced(
    carl: User, sent: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    root, pk = User.objects.get(username="root"), group(Role.EDITOR)
    with django_capture_on_commit_callbacks(execute=True), changing_role(pk, by=root):
        for name in ("publish_proposal", "view_decision"):
            carl.groups.model.objects.get(pk=pk).permissions.add(
                Permission.objects.get(codename=name)
            )
    [message] = sent
    assert "everybody with the role knowledge editor the permission studio.p" in message.body
    assert "view_decision" not in message.body


def test_an_account_that_is_active_again_and_a_moved_address_are_announced(
    ada: User, carl: User, sent: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    """A link for a new password goes to the address."""
    carl.groups.add(group(Role.PUBLISHER))
    User.objects.filter(pk=carl.pk).update(is_active=False)
    vouched(User.objects.get(pk=carl.pk))
    desk = browser(ada)
    with django_capture_on_commit_callbacks(execute=True):
        change(desk, carl, is_active="on")
        change(desk, carl, email="ada@example.org")
    assert [message.to for message in sent] == [OVERSEERS, ["carl@example.org"], OVERSEERS]
    assert "Ada gave carl the role knowledge publisher." in sent[0].body
    assert "Ada gave carl the e-mail address ada@example.org." in sent[2].body


@pytest.mark.parametrize("role", [Role.PUBLISHER, Role.EDITOR])
def test_a_link_that_is_shown_is_announced_as_a_moved_address_is(
    ada: User,
    carl: User,
    sent: list[EmailMessage],
    django_capture_on_commit_callbacks: Any,
    role: Role,
) -> None:
    """Whoever is shown it could be carl. An owner who had no password has lost nothing."""
    carl.groups.add(group(role))
    carl.agency_scopes.all().delete()
    expected = [OVERSEERS] if role is Role.PUBLISHER else []
    for password in (None, "a long enough one 7"):
        carl.set_password(password)
        carl.save()
        vouched(carl)
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            passwords.show_link(user=carl, by=ada)
        assert [message.to for message in sent if message.to != [carl.email]] == expected
        told = [message.body for message in sent if message.to == [carl.email]]
        assert [("the password" in body) for body in told] == ([True] if password else [])


def test_nobody_sets_a_password_of_somebody_else(ada: User, carl: User) -> None:
    carl.set_password("a long enough one 7")
    with pytest.raises(NotAllowed, match="password of somebody else"), changing(carl.pk, by=ada):
        carl.save()


def test_an_administrator_and_their_program_are_one_and_taking_is_no_giving(carl: User) -> None:
    def change(actor: str, **changes: Any) -> None:
        payload = {"user": carl.pk, "username": carl.username, **changes}
        audit.record(chain=PEOPLE_CHAIN, kind="people.user_changed", actor=actor, payload=payload)

    change("staff:bea", roles_given=["caseworker"])
    change("staff:bea/ieim_k3v9x2qa", agencies_given=["passports"])
    change("staff:ada", active=False, active_was=True)
    assert selectors.sole_giver(carl, timezone.now()) == "staff:bea"
    change("staff:ada", active=True, active_was=False)
    assert selectors.sole_giver(carl, timezone.now()) == ""
