"""What `manage.py serve` needs to show something: staff accounts. For development only."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db import transaction

from ieim.people.models import EVERY_AGENCY, AgencyScope, User
from ieim.people.roles import Role
from ieim.people.services import changing, make_roles


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
        "publishing or turning down what editors propose",
        "demo-publisher",
        Role.PUBLISHER,
        _EVERY,
    ),
    DemoAccount(
        "auditor",
        "Otto Audit",
        "the audit record, to read",
        "demo-auditor",
        Role.AUDITOR,
        _EVERY,
    ),
)


@transaction.atomic
def create_accounts() -> None:
    """Create the accounts that are missing, and give each its role and its agencies.

    Existing ones keep their passwords.
    """
    make_roles()
    for account in ACCOUNTS:
        present = User.objects.filter(username=account.username).first()
        with changing(*([present.pk] if present else []), by=None) as made:
            user = present or _create(account)
            made.append(user.pk)
            if account.role is not None:
                user.groups.add(Group.objects.get(name=account.role.value))
            for agency in account.agencies:
                AgencyScope.objects.get_or_create(user=user, agency=agency)


def _create(account: DemoAccount) -> User:
    first, _, last = account.name.partition(" ")
    return User.objects.create_user(
        account.username,
        password=account.password,
        first_name=first,
        last_name=last,
        is_staff=True,
        is_superuser=account.superuser,
    )
