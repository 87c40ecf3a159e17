"""``manage.py asked TURN``: the requests to the model, as they were sent."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from conversations.models import Artifact, Attempt, Turn
from conversations.record.calls import request_of


class Command(BaseCommand):
    help = (
        "Print what the model was asked in every attempt of a turn: persona, directive and "
        "question as they were sent, and the contract's schema, whatever today's are. An attempt "
        "is marked where its stored digest is not that of these texts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("turn", metavar="TURN", type=UUID, help="the id of the turn")
        parser.add_argument("--json", action="store_true", help="print one JSON array")

    def handle(self, *args: Any, turn: UUID, **options: Any) -> None:
        if not Turn.objects.filter(pk=turn).exists():
            raise CommandError(f"There is no turn {turn}. `manage.py ask --json` prints turn ids.")
        attempts = Attempt.objects.filter(stage__turn=turn).select_related("stage")
        requests = []
        for attempt in attempts.order_by("stage__order", "round", "number"):
            try:
                requests.append((attempt, request_of(attempt)))
            except Artifact.DoesNotExist as missing:
                raise CommandError(
                    f"The prompt or the schema of attempt {attempt.pk} is not stored: "
                    "manage.py verify_audit says what else is missing."
                ) from missing
        if options["json"]:
            values = [
                {
                    "stage": attempt.stage.contract,
                    "round": attempt.round,
                    "attempt": attempt.number,
                    **asdict(request),
                }
                for attempt, request in requests
            ]
            self.stdout.write(json.dumps(values, indent=2))
            return
        for attempt, request in requests:
            mark = "" if request.exact else " (not what its digest says)"
            name = f"{attempt.stage.contract}, round {attempt.round}, attempt {attempt.number}"
            self.stdout.write(f"== {name}{mark}")
            schema = json.dumps(request.schema)
            for part in (request.persona, request.directive, request.question, schema):
                self.stdout.write(f"{part}\n")
