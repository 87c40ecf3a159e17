"""Golden questions: kept by people without anybody's personal data, asked of every proposal."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from conversations.models import Turn
from conversations.turns import languages, running
from ieim.administration import selectors as administration
from ieim.audit.services import record_system
from ieim.knowledge import selectors as knowledge
from ieim.knowledge.bundles.bundle import Bundle
from ieim.knowledge.bundles.questions import folded
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.vectors import made_for
from ieim.people.models import User
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Model
from ieim.studio import runs
from ieim.studio.drafts import editing
from ieim.studio.drafts.selectors import example_texts
from ieim.studio.evaluation.cases import Case, MalformedCase, read_case
from ieim.studio.evaluation.outcomes import CaseResult
from ieim.studio.evaluation.running import PATIENCE, Asker
from ieim.studio.models import Change, GoldenQuestion, GoldenRun, Proposal
from ieim.studio.trying.comparing import differs, is_loss, kind_of, outcome_of

OUTAGE = "The model could not be reached: {}. Start the run again when it can."
OURS = f"{runs.OURS} Start the run again."

Rows = dict[str, dict[str, Any]]


class GoldenError(Exception):
    """It cannot be done; the message is a sentence that says why and what to do."""


@transaction.atomic
def keep(
    *, case: Mapping[str, Any], by: User, turn_id: UUID | None = None
) -> tuple[GoldenQuestion, bool]:
    """Keep an evaluation case as a golden question; ``(question, whether it is new)``.

    Its texts are redacted. One whose words are those of a turn is named by what it came of, so
    that :func:`forget` finds it when the conversation is erased. Raises :class:`GoldenError` when
    that has happened already, and for an example question of the draft.
    """
    if folded(case["text"]) in example_texts():
        message = gettext(
            "This is an example question of a service. Golden questions test what the search has "
            "learned from examples, so none can be both: use other words."
        )
        raise GoldenError(message)
    _hold(turn_id)
    defaults = {"case": redacted(case), "created_by": by}
    question, new = GoldenQuestion.objects.get_or_create(name=case["id"], defaults=defaults)
    if new:
        _record("golden.kept", question, by.actor)
    return question, new


def _hold(turn_id: UUID | None) -> None:
    """Lock the turn whose words are kept. Raises :class:`GoldenError` for one that is erased."""
    # Erasing holds the turns first: whatever is kept before is found by it.
    if turn_id and not Turn.objects.select_for_update().filter(pk=turn_id).exclude(text=""):
        raise GoldenError(gettext("This conversation was erased: its words cannot be kept."))


@transaction.atomic
def add_example(
    *, text: str, agency: str, service: str, by: User, turn_id: UUID | None = None
) -> None:
    """Add an example question of a service to the draft, in the language that it seems to be in.

    ``turn_id`` is the turn whose words it began with. Raises :class:`GoldenError` for what editing
    refuses.
    """
    _hold(turn_id)
    values = {
        "agency": agency,
        "service": service,
        "language": languages.detect(text, knowledge.current_release()) or languages.written_in(),
        "text": " ".join(text.split()),
        "origin": "citizen" if turn_id else "editor",
    }
    source = Change.Source.ADMIN
    try:
        editing.save(table="questions", values=values, by=by, seen=None, source=source)
    except (editing.Invalid, editing.OutOfScope) as error:
        message = gettext("This cannot be kept. {reason}.")
        raise GoldenError(message.format(reason=str(error).rstrip("."))) from error


def said_in(turn_id: UUID) -> str:
    """Return the name of the golden question that began with the words of a turn."""
    return f"said-{turn_id}"


@transaction.atomic
def keep_written(
    *, text: str, expected: dict[str, Any], note: str, by: User, turn_id: UUID | None = None
) -> tuple[GoldenQuestion, bool]:
    """Keep a question written by hand; ``(question, whether it is new)``.

    ``expected`` is an evaluation case's, ``turn_id`` the turn whose words it began with. The same
    text is kept once. Raises :class:`GoldenError` for a text that no citizen could send.
    """
    # No digest of the words: names stay in the audit record when the words are gone.
    case = {
        "id": said_in(turn_id) if turn_id else f"written-{uuid4()}",
        "lang": "und",
        "text": text.strip(),
        "history": [],
        "expected": expected,
        "tags": ["written"],
        "labels": "human",
        "source": "written by an editor",
        "note": note.strip(),
    }
    try:
        read_case(json.dumps(redacted(case)).encode())
    except MalformedCase as error:
        message = gettext("This cannot be kept. {reason}.")
        raise GoldenError(message.format(reason=error)) from error
    same = GoldenQuestion.objects.filter(case__text=redacted(case)["text"], case__history=[])
    if (kept := same.first()) is not None:
        return kept, False
    return keep(case=case, by=by, turn_id=turn_id)


def forget(names: Iterable[str]) -> None:
    """Delete the golden questions of these names, because their conversation is being erased.

    Runs inside the caller's transaction.
    """
    for question in GoldenQuestion.objects.filter(name__in=list(names)):
        question.delete()
        _record("golden.removed", question, "system")


def redacted(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluation case with its texts redacted, and its ``note`` where it has one."""
    history = [{**item, "text": prepare(item["text"]).text} for item in case["history"]]
    note = {"note": prepare(case["note"]).text} if "note" in case else {}
    return {**case, "text": prepare(case["text"]).text, "history": history, **note}


