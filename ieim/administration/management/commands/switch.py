"""``manage.py switch``."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from ieim.administration import selectors, services
from ieim.administration.forms import SwitchesForm
from ieim.people.models import User

NAMES = ("chat", "api", "model")


class Command(BaseCommand):
    help = (
        f"List what stands still, or switch it off and on: {', '.join(NAMES)}, or agency:ID for "
        "what the assistant says of an agency. It works at once, as on the page of the settings, "
        "and is recorded with who did it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=("list", "on", "off"))
        parser.add_argument("names", nargs="*", metavar="NAME", help="such as chat, agency:ID")
        parser.add_argument("--by", metavar="USERNAME", help="the administrator who does it")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] != "list":
            by = User.objects.filter(username=options["by"], is_active=True).first()
            if by is None or not by.has_perm("administration.change_section"):
                raise CommandError("Say with --by USERNAME which administrator does it.")
            _switch(options["names"], is_off=options["action"] == "off", by=by)
        organisation = selectors.current()
        for name in NAMES:
            self.stdout.write(f"{name}: {'off' if organisation.get('switches', name) else 'on'}")
        for agency in sorted(organisation.agencies_off):
            self.stdout.write(f"agency:{agency}: off")


def _switch(names: list[str], *, is_off: bool, by: User) -> None:
    row = selectors.sections().get(SwitchesForm.section)
    content = dict(row.content) if row else {}
    agencies = dict.fromkeys(content.get("agencies", "").splitlines())
    for name in names:
        kind, _, agency = name.partition(":")
        if name in NAMES:
            content[name] = "on" if is_off else ""
        elif kind != "agency" or not agency:
            raise CommandError(f"There is no switch {name}: {', '.join(NAMES)}, agency:ID")
        elif is_off:
            agencies[agency] = None
        else:
            agencies.pop(agency, None)
    form = SwitchesForm(row, content | {"agencies": "\n".join(agencies)})
    if not form.is_valid():
        raise CommandError(form.errors.as_text())
    try:
        services.change(form=form, version=form.version, by=by)
    except services.Conflict as conflict:
        raise CommandError("Somebody has changed the switches just now. Try again.") from conflict
