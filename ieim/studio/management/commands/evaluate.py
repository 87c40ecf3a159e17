"""``manage.py evaluate CASES.jsonl``: measure the answers to a file of cases."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from conversations.turns import running
from ieim.administration import selectors as administration
from ieim.knowledge import selectors as knowledge
from ieim.knowledge import vectors
from ieim.knowledge.bundles.bundle import BundleError, read_bundle
from ieim.pipeline.canonical import DecimalEncoder, with_shown_scores
from ieim.pipeline.knowledge import Release
from ieim.studio.evaluation import report
from ieim.studio.evaluation.cases import INJECTION, CaseFile, CaseFileError, read_cases
from ieim.studio.evaluation.outcomes import CaseResult
from ieim.studio.evaluation.result import NotAResult, Result, compare, describe, read_result
from ieim.studio.evaluation.running import QuestionRunner, run_cases
from ieim.studio.management.base import PlainHelpCommand, progress, reading


class Command(PlainHelpCommand):
    help = """\
Run each case through the pipeline with the configured model and measure the outcomes. Nothing is
stored: no session, no turn, no audit event. The knowledge is the current release, an earlier one,
or a bundle on disk, for which no database is needed."""
    epilog = """\
docs/evaluating.md describes the file of cases and every measure. A bad line is named on standard
error with its number, every one of them, and nothing is run. The exit code is 0 only when every
case was run, whatever came of it.

examples:
  manage.py evaluate ieim/knowledge/demo/golden.jsonl --bundle ieim/knowledge/demo
  manage.py evaluate cases.jsonl --json > before.json
  manage.py evaluate cases.jsonl --compare before.json"""
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cases", metavar="CASES.jsonl", type=Path, help="the file of cases")
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--release", type=int, metavar="N", help="the number of a release")
        source.add_argument("--bundle", type=Path, metavar="PATH", help="a folder or YAML file")
        parser.add_argument("--limit", type=_positive, metavar="N", help="only the first N cases")
        parser.add_argument("--json", action="store_true", help="print the result as one object")
        parser.add_argument(
            "--compare",
            type=Path,
            metavar="OTHER.json",
            help="say what changed since a result that --json printed",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Read everything first, run the cases, then report; nothing is run after an error."""
        file, before = self._files(options["cases"], options["compare"])
        release, name = self._knowledge(options["release"], options["bundle"])
        results, model = self._run(file, release, options)
        result = describe(file, results, release=release, knowledge=name, model=model)
        compared = compare(before, result) if before else None
        for case in result["not_run"]:
            self.stderr.write(f"{case['id']}: not run: {case['reason']}")
        if count := len(result["not_in_release"]):
            ids = ", ".join(result["not_in_release"][:5]) + (", ..." if count > 5 else "")
            cases = "1 case expects" if count == 1 else f"{count:,} cases expect"
            self.stderr.write(f"Warning: {cases} what this knowledge does not have ({ids}).")
        if options["json"]:
            extra = {"comparison": compared} if compared else {}
            self.stdout.write(
                json.dumps(with_shown_scores({**result, **extra}), cls=DecimalEncoder)
            )
        elif options["verbosity"] > 0:
            self.stdout.write(report.as_text(result, compared=compared))
        if result["not_run"]:
            raise CommandError(f"{len(result['not_run'])} of {len(results)} cases were not run.")

    def _files(self, cases: Path, other: Path | None) -> tuple[CaseFile, Result | None]:
        """Return the cases, and the result to compare with."""
        try:
            with reading(cases):
                file = read_cases(cases)
        except CaseFileError as error:
            lines = (f"{cases}:{number}: {problem}" for number, problem in error.problems)
            raise self.refusal(lines, noun="bad line", verb="run") from error
        if other is None:
            return file, None
        try:
            with reading(other):
                return file, read_result(other)
        except NotAResult as error:
            raise CommandError(f"{other} is no result of evaluate --json: {error}.") from error

    def _knowledge(self, number: int | None, bundle: Path | None) -> tuple[Release, str]:
        """Return the release to ask, and its name for people."""
        if bundle is not None:
            try:
                with reading(bundle):
                    return read_bundle(bundle).release(), f"bundle {bundle.resolve().name}"
            except BundleError as error:
                raise self.refusal(error.errors, verb="run") from error
        try:
            release = knowledge.current_release() if number is None else knowledge.release(number)
        except knowledge.UnknownReleaseError as error:
            raise CommandError(f"There is no release {number}.") from error
        except knowledge.CorruptReleaseError as error:
            raise CommandError(f"The release cannot be used: {error}.") from error
        if release is None:
            raise CommandError(
                "Nothing is published yet: run load_knowledge PATH --publish, or give --bundle."
            )
        return release, f"release {release.number}"

    def _run(
        self, file: CaseFile, release: Release, options: dict[str, Any]
    ) -> tuple[list[CaseResult], str]:
        model = running.configured_model()
        search = vectors.temporary_shortlist if options["bundle"] else vectors.prepared_shortlist
        persona = "" if options["bundle"] else administration.current().persona
        runner = QuestionRunner(model, release, running.options(persona=persona), search=search)
        cases = file.cases[: options["limit"]]
        # Injected cases are run again without the injected part.
        total = len(cases) + sum(INJECTION in case.tags for case in cases)
        with progress(total, "turns", verbosity=options["verbosity"]) as bar:
            results = run_cases(cases, runner, among=file.cases, progress=bar.update)
        return results, model.name


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ArgumentTypeError("give 1 or more")
    return number