@transaction.atomic
def remove(*, question: GoldenQuestion, by: User) -> None:
    """Delete a golden question; one that is gone already stays gone."""
    gone, _ = GoldenQuestion.objects.filter(pk=question.pk).delete()
    if gone:
        _record("golden.removed", question, by.actor)


def _record(kind: str, question: GoldenQuestion, actor: str) -> None:
    payload = {"name": question.name, "tags": list(question.case["tags"])}
    record_system(kind=kind, actor=actor, payload=payload)


@transaction.atomic
def start(*, proposal: Proposal, by: User) -> GoldenRun:
    """Have a worker ask every golden question of a proposal and of the release it would replace.

    Raises :class:`GoldenError` for a proposal that is decided, while a run of it goes on, and where
    there is no golden question.
    """
    locked = Proposal.objects.select_for_update().get(pk=proposal.pk)
    if locked.state != Proposal.State.OPEN:
        message = gettext("Proposal {number} is not open any more: there is nothing to decide.")
        raise GoldenError(message.format(number=locked.pk))
    if locked.golden_runs.filter(state__in=runs.GOING_ON).exists():
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
    """Run or resume a run; a run that cannot go on has FAILED, with a sentence."""

    def ask_all(claim: runs.Claim) -> None:
        _run(claim, model or running.current_model())

    runs.work(GoldenRun, run_id, ask_all, _fail, error=OURS)


def _run(claim: runs.Claim, model: Model) -> None:
    """Ask each question of both sides; results are saved every second, so that it can resume."""
    run = GoldenRun.objects.select_related("proposal").get(pk=claim.run_id)
    cases = list(_cases())
    base = run.proposal.base_id
    releases = {} if base is None else {"before": knowledge.release(base)}
    releases["after"] = Bundle.from_content(run.proposal.content).release(0)
    rows: Rows = (run.result or {}).get("rows", {})
    total, saved = len(cases) * len(releases), time.monotonic()
    settled = running.options(persona=administration.current().persona)
    for side, release in releases.items():
        directive = notices.runtime_directive(release, timezone.now())
        asker = Asker(model, release, made_for(release), settled, directive, made_for)
        for case in cases:
            row = rows.setdefault(case.id, {})
            if side not in row:
                row[side] = _ask(asker, case)
            if time.monotonic() - saved >= runs.SAVE_EVERY:
                done = sum(map(len, rows.values()))
                claim.write(done=done, total=total, result={"rows": rows})
                saved = time.monotonic()
    _finish(claim, run, total, {case.id: rows[case.id] for case in cases}, model.name)


def _cases() -> Iterator[Case]:
    for question in GoldenQuestion.objects.order_by("created_at", "name"):
        try:
            yield read_case(json.dumps(question.case).encode())
        except MalformedCase as error:
            raise runs.Failed(
                f"The golden question {question.name} cannot be asked ({error}): remove it, then "
                "start the run again."
            ) from error


def _ask(asker: Asker, case: Case) -> dict[str, Any]:
    """Return the outcome of a question; retry where the model cannot be reached."""
    for _ in range(PATIENCE):
        turn = asker.ask(case.text, case.history)
        if turn.outcome != "not_run":
            return outcome_of(CaseResult(case, turn), asker.release)
        if not turn.unavailable:
            raise runs.Failed(OURS)
    raise runs.Failed(OUTAGE.format(turn.reason.rstrip(".")))


@transaction.atomic
def _finish(claim: runs.Claim, run: GoldenRun, total: int, rows: Rows, model: str) -> None:
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
    claim.fail(sentence)
    record_system(kind="golden.failed", actor="system", payload={"run": claim.run_id})
