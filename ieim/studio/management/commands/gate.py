"""``manage.py gate CASES.jsonl``: the gate alone, without a model and without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ieim.pipeline.canonical import DecimalEncoder
from ieim.studio.evaluation.gate_cases import MalformedCase, judge_line

EPILOG = """\
A case is one JSON object a line:
  {"id", "contract": a stage id or "classify" | "extract" | "identity_assist", "attempt": 1 | 2,
   "raw": the model's exact text, "finish_reason"?, "refusal"?, "user_prompt", "cached_state",
   "used_response_ids": [], "labels": {set: [codes]}, "bundle": PATH}
A relative bundle path counts from the folder of the cases file, else from the working directory.

Each case gives one JSON line:
  {"id", "verdict": "pass" | "needs_review" | "hold", "findings": [{code, path, message, waivable}],
   "evidence": [{path, source, start, end, quote, snippet_sha256, occurrences}],
   "output", "state_merge"}
Policy is applied only where the bundle itself brings label thresholds.

The exit code is 0 when every case was judged, whatever the verdicts. A malformed case is named on
standard error with its line number; the others are still judged, and the exit code is 1.
"""


class Command(BaseCommand):
    """Judge cases read from a file."""

    help = "Run cases through the gate without a model: one JSON line each."
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """Keep the line breaks of the epilog."""
        return super().create_parser(
            prog_name,
            subcommand,
            epilog=EPILOG,
            formatter_class=RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the one argument."""
        parser.add_argument("cases", metavar="CASES.jsonl", help="the file of cases")

    def handle(self, *args: Any, cases: str, **options: Any) -> None:
        """Judge every line; complain about the malformed ones at the end."""
        path = Path(cases)
        malformed = 0
        try:
            with path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        malformed += not self._judge(path, number, line)
        except OSError as error:
            raise CommandError(f"{cases} cannot be read: {error.strerror}") from error
        if malformed:
            raise CommandError(f"{malformed} malformed case(s); every other case was judged.")

    def _judge(self, path: Path, number: int, line: bytes) -> bool:
        try:
            result = judge_line(line, folder=path.parent)
        except MalformedCase as error:
            self.stderr.write(f"{path}:{number}: {error}")
            return False
        # As ASCII: a quote may hold a line separator or a lone surrogate, which would break it.
        self.stdout.write(json.dumps(result, cls=DecimalEncoder))
        return True
