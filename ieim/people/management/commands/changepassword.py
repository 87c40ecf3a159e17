"""Django's command, with an audit event."""

from __future__ import annotations

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from ieim.people.models import User
from ieim.people.services import changing


class Command(changepassword.Command):
    def handle(self, *args: Any, **options: Any) -> str:
        user = User.objects.filter(username=options["username"] or "").first()
        if user is None:
            raise CommandError(f"There is no account {options['username']!r}: name one that is.")
        password = getpass.getpass(prompt="Password: ")
        if password != getpass.getpass(prompt="Password (again): "):
            raise CommandError("The two are not the same: nothing has changed.")
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        with changing(user.pk, by=None):
            user.set_password(password)
            user.save(update_fields=["password"])
        return f"{user.get_username()} has a new password."
