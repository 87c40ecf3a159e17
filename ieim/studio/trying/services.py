"""Golden questions: stored without anybody's personal data, and asked of every proposal."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext

from conversations.models import Turn
from conversations.turns import languages, running
from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.questions import folded
from ieim.people.models import User
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Model
from ieim.studio import runs
from ieim.studio.drafts import editing
from ieim.studio.drafts.selectors import example_texts
from ieim.studio.evaluation.cases import Case, MalformedCase, read_case
from ieim.studio.evaluation.comparing import compare_outcomes, outcome_of
from ieim.studio.evaluation.outcomes import CaseResult
from ieim.studio.evaluation.running import PATIENCE, QuestionRunner
from ieim.studio.models import Change, GoldenQuestion, GoldenRun, Proposal

OUTAGE = "The model could not be reached: {}. Start the run again when it can."
RUN_FAILED = f"{runs.INTERNAL_ERROR} Start the run again."


class GoldenError(Exception):
    """It cannot be done; the message is a sentence that says why and what to do."""


@transaction.atomic
def store(
    *, case: Mapping[str, Any], by: User, turn_id: UUID | None = None
) -> tuple[GoldenQuestion, bool]:
    """Store an evaluation case as a golden question; return it, and whether it is new.

    Its texts are redacted. A question with the words of a turn is named after their source, so that
    :func:`forget` finds it when the conversation is erased.

    Raises:
        GoldenError: the conversation is erased, or it is an example question of the draft.
    """
    if folded(case["text"]) in example_texts():
        message = gettext(
            "This is an example question of a service. Golden questions test what the search has "
            "learned from examples, so none can be both: use other words."
        )
        raise GoldenError(message)
    _lock_turn(turn_id)
    question, is_new = GoldenQuestion.objects.get_or_create(
        name=case["id"], defaults={"case": redacted(case), "created_by": by}
    )
    if is_new:
        _record("golden.kept", question, by.actor)
    return question, is_new


def _lock_turn(turn_id: UUID | None) -> None:
    """Lock the turn whose words are stored; raise GoldenError if they are erased."""
    # Erasing locks the turns first, so it finds whatever is stored before.
    if turn_id and not Turn.objects.select_for_update().filter(pk=turn_id).exclude(text=""):
        raise GoldenError(gettext("This conversation was erased: its words cannot be kept."))


@transaction.atomic
def add_example(
    *, text: str, owner: Mapping[str, str], by: User, turn_id: UUID | None = None
) -> None:
    """Add an example question to the draft, in its detected language.

    ``owner`` has ``agency`` and ``service``, or ``situation``; ``turn_id`` is the turn whose words
    it began with.

    Raises:
        GoldenError: the conversation is erased, or editing refuses the question.
    """
    _lock_turn(turn_id)
    values = {
        **owner,
        "language": languages.detect(text, knowledge.current_release()) or languages.written_in(),
        "text": " ".join(text.split()),
        "origin": "citizen" if turn_id else "editor",
    }
    try:
        editing.save(
            table="questions",
            values=values,
            by=by,
            expected_version=None,
            source=Change.Source.ADMIN,
        )
    except (editing.Invalid, editing.OutOfScope) as error:
        message = gettext("This cannot be kept. {reason}.")
        raise GoldenError(message.format(reason=str(error).rstrip("."))) from error


def name_for_turn(turn_id: UUID) -> str:
    """Return the name of the golden question that began with the words of a turn."""
    return f"said-{turn_id}"


@transaction.atomic
def store_written(
    *, text: str, expected: dict[str, Any], note: str, by: User, turn_id: UUID | None = None
) -> tuple[GoldenQuestion, bool]:
    """Store a question written by hand; return it, and whether it is new.

    ``expected`` is an evaluation case's, ``turn_id`` the turn whose words it began with. The same
    text is stored once.

    Raises:
        GoldenError: as :func:`keep`, and for a text that no citizen could send.
    """
    # No digest of the words: names stay in the audit record when the words are gone.
    case = redacted(
        {
            "id": name_for_turn(turn_id) if turn_id else f"written-{uuid4()}",
            "lang": "und",
            "text": text.strip(),
            "history": [],
            "expected": expected,
            "tags": ["written"],
            "labels": "human",
            "source": "written by an editor",
            "note": note.strip(),
        }
    )
    try:
        read_case(json.dumps(case).encode())
    except MalformedCase as error:
        message = gettext("This cannot be kept. {reason}.")
        raise GoldenError(message.format(reason=error)) from error
    same = GoldenQuestion.objects.filter(case__text=case["text"], case__history=[]).first()
    return (same, False) if same else store(case=case, by=by, turn_id=turn_id)


def redacted(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluation case with its texts redacted, and its ``note`` where it has one."""
    history = [{**item, "text": prepare(item["text"]).text} for item in case["history"]]
    texts = {name: prepare(case[name]).text for name in ("text", "note") if name in case}
    return {**case, **texts, "history": history}


