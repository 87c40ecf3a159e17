"""No administrator alone makes the four eyes that a release or another account needs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from ieim.audit import services as audit
from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.verify import verify
from ieim.people import post, selectors
from ieim.people.accounts import account_of
from ieim.people.four_eyes import agreeing
from ieim.people.models import AgencyScope, Grant, User
from ieim.people.roles import Role
from ieim.people.scope import known_agencies
from ieim.people.services import NotAllowed, changing
from tests.people.test_who_changes_whom import SCOPES, USERS, events, group, new
from tests.review.people import browser, person, vouched
from tests.studio.admin.admin_pages import filled

pytestmark = pytest.mark.django_db

RIGHTS = "/staff/rights/"
PASSWORD = "a long enough one 7"


@pytest.fixture
def ada() -> User:
    return person("ada", Role.ADMINISTRATOR, "passports")


@pytest.fixture
def bea(ada: User) -> User:
    """The second administrator."""
    return person("bea", Role.ADMINISTRATOR, "passports")


@pytest.fixture
def carl() -> User:
    carl = person("carl", Role.CASEWORKER, "passports")
    User.objects.filter(pk=carl.pk).update(email="carl@example.org")
    return vouched(User.objects.get(pk=carl.pk))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What the mail server gets."""
    found: list[dict[str, str]] = []
    monkeypatch.setattr(settings, "IEIM_MAIL", {**settings.IEIM_MAIL, "HOST": "mail.example.org"})
    monkeypatch.setattr(
        post,
        "hand_over",
        lambda message: found.append({"to": message.to[0], "body": message.body}),
    )
    return found


def roles(user: User) -> frozenset[str]:
    account = account_of(user.pk)
    return account.roles if account else frozenset()


def give(by: User, whom: User, *given: Role) -> Any:
    desk, page = browser(by), f"{USERS}{whom.pk}/change/"
    return desk.post(page, filled(desk, page, groups=[group(each) for each in given]), follow=True)


@pytest.mark.parametrize("role", [Role.PUBLISHER, Role.SUPERVISOR])
def test_a_role_waits_for_a_second_administrator(
    ada: User, bea: User, carl: User, role: Role
) -> None:
    page = give(ada, carl, Role.CASEWORKER, role).content.decode()
    assert "Another administrator has to agree" in page
    assert roles(carl) == {"caseworker"}
    grant = Grant.objects.get()
    agree, own = f"{RIGHTS}{grant.pk}/agree/", browser(ada)
    own.post(agree)
    assert f"/{grant.pk}/agree/" not in own.get(RIGHTS).content.decode()
    assert roles(carl) == {"caseworker"}
    second = browser(bea)
    assert f"carl: the role {role}" in second.get(RIGHTS).content.decode()
    assert "carl@example.org" in second.get(RIGHTS).content.decode()
    second.post(agree)
    assert roles(carl) == {"caseworker", role.value}
    asked, given = events("rights_asked")[-1], events("user_changed")[-1]
    assert (asked[1], asked[2]["rights"]) == ("staff:ada", [f"role:{role}"])
    assert (given[1], given[2]["asked_by"]) == ("staff:bea", ada.pk)
    assert verify(PEOPLE_CHAIN).problem is None


def test_every_agency_and_what_a_superuser_gives_wait_too(
    published: None, ada: User, bea: User, carl: User
) -> None:
    assert browser(ada).post(f"{SCOPES}add/", {"user": carl.pk, "agency": "*"}).status_code == 302
    root = User.objects.create_superuser("root", password="old")
    scope = AgencyScope.objects.get(user=carl)
    browser(root).post(f"{SCOPES}{scope.pk}/change/", {"user": carl.pk, "agency": "*"})
    desk, page = browser(root), f"{USERS}{carl.pk}/change/"
    more = {"is_superuser": "on", "groups": [group(Role.ADMINISTRATOR)]}
    more["user_permissions"] = [Permission.objects.get(codename="publish_proposal").pk]
    desk.post(page, filled(desk, page, **more))
    account = account_of(carl.pk)
    assert account is not None
    assert not account.superuser
    assert account.roles | account.permissions == set()
    assert account.agencies == {"passports"}


