"""The staff of the tests: people with a role and agencies, as the real groups give them."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import transaction
from django.middleware.csrf import _get_new_csrf_string
from django.test import Client

from ieim.audit.models import PEOPLE_CHAIN
from ieim.audit.services import record
from ieim.people.audited import rows_of_accounts
from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.people.roles import Role
from ieim.people.services import make_roles
from review import scope
from review.models import ReviewItem


def person(
    username: str, role: Role | None = Role.CASEWORKER, *agencies: str, name: str = ""
) -> User:
    """A member of staff; without agencies named, of every agency. No role is no right at all."""
    if Group.objects.count() < len(Role):  # nobody else of this test has made them
        make_roles()
    first, _, last = (name or username.title()).partition(" ")
    user = User.objects.create_user(username, first_name=first, last_name=last, is_staff=True)
    if role is not None:
        user.groups.add(Group.objects.get(name=role.value))
    for agency in agencies or (EVERY_AGENCY,):
        AgencyScope.objects.create(user=user, agency=agency)
    return vouched(user)


@transaction.atomic
def vouched(user: User) -> User:
    """Somebody whose account is on the record as it is, as if a command had made it so."""
    rows = [(*key, digest) for key, digest in rows_of_accounts([user.pk]).items()]
    record(chain=PEOPLE_CHAIN, kind="tests.account", payload={}, actor="system", rows=rows)
    return user


def editor_and_publisher(username: str, *agencies: str, name: str = "") -> User:
    """Somebody with both roles, who still publishes nothing of their own."""
    user = person(username, Role.EDITOR, *agencies, name=name)
    user.groups.add(Group.objects.get(name=Role.PUBLISHER.value))
    return vouched(User.objects.get(pk=user.pk))  # permissions are kept on the object


def browser(user: User) -> Client:
    """A browser in which somebody is logged in."""
    client = Client()
    client.force_login(user)
    return client


class StaffProgram:
    """A program that is logged in as a member of staff and sends the CSRF token."""

    def __init__(self, user: User) -> None:
        self.http = Client(enforce_csrf_checks=True)
        self.http.force_login(user)
        self.csrf = _get_new_csrf_string()
        self.http.cookies["csrftoken"] = self.csrf

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies, for another client."""
        return {name: morsel.value for name, morsel in self.http.cookies.items()}


def belong(item: ReviewItem, *agencies: str) -> ReviewItem:
    """Let an item belong to agencies, as if they had been found for its turn."""
    ReviewItem.objects.filter(pk=item.pk).update(
        agency=agencies[0] if len(agencies) == 1 else "", agencies=scope.agency_set(agencies)
    )
    return ReviewItem.objects.get(pk=item.pk)
