"""What `manage.py serve` needs to show something: staff accounts. For development only."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction

from ieim.knowledge.models import EVERY_AGENCY, AgencyScope
from review.roles import Role, make_roles


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """A staff account. The password is public: it must never exist where others can reach it.

    ``agencies`` are ids of the demo knowledge.
    """

    username: str
    name: str
    may: str
    password: str
    role: Role | None = None
    agencies: tuple[str, ...] = ()

    @property
    def superuser(self) -> bool:
        """Whether the account may do everything."""
        return self.role is None


_EVERY = (EVERY_AGENCY,)
ACCOUNTS = (
    DemoAccount("admin", "Ada Admin", "everything", "demo-admin"),
    DemoAccount(
        "caseworker",
        "Carla Case",
        "the review queue",
        "demo-caseworker",
        Role.CASEWORKER,
        _EVERY,
    ),
    DemoAccount(
        "colleague",
        "Colin Case",
        "the review queue of Immigration",
        "demo-colleague",
        Role.CASEWORKER,
        ("immigration",),
    ),
    DemoAccount(
        "supervisor",
        "Sofia Super",
        "the review queue, assigning, metrics",
        "demo-supervisor",
        Role.SUPERVISOR,
        _EVERY,
    ),
    DemoAccount(
        "editor",
        "Edgar Editor",
        "the draft of the knowledge",
        "demo-editor",
        Role.EDITOR,
        _EVERY,
    ),
    DemoAccount(
        "publisher",
        "Paula Publisher",
        "the draft of the knowledge, and publishing what others propose",
        "demo-publisher",
        Role.EDITOR,
        _EVERY,
    ),
)


@transaction.atomic
def create_accounts() -> None:
    """Create the accounts that are missing, and give each its role and its agencies.

    Existing ones keep their passwords.
    """
    make_roles()
    users = get_user_model().objects
    for account in ACCOUNTS:
        user = users.filter(username=account.username).first()
        if user is None:
            first, _, last = account.name.partition(" ")
            user = users.create_user(
                account.username,
                password=account.password,
                first_name=first,
                last_name=last,
                is_staff=True,
                is_superuser=account.superuser,
            )
        if account.role is not None:
            user.groups.add(Group.objects.get(name=account.role.value))
        for agency in account.agencies:
            AgencyScope.objects.get_or_create(user=user, agency=agency)
