"""The runner's store over the database: one turn's stages, attempts and spans.

Every write requires the worker's lease in its transaction, so that a run whose claim was lost
stores nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from conversations import states, traced
from conversations.models import Attempt, EvidenceSpan, Stage, Turn, Unused
from conversations.record import calls
from conversations.record.audited import ATTEMPT, CHOICE, SPAN, STAGE
from conversations.states import DONE_STAGE_STATUSES, StageStatus, TurnState
from conversations.turns import events, flags, moves, resuming
from conversations.turns.leases import LeaseLost, leased_turn, renew_lease
from conversations.turns.models import Choice, ChoiceOutcome
from ieim.audit.canonical import Row
from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.choosing import abstains
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import strict_json
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.ports import REJECTED, ModelAnswer, ModelRequest, ModelUnavailable
from ieim.pipeline.results import Result
from ieim.pipeline.topology import CLASSIFY, ORDER, STAGES
from ieim.pipeline.work import AttemptRecord, Chosen, Key, Output, Stopped

_REFUSED = frozenset({Code.MODEL_REFUSAL.value, Code.MODEL_REJECTED.value})


class TurnStore:
    """:class:`ieim.pipeline.runner.Store` for a turn whose lease the caller holds.

    What nobody else writes meanwhile is read once: who has the lease writes alone. ``answered``
    says whether the model has answered a call since.
    """

    def __init__(self, turn: Turn, *, count_day: bool = False) -> None:
        self.turn = turn
        self.answered = False
        self._count_day = count_day
        self._stages: dict[str, Stage] = {stage.contract: stage for stage in turn.stages.all()}
        self._attempts: dict[str, list[list[Finding]]] = {}
        self._stored_digests = calls.stored_digests()
        self._used: set[str] = set()
        self._tokens = 0
        if turn.number > 1 or self._stages:
            before = Attempt.objects.filter(stage__turn__session_id=turn.session_id)
            answers = list(before.order_by().values_list("response_id", "tokens"))
            self._used = {response_id for response_id, _ in answers} - {""}
            discarded = Unused.objects.filter(turn__session_id=turn.session_id)
            self._tokens = sum(tokens for _, tokens in answers) + _tokens(discarded)

    @property
    def stages(self) -> Collection[Stage]:
        """The turn's stages as they are now."""
        return self._stages.values()

    def renew(self) -> None:
        """Renew the claim of this run, in each transaction that writes; raise
        :class:`~conversations.turns.leases.LeaseLost` where it is gone."""
        renew_lease(turn_id=self.turn.pk, lease=self.turn.lease)

    def claimed(self) -> QuerySet[Turn]:
        """Return the turn while this run may write to it, else nothing."""
        return leased_turn(self.turn.pk, self.turn.lease)

    def done(self, stage: str) -> tuple[Output, Output] | None:
        """Return ``(output, state_merge)`` of a stage that needs no more asking."""
        row = self._stages.get(stage)
        if row is None or StageStatus(row.status) not in DONE_STAGE_STATUSES:
            return None
        if row.output is None or row.state_merge is None:
            raise RuntimeError(f"stage {row.pk} is {row.status} without an output")
        return row.output, row.state_merge

    def result(self, stage: str) -> Result | None:
        """Return the result of a stage that needs no more asking, None where it has none."""
        row = self._stages.get(stage)
        done = row is not None and StageStatus(row.status) in DONE_STAGE_STATUSES
        return row.result if row is not None and done else None

    def stopped(self, stage: str) -> Stopped | None:
        """Return what stopped a stage that waits for somebody; None for any other."""
        row = self._stages.get(stage)
        if row is None or StageStatus(row.status) is not StageStatus.NEEDS_REVIEW:
            return None
        findings = tuple(_finding(item) for item in row.findings)
        output = last_output(row)
        abstained = abstains(STAGES[stage], output, findings)
        return Stopped(findings, output if abstained else None)

    def attempts(self, stage: str) -> Sequence[Sequence[Finding]]:
        """Return the findings of each attempt stored in the stage's present round."""
        row = self._stages.get(stage)
        if row is None:
            return []
        if stage not in self._attempts:
            stored = row.attempts.filter(round=row.round).order_by("number")
            self._attempts[stage] = [
                [_finding(item) for item in attempt.findings] for attempt in stored
            ]
        return list(self._attempts[stage])

    def signs(self) -> Sequence[Risk]:
        """Return the signs of danger that a model has seen so far, also in answers that failed."""
        return flags.of_model(self.turn)

    def used_response_ids(self) -> frozenset[str]:
        """Return every response_id that the session has seen."""
        return frozenset(self._used)

    def spent(self) -> Spent:
        """Return the tokens that the session, and the day (UTC) where it has a limit, have used."""
        if not self._count_day:
            return Spent(self._tokens)
        return Spent(self._tokens, spent_today())

    @transaction.atomic
    def choose(
        self, results: Sequence[Chosen], chosen: Sequence[Key], offered: Sequence[Key]
    ) -> None:
        """Store what a message takes by its words as a choice of this turn, and settle the turn
        that asked."""
        self.renew()
        now = timezone.now()
        stages = [store_chosen(self.turn, result) for result in results]
        self._stages |= {stage.contract: stage for stage in stages}
        choice = Choice.objects.create(
            turn=self.turn,
            stage=stages[0].contract,
            offered=[list(key) for key in dict.fromkeys([*offered, *chosen])],
            several=len(chosen) > 1,
            asked_at=now,
            until=now,
        )
        record_choice(choice, ChoiceOutcome.CHOSEN, chosen, by="citizen", stages=stages)
        close_open_choice(turn=self.turn, chosen=chosen)
        moves.notify_pages(self.turn)

    @transaction.atomic
    def begin(self, stage: str) -> None:
        """Note that the stage is being worked on."""
        self.renew()
        traced.begin(f"stage {stage}", {"ieim.stage": stage})
        row = self._stages.get(stage)
        if row is None:
            row = Stage.objects.create(
                turn=self.turn,
                contract=stage,
                order=ORDER[stage],
                status=StageStatus.RUNNING.value,
                started_at=timezone.now(),
            )
            self._stages[stage] = row
            self._attempts[stage] = []
        elif row.status == StageStatus.PENDING.value:
            # It ran before, and a person's correction of an earlier stage made that void.
            states.require_stage(StageStatus.PENDING, StageStatus.RUNNING)
            row.status, row.started_at = StageStatus.RUNNING.value, timezone.now()
            row.save(update_fields=["status", "started_at"])
        moves.notify_pages(self.turn)

    @transaction.atomic
    def unanswered(self, stage: str, number: int, error: ModelUnavailable) -> None:
        """Audit a call to which no answer could be had."""
        self.renew()
        code = Code.MODEL_TIMEOUT if error.timed_out else Code.MODEL_UNAVAILABLE
        call = {"stage": stage, "try": number, "code": code.value, "reason": str(error)}
        events.record(self.turn, "stage.unanswered", call)

    @transaction.atomic
    def discarded(
        self, request: ModelRequest, answer: ModelAnswer | None, count: Count, seconds: float
    ) -> None:
        """Store what a speculative call cost that was not used."""
        self.renew()
        cost = calls.store_unused(self.turn, request, answer, count, seconds)
        self._tokens += cost.tokens

    @transaction.atomic
    def record(self, stage: str, attempt: AttemptRecord, *, final: bool, abstained: bool) -> None:
        """Store an attempt with its findings and spans, and what it makes of the stage."""
        row = self._stages[stage]
        ended: list[Row] = []
        # First, and with it the turn's row: whoever erases it locks that before its stages.
        if attempt.is_done or final:
            ended = self._end(row, attempt)
        else:
            self.renew()
        # A request that is not taken says nothing of the model: no outage ends with it.
        self.answered |= attempt.answer.finish_reason != REJECTED
        judgement = attempt.judgement
        self._stored_digests |= calls.store_contract(attempt.contract, self._stored_digests)
        stored = calls.store_attempt(row, attempt)
        self._attempts[stage].append([*judgement.findings])
        self._used |= {stored.response_id} - {""}
        self._tokens += stored.tokens
        payload = {
            **calls.attempt_payload(self.turn, row, stored),
            "retrieval": attempt.request.retrieval,
            "budget": attempt.count.as_dict(),
        }
        rows = [ATTEMPT.row(stored), *([] if attempt.is_fallback else ended)]
        events.record(self.turn, "stage.attempt", payload, rows=rows)
        codes = _codes(judgement.findings)
        if attempt.is_fallback:
            fallback = {"stage": stage, "round": row.round, "codes": codes}
            events.record(self.turn, "stage.fallback", fallback, rows=ended)
        attributes: traced.Attributes = {
            "passed": judgement.passed,
            "abstained": abstained,
            "findings": codes,
        }
        traced.add_event(f"stage {stage}", f"attempt {attempt.number}", attributes)
        if attempt.is_done or final:
            traced.end(f"stage {stage}")
        if row.contract == CLASSIFY:
            self._add_signs(attempt)
        if final and not abstained:
            # Not where it is too long: that says nothing of the message.
            if row.contract == CLASSIFY and not _REFUSED.isdisjoint(codes):
                flags.add_refusal(turn=self.turn)
            self._open_review(row, judgement.findings)
        moves.notify_pages(self.turn)

    def _add_signs(self, attempt: AttemptRecord) -> None:
        """Add what an attempt of classify saw of danger, and record what it left out of it."""
        result, number = attempt.result, attempt.number
        passed = [flag["label"] for flag in result["risk_flags"]] if result else []
        flagged = {*passed, *(sign.code for sign in attempt.signs)}
        flags.note_left_out(turn=self.turn, flagged=flagged, attempt=number)
        if result is not None:
            flags.add(turn=self.turn, classified=result)
        codes = _codes(attempt.judgement.findings)
        flags.add_unpassed(turn=self.turn, signs=attempt.signs, attempt=number, codes=codes)

    @transaction.atomic
    def over_budget(self, stage: str, findings: Sequence[Finding], count: Count) -> None:
        """Fail a stage closed whose next call would overrun a budget."""
        self.renew()
        row = self._stages[stage]
        row.findings = [finding.as_dict() for finding in findings]
        self._finish(row, StageStatus.NEEDS_REVIEW)
        traced.add_event(f"stage {stage}", "over budget", {"findings": _codes(findings)})
        traced.end(f"stage {stage}")
        over = {"stage": stage, "codes": _codes(findings), "budget": count.as_dict()}
        events.record(self.turn, "stage.over_budget", over, rows=[STAGE.row(row)])
        self._open_review(row, findings)
        moves.notify_pages(self.turn)

    def _end(self, row: Stage, attempt: AttemptRecord) -> list[Row]:
        """Store what an attempt makes of its stage, with the evidence that stands."""
        judgement = attempt.judgement
        status = StageStatus.NEEDS_REVIEW
        if attempt.is_done:
            row.output, row.state_merge = judgement.output, judgement.state_merge
            row.result = attempt.result
            status = StageStatus.PASSED if judgement.passed else StageStatus.FALLBACK
        if not judgement.passed:
            row.findings = [finding.as_dict() for finding in judgement.findings]
        self._finish(row, status)
        spans = EvidenceSpan.objects.bulk_create(
            EvidenceSpan(stage=row, **span.as_dict()) for span in judgement.evidence
        )
        # As the stored ones would say: what stood before was withdrawn with the earlier answer.
        stage = STAGE.row(row, status=row.status, spans=sorted(span.pk for span in spans))
        return [stage, *map(SPAN.row, spans)]

    def _open_review(self, row: Stage, findings: Sequence[Finding]) -> None:
        moves.open_review(turn=self.turn, stage=row.contract, codes=_codes(findings))

    def _finish(self, row: Stage, status: StageStatus) -> None:
        states.require_stage(StageStatus(row.status), status)
        row.status = status.value
        row.finished_at = timezone.now()
        names = ("status", "output", "state_merge", "result", "findings", "finished_at")
        turns = self.claimed().select_for_update(no_key=True)
        stages = Stage.objects.filter(pk=row.pk, turn__in=turns)
        if not stages.update(**{name: getattr(row, name) for name in names}):
            raise LeaseLost(str(self.turn.pk))


