"""Django's command, with an audit event."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.management.commands import createsuperuser

from ieim.people.models import User
from ieim.people.services import changing


class Command(createsuperuser.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        last = User.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        super().handle(*args, **options)
        # The command waits for input: nothing may be locked meanwhile.
        with changing(by=None) as pks:
            pks += User.objects.filter(pk__gt=last).values_list("pk", flat=True)
