"""``manage.py gate CASES.jsonl``: run the gate without a model and without a database."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from ieim.knowledge.bundles.bundle import Bundle, BundleError, read_bundle
from ieim.pipeline import contract as contracts
from ieim.pipeline import policy
from ieim.pipeline.canonical import DecimalEncoder
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate
from ieim.pipeline.knowledge import LABEL_SETS, Release
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.stages.base import Context
from ieim.pipeline.topology import STAGES
from ieim.studio.evaluation.cases import LineSchema, MalformedCase
from ieim.studio.management.base import PlainHelpCommand, reading

_SCHEMA = LineSchema("gate_case")


class Command(PlainHelpCommand):
    help = "Run cases through the gate without a model: one JSON line each."
    epilog = """\
A case is one JSON object a line:
  {"id", "contract": a stage id or "classify" | "extract" | "identity_assist", "attempt": 1 | 2,
   "raw": the model's exact text, "finish_reason"?, "refusal"?, "user_prompt", "cached_state",
   "used_response_ids": [], "labels": {set: [codes]}, "bundle": PATH, "runtime_directive"?}
runtime_directive is what the model was told beside the message (2,000 characters): no part of
cached_state, and nothing that an answer is excused by.
A relative bundle path counts from the folder of the cases file, else from the working directory.

Each case gives one JSON line:
  {"id", "verdict": "pass" | "needs_review" | "hold", "findings": [{code, path, message, waivable}],
   "evidence": [{path, source, start, end, quote, snippet_sha256, occurrences}],
   "output", "state_merge"}
Policy is applied only where the bundle itself brings label thresholds. A finding that the pipeline
only keeps counts here where the contract asks for what is missing (telemetry.missing): the verdict
is on the answer, not on the turn. template.unordered is listed, and changes no verdict.

The exit code is 0 when every case was judged, whatever the verdicts. A malformed case is named on
standard error with its line number; the others are still judged, and the exit code is 1.
"""
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cases", metavar="CASES.jsonl", help="the file of cases")

    def handle(self, *args: Any, cases: str, **options: Any) -> None:
        """Judge every line; complain about the malformed ones at the end."""
        path = Path(cases)
        malformed = 0
        with reading(path), path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    result = judge_line(line, folder=path.parent)
                except MalformedCase as error:
                    self.stderr.write(f"{path}:{number}: {error}")
                    malformed += 1
                else:
                    # As ASCII: a line separator or a lone surrogate of a quote would break it.
                    self.stdout.write(json.dumps(result, cls=DecimalEncoder))
        if malformed:
            raise CommandError(f"{malformed} malformed case(s); every other case was judged.")


def judge_line(line: bytes, *, folder: Path) -> dict[str, Any]:
    """Judge one line and return its result; relative bundle paths are tried in ``folder`` first.

    Raises:
        MalformedCase: it is not a valid case, or its bundle cannot be used.
    """
    case = _SCHEMA.parse(line)
    if case["contract"] not in STAGES:
        raise MalformedCase(f"the contract is none of {', '.join(STAGES)}")
    if unknown := set(case["labels"]) - set(LABEL_SETS):
        raise MalformedCase(f"labels: {min(unknown)!r} is none of {', '.join(LABEL_SETS)}")
    bundle, release = _bundle(case["bundle"], folder)
    contract = contracts.load(case["contract"])
    context = Context(
        attempt=case["attempt"],
        user_prompt=case["user_prompt"],
        cached_state=case["cached_state"],
        release=release,
        labels={name: frozenset(codes) for name, codes in case["labels"].items()},
        used_response_ids=frozenset(case["used_response_ids"]),
    )
    answer = ModelAnswer(case["raw"] or "", case.get("finish_reason"), case.get("refusal"))
    judgement = gate.judge(contract, answer, context)
    findings = list(judgement.findings)
    # A contract asks for notes on what was mended; how rules are to be written, none says.
    passed = {finding.code for finding in findings} <= {Code.TEMPLATE_UNORDERED}
    verdict = "needs_review"
    if passed and judgement.output is not None:
        # Policy needs the bundle's own thresholds: default ones would hold other people's cases.
        has_policy = bundle.own_labels and policy.has_thresholds(release.labels)
        output, labels = judgement.output, release.labels
        holds = policy.holds(contract.id, output, labels) if has_policy else []
        findings += holds
        verdict = "hold" if holds else "pass"
    return {
        "id": case["id"],
        "verdict": verdict,
        "findings": [finding.as_dict() for finding in findings],
        "evidence": [evidence.as_dict() for evidence in judgement.evidence],
        "output": judgement.output,
        "state_merge": judgement.state_merge if passed else None,
    }


def _bundle(name: str, folder: Path) -> tuple[Bundle, Release]:
    path = folder / name
    try:
        return _read((path if path.exists() else Path(name)).resolve())
    except BundleError as error:
        first = error.errors[0]
        raise MalformedCase(
            f"the bundle {name} cannot be used: {first.file}:{first.line}: {first.message}"
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise MalformedCase(f"the bundle {name!r} cannot be read: {error}") from error


@lru_cache(maxsize=8)
def _read(path: Path) -> tuple[Bundle, Release]:
    # The release is cached too: hashing a large one takes longer than a case.
    bundle = read_bundle(path)
    return bundle, bundle.release()
