"""Who works with IEIM: accounts, and the agencies that they work for."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A member of staff. Citizens have no account."""

    @property
    def actor(self) -> str:
        """How audit events name them."""
        return f"staff:{self.get_username()}"

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

    ``rights`` are as :mod:`ieim.people.rights` writes them. ``address`` is the account's e-mail
    address when they were asked for: who agrees has seen it.
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
