"""Staff accounts of `manage.py serve`, for development only."""

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

    ``agency`` is an id of the demo knowledge.
    """

    username: str
    name: str
    may: str
    role: Role | None = None
    agency: str = EVERY_AGENCY

    @property
    def password(self) -> str:
        """The password of the account."""
        return f"demo-{self.username}"

    @property
    def superuser(self) -> bool:
        """Whether the account may do everything."""
        return self.role is None


ACCOUNTS = (
    DemoAccount("admin", "Ada Admin", "everything"),
    DemoAccount("caseworker", "Carla Case", "the review queue", Role.CASEWORKER),
    DemoAccount(
        "colleague", "Colin Case", "the review queue of Immigration", Role.CASEWORKER, "immigration"
    ),
    DemoAccount(
        "supervisor", "Sofia Super", "the review queue, assigning, metrics", Role.SUPERVISOR
    ),
    DemoAccount("editor", "Edgar Editor", "the draft of the knowledge", Role.EDITOR),
    DemoAccount(
        "publisher",
        "Paula Publisher",
        "publishing or turning down what editors propose",
        Role.PUBLISHER,
    ),
    DemoAccount("auditor", "Otto Audit", "the audit record, to read", Role.AUDITOR),
)


@transaction.atomic
def create_accounts() -> None:
    """Create the accounts that are missing, and give each its role and its agencies.

    Existing ones keep their passwords.
    """
    make_roles()
    for account in ACCOUNTS:
        present = User.objects.filter(username=account.username).first()
        with changing(*([present.pk] if present else []), by=None) as changed:
            user = present or _create(account)
            changed.append(user.pk)
            if account.role is not None:
                user.groups.add(Group.objects.get(name=account.role.value))
                AgencyScope.objects.get_or_create(user=user, agency=account.agency)


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
