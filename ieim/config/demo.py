"""What `manage.py serve` needs to show something: staff accounts. For development only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import transaction


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """A staff account. The password is public: it must never exist where others can reach it."""

    username: str
    may: str
    password: str
    superuser: bool = False
    permissions: tuple[str, ...] = ()


ACCOUNTS = (
    DemoAccount("admin", "everything", "demo-admin", superuser=True),
    DemoAccount(
        "caseworker",
        "the review queue",
        "demo-caseworker",
        permissions=("review.view_reviewitem",),
    ),
    DemoAccount(
        "editor",
        "the draft of the knowledge",
        "demo-editor",
        permissions=tuple(
            f"knowledge.{action}_{model}"
            for action, model in product(
                ("view", "add", "change", "delete"), ("agency", "category", "service", "label")
            )
        ),
    ),
)


@transaction.atomic
def create_accounts() -> None:
    """Create the accounts that are missing and give each the permissions that it lists.

    Existing ones keep their passwords.
    """
    users = get_user_model().objects
    for account in ACCOUNTS:
        user = users.filter(username=account.username).first()
        if user is None:
            user = users.create_user(
                account.username,
                password=account.password,
                is_staff=True,
                is_superuser=account.superuser,
            )
        for label in account.permissions:
            app, _, codename = label.partition(".")
            user.user_permissions.add(
                Permission.objects.get(content_type__app_label=app, codename=codename)
            )