def store_chosen(turn: Turn, result: Chosen, status: StageStatus = StageStatus.CHOSEN) -> Stage:
    """Put what somebody's choice of a service makes of a stage in its place."""
    stage, _ = Stage.objects.get_or_create(
        turn=turn, contract=result.contract, defaults={"order": ORDER[result.contract]}
    )
    states.require_stage(StageStatus(stage.status), status)
    now = timezone.now()
    stage.status = status.value
    stage.output, stage.state_merge = dict(result.output), dict(result.state_merge)
    stage.result = result.result
    stage.findings = []
    stage.started_at = stage.started_at or now
    stage.finished_at = now
    stage.save()
    return stage


def reference(option: Sequence[str]) -> str:
    """Return what names an option: ``agency/key`` of a service, the code of a situation."""
    return "/".join(filter(None, option))


def record_choice(
    choice: Choice,
    outcome: ChoiceOutcome,
    services: Sequence[Key] = (),
    *,
    by: str,
    stages: Sequence[Stage] = (),
) -> None:
    """Store how asking back ended, with its audit event."""
    choice.outcome = outcome.value
    chosen = [list(service) for service in services]
    choice.chosen = chosen[0] if chosen else None
    choice.also = chosen[1:] or None
    choice.decided_at = timezone.now()
    choice.save(update_fields=["outcome", "chosen", "also", "decided_at"])
    payload: dict[str, Any] = {
        "stage": choice.stage,
        "outcome": choice.outcome,
        "chosen": None if choice.chosen is None else reference(choice.chosen),
        "stages": [stage.contract for stage in stages],
    }
    if choice.also:
        payload["also"] = [reference(option) for option in choice.also]
    rows = [CHOICE.row(choice), *map(STAGE.row, stages)]
    events.record(choice.turn, "turn.chosen", payload, actor=by, rows=rows)


