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
