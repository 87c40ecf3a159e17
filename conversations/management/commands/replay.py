"""``manage.py replay TURN``: stored answers through the gate again."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from conversations.models import Turn
from conversations.record.replay import replay


class Command(BaseCommand):
    help = (
        "Run the stored answers of a turn through the gate again, without a model. Prints the "
        "decision hash then and now, and what has changed. The exit code is 0 when the decisions "
        "are the same, 1 when they are not."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("turn", metavar="TURN", type=UUID, help="the id of the turn")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, turn: UUID, **options: Any) -> None:
        stored = Turn.objects.select_related("reply").filter(pk=turn).first()
        if stored is None:
            raise CommandError(f"There is no turn {turn}. `manage.py ask --json` prints turn ids.")
        result = replay(stored)
        if options["json"]:
            values = {
                "turn": str(turn),
                "same": result.same,
                "stored_sha256": result.stored_sha256,
                "replayed_sha256": result.replayed_sha256,
                "changes": list(result.changes),
            }
            self.stdout.write(json.dumps(values, indent=2))
        else:
            self.stdout.write(f"decided then  {result.stored_sha256}")
            self.stdout.write(f"decided now   {result.replayed_sha256}")
            for change in result.changes:
                self.stdout.write(f"  {change}")
        if not result.same:
            raise CommandError("The decisions are not the same.")