@transaction.atomic
def remove(*, question: GoldenQuestion, by: User) -> None:
    """Delete a golden question; do nothing if it is gone already."""
    deleted, _ = GoldenQuestion.objects.filter(pk=question.pk).delete()
    if deleted:
        _record("golden.removed", question, by.actor)


def forget(names: Iterable[str]) -> None:
    """Delete the golden questions of these names, because their conversation is being erased.

    Runs inside the caller's transaction.
    """
    for question in GoldenQuestion.objects.filter(name__in=list(names)):
        question.delete()
        _record("golden.removed", question, "system")


def _record(kind: str, question: GoldenQuestion, actor: str) -> None:
    payload = {"name": question.name, "tags": list(question.case["tags"])}
    record_system(kind=kind, actor=actor, payload=payload)


@transaction.atomic
def start(*, proposal: Proposal, by: User) -> GoldenRun:
    """Queue a run: every golden question, of a proposal and of the release it would replace.

    Raises:
        GoldenError: the proposal is decided, a run of it is unfinished, or there is no question.
    """
    lock_head(SYSTEM_CHAIN)  # whatever changes a proposal does so first
    locked = Proposal.objects.get(pk=proposal.pk)
    if locked.state != Proposal.State.OPEN:
        message = gettext("Proposal {number} is not open any more: there is nothing to decide.")
        raise GoldenError(message.format(number=locked.pk))
    if locked.golden_runs.filter(state__in=runs.UNFINISHED_STATES).exists():
        raise GoldenError(
            gettext("The golden questions are being asked already: wait for the result.")
        )
    questions = GoldenQuestion.objects.count()
    if not questions:
        raise GoldenError(gettext("There is no golden question yet: add one first."))
    sides = 1 if locked.base_id is None else 2
    run = GoldenRun.objects.create(proposal=locked, total=questions * sides, created_by=by)
    record_system(
        kind="golden.started",
        actor=by.actor,
        payload={"run": run.pk, "proposal": locked.pk, "questions": questions},
    )
    runs.queue(GoldenRun, run.pk)
    return run


def run_golden(*, run_id: int, model: Model | None = None) -> None:
    """Execute or resume a run; one that cannot go on becomes FAILED, with a sentence."""

    def execute(claim: runs.Claim) -> None:
        _execute(claim, model or running.current_model())

    runs.execute(GoldenRun, run_id, execute, _fail, error=RUN_FAILED)


def _execute(claim: runs.Claim, model: Model) -> None:
    """Ask every question of both sides; results are saved each second, so that it can resume."""
    run = GoldenRun.objects.select_related("proposal").get(pk=claim.run_id)
    cases = _cases()
    base = run.proposal.base_id
    releases = {} if base is None else {"before": knowledge.release(base)}
    releases["after"] = Bundle.from_content(run.proposal.content).release(0)
    rows: dict[str, dict[str, Any]] = (run.result or {}).get("rows", {})
    total, saved_at = len(cases) * len(releases), time.monotonic()
    for side, release in releases.items():
        runner = QuestionRunner.of_site(release, model)
        for case in cases:
            row = rows.setdefault(case.id, {})
            if side not in row:
                row[side] = _outcome(runner, case)
            if time.monotonic() - saved_at >= runs.SAVE_EVERY:
                claim.write(done=sum(map(len, rows.values())), total=total, result={"rows": rows})
                saved_at = time.monotonic()
    _finish(claim, run, total, {case.id: rows[case.id] for case in cases}, model.name)


def _cases() -> list[Case]:
    cases = []
    for question in GoldenQuestion.objects.order_by("created_at", "name"):
        try:
            cases.append(read_case(json.dumps(question.case).encode()))
        except MalformedCase as error:
            raise runs.RunFailed(
                f"The golden question {question.name} cannot be asked ({error}): remove it, then "
                "start the run again."
            ) from error
    return cases


def _outcome(runner: QuestionRunner, case: Case) -> dict[str, Any]:
    """Return the outcome of a question; retry while the model cannot be reached."""
    for _ in range(PATIENCE):
        turn = runner.run(case.text, case.history).result()
        if turn.outcome != "not_run":
            return outcome_of(CaseResult(case, turn), runner.release)
        if not turn.unavailable:
            raise runs.RunFailed(RUN_FAILED)
    raise runs.RunFailed(OUTAGE.format(turn.reason.rstrip(".")))


@transaction.atomic
def _finish(
    claim: runs.Claim, run: GoldenRun, total: int, rows: dict[str, dict[str, Any]], model: str
) -> None:
    for row in rows.values():
        row |= compare_outcomes(row.get("before"), row["after"])
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
            "kinds": dict(Counter(row["kind"] for row in rows.values())),
        },
    )


@transaction.atomic
def _fail(claim: runs.Claim, sentence: str) -> None:
    claim.fail(sentence)
    record_system(kind="golden.failed", actor="system", payload={"run": claim.run_id})