@transaction.atomic
def close_open_choice(*, turn: Turn, chosen: Sequence[Key] = ()) -> None:
    """Close the turn that asked its citizen to choose before ``turn``, which answers in its place:
    with what was ``chosen`` of the offer, else with something else that was asked."""
    choices = Choice.objects.filter(
        turn__session_id=turn.session_id,
        turn__number__lt=turn.number,
        turn__state=TurnState.ASKING.value,
        outcome=ChoiceOutcome.OPEN,
    )
    for choice in choices.select_related("turn"):
        if chosen and {*chosen} <= {(agency, key) for agency, key in choice.offered}:
            record_choice(choice, ChoiceOutcome.CHOSEN, chosen, by="citizen")
        else:
            record_choice(choice, ChoiceOutcome.REPLACED, by="citizen")
        resuming.answered_below(turn=choice.turn)


def _finding(item: Mapping[str, Any]) -> Finding:
    return Finding(Code(item["code"]), item["path"], item["message"])


def last_output(row: Stage) -> dict[str, Any] | None:
    """Return the last answer of a stage's present round as it was read; None where it was not."""
    last = row.attempts.filter(round=row.round).order_by("number").last()
    if last is None:
        return None
    return strict_json.parse(bytes(last.raw).decode("utf-8", "surrogatepass"))[0]


def _codes(findings: Sequence[Finding]) -> list[str]:
    return [finding.code.value for finding in findings]


def start_of_day() -> datetime:
    """Return when the day (UTC) began whose tokens are counted together."""
    return timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


OTHER_TOKENS: Final[dict[str, Callable[[datetime], int]]] = {}
"""By name, what counts the tokens that were used since a moment beside those of turns;
:mod:`ieim.config.wiring` adds it from above."""


def spent_today() -> int:
    """Return the tokens that turns and all the others have used since :func:`start_of_day`."""
    today = start_of_day()
    calls = (kind.objects.filter(created_at__gte=today) for kind in (Attempt, Unused))
    return sum(map(_tokens, calls)) + sum(used(today) for used in OTHER_TOKENS.values())


def _tokens(calls: QuerySet[Any]) -> int:
    return calls.aggregate(used=Sum("tokens"))["used"] or 0
