"""Who works with IEIM: accounts, and the agencies that they work for."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.dispatch import Signal
from django.utils.translation import gettext_lazy as _

LONGEST_ACTOR = 160
"""Characters of an actor in the audit record."""
EVERY_AGENCY = "*"
password_rehashed = Signal()
"""Sent with an unsaved ``user`` with a new hash of the same password; the receiver saves it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The prefix of a :class:`Token`, and the rights to which it limits its owner.

    ``agencies`` may contain :data:`EVERY_AGENCY`: every agency of the owner.
    """

    prefix: str
    permissions: frozenset[str]
    agencies: frozenset[str]


class User(AbstractUser):
    """A member of staff. Citizens have no account.

    ``limits`` are set in a request with a token: a program acts for the user with fewer rights.
    They belong to the object and are not stored. ``languages`` are the codes of those that the user
    reads, in order, None before they have said.
    """

    languages = models.JSONField(null=True, blank=True)
    limits: Limits | None = None

    def check_password(self, raw_password: str | None) -> bool:
        """Whether it is the account's password. An outdated hash is replaced."""

        def rehash(raw: str) -> None:
            self.set_password(raw)
            self._password = None  # for Django no password has changed
            password_rehashed.send(User, user=self)

        return check_password(raw_password, self.password, rehash)

    @property
    def actor(self) -> str:
        """The actor of audit events: ``staff:eva``, or ``staff:eva/ieim_k3v9x2qa`` for a program
        that acts for the user (no username has a slash)."""
        name = f"staff:{self.get_username()}"
        if self.limits is None:
            return name
        suffix = f"/{self.limits.prefix}"
        return name[: LONGEST_ACTOR - len(suffix)] + suffix

    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        """Whether the user has a permission, and the token if a program acts for them."""
        allowed = self.limits is None or perm in self.limits.permissions
        return allowed and super().has_perm(perm, obj)

    @property
    def display_name(self) -> str:
        """The full name, or the username of an account without one."""
        return self.get_full_name() or self.get_username()

    class Meta(AbstractUser.Meta):
        verbose_name = _("account")  # type: ignore[assignment]  # lazy: the stubs take the stock model's
        swappable = "AUTH_USER_MODEL"


class AgencyScope(models.Model):
    """An agency for which a member of staff works: they see and change its content.

    ``agency`` is an agency's id, or :data:`EVERY_AGENCY`. Staff without a row see no agency.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="agency_scopes"
    )
    agency = models.CharField(max_length=200)

    class Meta:
        ordering = ["user_id", "agency"]
        constraints = [
            models.UniqueConstraint(fields=["user", "agency"], name="scope_once_an_agency")
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.agency}"


class Token(models.Model):
    """A bearer token for REST: a program acts for ``user``, who made it.

    ``prefix`` is its beginning, by which people tell tokens apart; ``sha256`` is the lower-case hex
    SHA-256 of all of it. A token has 256 random bits: a slow digest would add nothing, and a key
    made from the site's secret would end with that. ``scopes`` are names of
    :mod:`ieim.people.tokens.scopes`, ``agencies`` ids or :data:`EVERY_AGENCY`. The row of a token
    that has ended stays, because audit events refer to it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=20, unique=True)
    sha256 = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField()
    agencies = models.JSONField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.prefix
