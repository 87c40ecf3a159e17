"""The staff of the tests: people with a role and agencies, as the real groups give them."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.test import Client

from ieim.knowledge.models import EVERY_AGENCY, AgencyScope
from review.roles import Role, make_roles


def person(
    username: str, role: Role | None = Role.CASEWORKER, *agencies: str, name: str = ""
) -> User:
    """A member of staff; without agencies named, of every agency. No role is no right at all."""
    make_roles()
    first, _, last = (name or username.title()).partition(" ")
    user = User.objects.create_user(username, first_name=first, last_name=last, is_staff=True)
    if role is not None:
        user.groups.add(Group.objects.get(name=role.value))
    for agency in agencies or (EVERY_AGENCY,):
        AgencyScope.objects.create(user=user, agency=agency)
    return user


def browser(user: User) -> Client:
    """A browser in which somebody is logged in."""
    client = Client()
    client.force_login(user)
    return client
