"""Who works with IEIM: accounts, and the agencies that they work for."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

LONGEST_ACTOR = 160
"""Characters of an actor in the audit record."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a token (:class:`Token`) leaves of its maker's rights, and the token's prefix.

    ``agencies`` may name :data:`EVERY_AGENCY`: every one that the maker has.
    """

    prefix: str
    permissions: frozenset[str]
    agencies: frozenset[str]


class User(AbstractUser):
    """A member of staff. Citizens have no account.

    ``limits`` are of a request with a token: a program then acts for them, with less than they may.
    They are of the object, not of the account: whoever reads it anew reads all of their rights.
    """

    limits: Limits | None = None

    def check_password(self, raw_password: str | None) -> bool:
        """Whether it is theirs. A hash as nobody makes any more is made anew, and recorded."""
        from ieim.people.services import rehash  # which needs this model

        def anew(raw: str) -> None:
            self.set_password(raw)
            self._password = None  # no password has changed for Django
            rehash(self)

        return check_password(raw_password, self.password, anew)

    @property
    def actor(self) -> str:
        """How audit events name them: ``staff:eva``, and ``staff:eva/ieim_k3v9x2qa`` where a
        program acts for them (no username has a slash)."""
        name = f"staff:{self.get_username()}"
        if self.limits is None:
            return name
        through = f"/{self.limits.prefix}"
        return name[: LONGEST_ACTOR - len(through)] + through

    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        """Whether they have a permission, and where a program acts for them, its token as well."""
        allowed = self.limits is None or perm in self.limits.permissions
        return allowed and super().has_perm(perm, obj)

    @property
    def display_name(self) -> str:
        """How colleagues read of them: their name, or the account's where they have none."""
        return self.get_full_name() or self.get_username()

    class Meta(AbstractUser.Meta):
        verbose_name = _("account")  # type: ignore[assignment]  # lazy: the stubs take the stock model's
        swappable = "AUTH_USER_MODEL"


EVERY_AGENCY = "*"


class AgencyScope(models.Model):
    """An agency that a member of staff works for: what they may see and change.

    ``agency`` is an agency's id, or :data:`EVERY_AGENCY`. Staff without a row see nothing of any
    agency.
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


class Grant(models.Model):
    """Rights with which one person could defeat another's: asked for by one administrator, and
    given when another agrees, or given at once by the only one there is.

    ``rights`` are as :mod:`ieim.people.four_eyes.rights` writes them. ``address`` is the account's
    e-mail address when they were asked for: who agrees has seen it.
    """

    class State(models.TextChoices):
        """Where it stands."""

        ASKED = "asked"
        AGREED = "agreed"
        REFUSED = "refused"
        ALONE = "alone"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="grants"
    )
    rights = models.JSONField()
    address = models.EmailField(blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.ASKED)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked_at"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user}: {', '.join(self.rights)} ({self.state})"


class Token(models.Model):
    """With what a program of staff's opens REST: it acts for ``user``, who made it.

    ``prefix`` is its beginning, for people to tell it by; ``sha256`` is the lower-case hex SHA-256
    of all of it. It is random (256 bits), so a slow digest would add nothing, and one keyed with
    the site's secret would end with that. ``scopes`` are of :mod:`ieim.people.tokens.scopes`, and
    ``agencies`` ids, or :data:`EVERY_AGENCY` for all that the user has. A row stays when the token
    has ended: the record names it.
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