def test_an_account_that_was_off_has_nothing_of_it_when_it_is_on(
    ada: User, bea: User, carl: User
) -> None:
    carl.groups.add(group(Role.PUBLISHER))
    User.objects.filter(pk=carl.pk).update(is_active=False)
    desk, page = browser(ada), f"{USERS}{carl.pk}/change/"
    desk.post(page, filled(desk, page, is_active="on"))
    assert User.objects.get(pk=carl.pk).is_active
    assert roles(carl) == {"caseworker"}


def test_a_role_with_members_gets_no_more(bea: User, carl: User) -> None:
    root = User.objects.create_superuser("root", password="old")
    page = f"/admin/auth/group/{group(Role.CASEWORKER)}/change/"
    publish = Permission.objects.get(codename="publish_proposal")
    said = browser(root).post(page, {"name": "caseworker", "permissions": [publish.pk]})
    assert said.status_code == 403
    assert not carl.has_perm("studio.publish_proposal")


def test_the_address_of_who_has_such_a_right_waits(ada: User, bea: User, carl: User) -> None:
    """It is where a link for a new password goes."""
    carl.groups.set([group(Role.PUBLISHER)])
    desk, page = browser(ada), f"{USERS}{carl.pk}/change/"
    desk.post(page, filled(desk, page, email="ada@example.org"))
    assert User.objects.get(pk=carl.pk).email == "carl@example.org"
    agreeing.agree(grant_id=Grant.objects.get().pk, by=bea)
    assert User.objects.get(pk=carl.pk).email == "ada@example.org"


def test_nobody_agrees_to_what_is_not_what_they_saw(ada: User, bea: User, carl: User) -> None:
    give(ada, carl, Role.PUBLISHER)
    grant = Grant.objects.get()
    User.objects.filter(pk=carl.pk).update(email="ada@example.org")
    with pytest.raises(NotAllowed, match="address has changed"):
        agreeing.agree(grant_id=grant.pk, by=bea)
    User.objects.filter(pk=carl.pk).update(email="carl@example.org")
    with pytest.raises(NotAllowed, match="Only an administrator"):
        agreeing.agree(grant_id=grant.pk, by=carl)
    bea.groups.clear()
    with pytest.raises(NotAllowed, match="Only an administrator"):
        agreeing.agree(grant_id=grant.pk, by=User.objects.get(pk=bea.pk))
    ada.groups.clear()
    root = User.objects.create_superuser("root", password="old")
    with pytest.raises(NotAllowed, match="no administrator any more"):
        agreeing.agree(grant_id=grant.pk, by=root)
    agreeing.refuse(grant_id=grant.pk, by=root)
    with pytest.raises(NotAllowed, match="decided it already"):
        agreeing.agree(grant_id=grant.pk, by=root)
    assert roles(carl) == set()


def test_the_only_administrator_gives_it_and_supervisors_are_told(
    ada: User,
    carl: User,
    sent: list[dict[str, str]],
    django_capture_on_commit_callbacks: Any,
) -> None:
    sue = person("sue", Role.SUPERVISOR)
    User.objects.filter(pk=sue.pk).update(email="sue@example.org")
    with django_capture_on_commit_callbacks(execute=True):
        give(ada, carl, Role.PUBLISHER)
    assert roles(carl) == {"knowledge publisher"}
    (message,) = sent
    assert message["to"] == "sue@example.org"
    assert "Ada gave carl the role knowledge publisher" in message["body"]
    queue = browser(sue).get("/review/").content.decode()
    assert "Ada gave carl the role knowledge publisher" in queue
    assert events("rights_given_alone")[-1][1] == "staff:ada"


def test_supervisors_are_told_of_each_right_to_second_opinions(
    ada: User,
    bea: User,
    sent: list[dict[str, str]],
    django_capture_on_commit_callbacks: Any,
) -> None:
    sue, carl = person("sue", Role.SUPERVISOR), person("carl", None, "passports")
    User.objects.filter(pk=sue.pk).update(email="sue@example.org")
    with django_capture_on_commit_callbacks(execute=True):
        give(ada, carl, Role.CASEWORKER)
    assert roles(carl) == {"caseworker"}
    assert "Ada gave carl the role caseworker" in sent[-1]["body"]
    assert "Ada gave carl the role caseworker" in browser(sue).get("/review/").content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        give(ada, carl, Role.CASEWORKER, Role.PUBLISHER)
        agreeing.agree(grant_id=Grant.objects.get(state="asked").pk, by=bea)
    assert [message["to"] for message in sent] == ["sue@example.org"] * 2
    assert "Ada + Bea gave carl the role knowledge publisher" in sent[-1]["body"]
    assert verify(PEOPLE_CHAIN).problem is None


