"""The form of an account as a browser fills it."""

from __future__ import annotations

from typing import Any

from django.test import Client

from ieim.people.models import User
from tests.studio.admin.admin_pages import fields

PEOPLE = "/staff/people/"
NEW = f"{PEOPLE}new/"


def page_of(user: User) -> str:
    """Return the address of an account's page."""
    return f"{PEOPLE}{user.pk}/"


def filled(client: Client, url: str, /, **changes: Any) -> dict[str, Any]:
    """Return what the form at ``url`` would post, with ``changes``."""
    page = client.get(url)
    assert page.status_code == 200, page.status_code
    data = fields(page.context["form"]) | changes
    return {name: value for name, value in data.items() if value is not None}


def change(client: Client, user: User, /, **changes: Any) -> Any:
    """Change an account on its page, and return the response."""
    return client.post(page_of(user), filled(client, page_of(user), **changes))


def add(client: Client, username: str, /, **values: Any) -> User:
    """Add an account, with an address unless ``values`` has another, and return it."""
    data = filled(client, NEW, username=username, email=f"{username}@example.org") | values
    response = client.post(NEW, data)
    assert response.status_code in (201, 303), response.status_code
    return User.objects.get(username=username)
