"""``manage.py asked TURN``: what the model was asked, as it was then."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from conversations.models import Artifact, Attempt, Turn
from conversations.record.calls import StoredRequest as Asked
from conversations.record.calls import request_of as asked


class Command(BaseCommand):
    """Show what a model was asked."""

    help = (
        "Print what the model was asked in every attempt of a turn: persona, directive and "
        "question as they were sent, and the contract's schema, whatever today's are. An attempt "
        "is marked where its stored digest is not that of these texts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("turn", metavar="TURN", type=UUID, help="the id of the turn")
        parser.add_argument("--json", action="store_true", help="print one JSON array")

    def handle(self, *args: Any, turn: UUID, **options: Any) -> None:
        """Print every attempt of one turn."""
        if not Turn.objects.filter(pk=turn).exists():
            raise CommandError(f"There is no turn {turn}. `manage.py ask --json` prints turn ids.")
        attempts = Attempt.objects.filter(stage__turn=turn).select_related("stage")
        found = []
        for attempt in attempts.order_by("stage__order", "round", "number"):
            try:
                found.append((attempt, asked(attempt)))
            except Artifact.DoesNotExist as missing:
                raise CommandError(
                    f"The prompt or the schema of attempt {attempt.pk} is not stored: "
                    "manage.py verify_audit says what else is missing."
                ) from missing
        if options["json"]:
            self.stdout.write(json.dumps([_values(*each) for each in found], indent=2))
            return
        for attempt, told in found:
            mark = "" if told.exact else " (not what its digest says)"
            self.stdout.write(f"== {_name(attempt)}{mark}")
            schema = json.dumps(told.schema)
            for part in (told.persona, told.directive, told.question, schema):
                self.stdout.write(f"{part}\n")


def _name(attempt: Attempt) -> str:
    return f"{attempt.stage.contract}, round {attempt.round}, attempt {attempt.number}"


def _values(attempt: Attempt, told: Asked) -> dict[str, Any]:
    return {
        "stage": attempt.stage.contract,
        "round": attempt.round,
        "attempt": attempt.number,
        **asdict(told),
    }