def test_every_agency_one_by_one_is_every_agency(
    published: None, ada: User, bea: User, carl: User
) -> None:
    first, *others = known_agencies()
    desk = browser(ada)
    desk.post(f"{SCOPES}add/", {"user": carl.pk, "agency": others})
    account = account_of(carl.pk)
    assert account is not None
    assert account.agencies == {"passports", *others}
    said = desk.post(f"{SCOPES}add/", {"user": carl.pk, "agency": [first]}, follow=True)
    assert "every agency" in said.content.decode()
    account = account_of(carl.pk)
    assert account is not None
    assert account.agencies == {"passports", *others}
    agreeing.agree(grant_id=Grant.objects.get().pk, by=bea)
    assert AgencyScope.objects.filter(user=carl, agency="*").exists()
    assert verify(PEOPLE_CHAIN).problem is None


def test_made_up_accounts_publish_nothing(ada: User, bea: User) -> None:
    """The attack: an administrator made an editor and a publisher, and was both."""
    desk = browser(ada)
    for name in ("one", "two"):
        data = {**new(name), "password1": PASSWORD, "password2": PASSWORD}
        desk.post(f"{USERS}add/", data)
    one, two = User.objects.get(username="one"), User.objects.get(username="two")
    give(ada, one, Role.EDITOR)
    give(ada, two, Role.PUBLISHER)
    for user in (one, two):
        place = f"{USERS}{user.pk}/password/"
        passwords = {"password1": PASSWORD, "password2": PASSWORD, "set-password": "x"}
        desk.post(place, {**passwords, "usable_password": "true"})
        login = {"username": user.username, "password": PASSWORD}
        assert Client().post("/staff/login/", login).status_code == 200
    assert roles(one) == {"knowledge editor"}
    assert roles(two) == set()
    one.set_password(PASSWORD)
    with pytest.raises(NotAllowed, match="password of somebody else"), changing(one.pk, by=ada):
        one.save()


def test_a_password_comes_by_a_link_to_its_owner(
    ada: User, carl: User, sent: list[dict[str, str]]
) -> None:
    page = browser(ada).post(f"{USERS}{carl.pk}/password/", follow=True).content.decode()
    assert "A link to choose a password went to carl@example.org." in page
    (message,) = sent
    assert message["to"] == "carl@example.org"
    found = re.search(r"/staff/password/\S+", message["body"])
    assert found is not None
    owner, data = Client(), {"new_password1": PASSWORD, "new_password2": PASSWORD}
    form = owner.get(found[0], follow=True)
    assert form.context["validlink"]
    place = form.request["PATH_INFO"]
    too_short = owner.post(place, {"new_password1": "x", "new_password2": "x"})
    assert "too short" in too_short.content.decode()
    assert owner.post(place, data).status_code == 302
    assert User.objects.get(pk=carl.pk).check_password(PASSWORD)
    assert events("password_link_sent")[-1][1] == "staff:ada"
    changed = events("user_changed")[-1]
    assert (changed[1], changed[2]["password"]) == ("staff:carl", "changed")
    again = Client().get(found[0], follow=True).content.decode()
    assert "holds no longer" in again


def test_without_a_mail_server_it_says_what_to_do(ada: User, carl: User) -> None:
    page = browser(ada).post(f"{USERS}{carl.pk}/password/", follow=True).content.decode()
    assert escape("manage.py changepassword carl") in page
    assert browser(ada).get(f"{USERS}{carl.pk}/password/").status_code == 200


def test_an_administrator_and_their_program_are_one_and_taking_is_no_giving(carl: User) -> None:
    def change(actor: str, **what: Any) -> None:
        payload = {"user": carl.pk, "username": carl.username, **what}
        audit.record(chain=PEOPLE_CHAIN, kind="people.user_changed", actor=actor, payload=payload)

    change("staff:bea", roles_given=["caseworker"])
    change("staff:bea/ieim_k3v9x2qa", agencies_given=["passports"])
    change("staff:ada", active=False, active_was=True)
    assert selectors.sole_giver(carl, timezone.now()) == "staff:bea"
    change("staff:ada", active=True, active_was=False)
    assert selectors.sole_giver(carl, timezone.now()) == ""
