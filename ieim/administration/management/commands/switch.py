"""Switch the page, the citizens' API, the model or single agencies off and on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from ieim.administration import selectors, services
from ieim.administration.forms import SwitchesForm
from ieim.people.models import User

AGENCIES = "agencies"
NAMES = [name for name in SwitchesForm.base_fields if name != AGENCIES]


class Command(BaseCommand):
    help = (
        "List what stands still, or switch it off and on: "
        f"{', '.join(NAMES)}, or agency:ID for what the assistant says of an agency. It works at "
        "once, as on the page of the settings, and is recorded with who did it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=("list", "on", "off"))
        parser.add_argument(
            "names", nargs="*", metavar="NAME", help="such as chat, model, agency:ID"
        )
        parser.add_argument("--by", metavar="USERNAME", help="whose account answers for it")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        action, names = options["action"], options["names"]
        if action != "list":
            if not names:
                raise CommandError("Say what to switch: " + ", ".join([*NAMES, "agency:ID"]))
            _switch(names, is_off=action == "off", by=_account(options["by"]))
        organisation = selectors.current()
        for name in NAMES:
            state = "off" if organisation.get(SwitchesForm.section, name) else "on"
            self.stdout.write(f"{name}: {state}")
        for agency in sorted(organisation.agencies_off):
            self.stdout.write(f"agency:{agency}: off")


def _account(username: str | None) -> User:
    """Return the account that answers for a switch; it may change the settings."""
    user = User.objects.filter(username=username, is_active=True).first() if username else None
    if user is None or not user.has_perm("administration.change_section"):
        raise CommandError("Say with --by USERNAME whose account, an administrator's, does it.")
    return user


def _switch(names: list[str], *, is_off: bool, by: User) -> None:
    row = selectors.sections().get(SwitchesForm.section)
    content = dict(row.content) if row else {}
    agencies = dict.fromkeys(content.get(AGENCIES, "").splitlines())
    for name in names:
        kind, _, agency = name.partition(":")
        if name in NAMES:
            content[name] = "on" if is_off else ""
        elif kind != "agency" or not agency:
            raise CommandError(f"There is no switch {name}: {', '.join([*NAMES, 'agency:ID'])}")
        elif is_off:
            agencies[agency] = None
        else:
            agencies.pop(agency, None)
    form = SwitchesForm(row, content | {AGENCIES: "\n".join(agencies)})
    if not form.is_valid():
        messages = [str(message) for errors in form.errors.values() for message in errors]
        raise CommandError(" ".join(messages))
    try:
        services.change(form=form, version=form.version, by=by)
    except services.Conflict as conflict:
        raise CommandError("Somebody has changed the switches just now. Try again.") from conflict
