"""Django's command, into the audit record."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.management.commands import createsuperuser

from ieim.people.models import User
from ieim.people.services import changing


class Command(createsuperuser.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        last = User.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        super().handle(*args, **options)
        # It asks at the terminal, for as long as that takes: nothing may be locked meanwhile.
        with changing(by=None) as made:
            made += User.objects.filter(pk__gt=last).values_list("pk", flat=True)
