"""Running the golden questions: every one of both sides, kept as it comes, gone on with after a
killed worker."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from conversations.turns import running
from ieim.audit.services import record_system
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.vectors import made_for
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Model
from ieim.studio import runs
from ieim.studio.evaluation.cases import Case, MalformedCase, read_case
from ieim.studio.evaluation.outcomes import CaseResult
from ieim.studio.evaluation.run import PATIENCE, Asker
from ieim.studio.models import GoldenQuestion, GoldenRun
from ieim.studio.trying.golden.verdicts import differs, is_loss, kind_of, outcome_of

logger = logging.getLogger(__name__)

OUTAGE = "The model could not be reached: {}. Start the run again when it can."
OURS = "Our own software failed; the log says how. Start the run again."


class _Failed(Exception):
    """The run cannot go on; the message is a sentence for staff."""


def run_golden(*, run_id: int, model: Model | None = None) -> None:
    """Run or go on with a run; returns at once when another worker has it or it is over.

    Never raises for what a model can do: a run that cannot go on has FAILED, with a sentence.
    """
    claim = runs.take(GoldenRun, run_id)
    if claim is None:
        return
    try:
        try:
            with runs.heartbeat(claim):
                _run(claim, model or running.configured_model())
        except _Failed as error:
            _fail(claim, str(error))
        except runs.Lost:
            raise
        except Exception:  # Whatever it is: the run must not stand still for ever.
            logger.exception("golden run %s failed", run_id)
            _fail(claim, OURS)
    except runs.Lost:
        logger.warning("golden run %s: another worker has it; this one stops", run_id)


def _run(claim: runs.Claim, model: Model) -> None:
    run = GoldenRun.objects.select_related("proposal").get(pk=claim.run_id)
    cases = list(_cases())
    base = run.proposal.base_id
    releases = {} if base is None else {"before": knowledge.release(base)}
    releases["after"] = Bundle.from_content(run.proposal.content).release(0)
    rows: dict[str, dict[str, Any]] = (run.result or {}).get("rows", {})
    total, saved = len(cases) * len(releases), time.monotonic()
    for side, release in releases.items():
        directive = notices.runtime_directive(release, timezone.now())
        asker = Asker(model, release, made_for(release), running.options(), directive, made_for)
        for case in cases:
            row = rows.setdefault(case.id, {})
            if side not in row:
                row[side] = _ask(asker, case, release)
            if time.monotonic() - saved >= runs.SAVE_EVERY:
                claim.write(done=_done(rows), total=total, result={"rows": rows})
                saved = time.monotonic()
    wanted = {case.id for case in cases}
    _finish(
        claim, run, total, {name: row for name, row in rows.items() if name in wanted}, model.name
    )


def _done(rows: Mapping[str, Mapping[str, Any]]) -> int:
    return sum(len(row) for row in rows.values())


def _cases() -> Iterator[Case]:
    for question in GoldenQuestion.objects.order_by("created_at", "name"):
        try:
            yield read_case(json.dumps(question.case).encode())
        except MalformedCase as error:
            raise _Failed(
                f"The golden question {question.name} cannot be asked ({error}): remove it, then "
                "start the run again."
            ) from error


def _ask(asker: Asker, case: Case, release: Release) -> dict[str, Any]:
    """Ask once more, and once more again, where the model cannot be reached."""
    for _ in range(PATIENCE):
        told = asker.ask(case.text, case.history)
        if told.outcome != "not_run":
            return outcome_of(CaseResult(case, told), release)
        if not told.unavailable:
            raise _Failed(OURS)
    raise _Failed(OUTAGE.format(told.reason.rstrip(".")))


@transaction.atomic
def _finish(
    claim: runs.Claim, run: GoldenRun, total: int, rows: dict[str, dict[str, Any]], model: str
) -> None:
    for row in rows.values():
        before, after = row.get("before"), row["after"]
        row["kind"], row["loss"] = kind_of(before, after), is_loss(before, after)
        row["differs"] = differs(before, after)
    kinds = [row["kind"] for row in rows.values()]
    losses = sum(row["loss"] for row in rows.values())
    claim.write(
        state=GoldenRun.State.DONE,
        done=total,
        total=total,
        losses=losses,
        result={"rows": rows, "model": model},
    )
    record_system(
        kind="golden.finished",
        actor="system",
        payload={
            "run": run.pk,
            "proposal": run.proposal_id,
            "sha256": run.proposal.sha256,
            "base": run.proposal.base_id,
            "model": model,
            "losses": losses,
            "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        },
    )


@transaction.atomic
def _fail(claim: runs.Claim, sentence: str) -> None:
    claim.write(state=GoldenRun.State.FAILED, error=sentence)
    record_system(kind="golden.failed", actor="system", payload={"run": claim.run_id})
