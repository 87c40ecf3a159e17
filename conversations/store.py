"""The runner's store over the database: one turn's stages, attempts and spans.

Every write renews the worker's lease in the same transaction, so a run whose claim was lost stores
nothing more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from conversations import services, states
from conversations.models import Attempt, EvidenceSpan, Stage, Turn
from conversations.states import DONE_STAGE_STATUSES, StageStatus
from ieim.audit import services as audit
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import SOURCE
from ieim.pipeline.ports import ModelUnavailable
from ieim.pipeline.runner import AttemptRecord, Output
from ieim.pipeline.topology import ORDER


class TurnStore:
    """:class:`ieim.pipeline.runner.Store` for a turn whose lease the caller holds."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._stages: dict[str, Stage] = {stage.contract: stage for stage in turn.stages.all()}

    def done(self, stage: str) -> tuple[Output, Output] | None:
        """Return ``(output, state_merge)`` of a stage that needs no more asking."""
        row = self._stages.get(stage)
        if row is None or StageStatus(row.status) not in DONE_STAGE_STATUSES:
            return None
        if row.output is None or row.state_merge is None:
            raise RuntimeError(f"stage {row.pk} is {row.status} without an output")
        return row.output, row.state_merge

    def attempts(self, stage: str) -> Sequence[Sequence[Finding]]:
        """Return the findings of each attempt stored in the stage's present round."""
        row = self._stages[stage]
        stored = row.attempts.filter(round=row.round).order_by("number")
        return [[_finding(item) for item in attempt.findings] for attempt in stored]

    def used_response_ids(self) -> frozenset[str]:
        """Return every response_id that the session has seen."""
        rows = Attempt.objects.filter(stage__turn__session_id=self.turn.session_id)
        return frozenset(rows.exclude(response_id="").values_list("response_id", flat=True))

    @transaction.atomic
    def begin(self, stage: str) -> None:
        """Note that the stage is being worked on."""
        services.renew_lease(turn_id=self.turn.pk, lease=self.turn.lease)
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
        services.changed(self.turn)

    @transaction.atomic
    def unanswered(self, stage: str, number: int, error: ModelUnavailable) -> None:
        """Audit a call to which no answer could be had."""
        services.renew_lease(turn_id=self.turn.pk, lease=self.turn.lease)
        code = Code.MODEL_TIMEOUT if error.timed_out else Code.MODEL_UNAVAILABLE
        audit.record(
            chain=self.turn.session_id,
            kind="stage.unanswered",
            actor="system",
            payload={
                "turn": str(self.turn.pk),
                "stage": stage,
                "try": number,
                "code": code.value,
                "reason": str(error),
            },
        )

    @transaction.atomic
    def record(self, stage: str, attempt: AttemptRecord, *, final: bool) -> None:
        """Store an attempt with its findings and spans, and what it makes of the stage."""
        services.renew_lease(turn_id=self.turn.pk, lease=self.turn.lease)
        row = self._stages[stage]
        judgement = attempt.judgement
        stored = _store_attempt(row, attempt)
        audit.record(
            chain=self.turn.session_id,
            kind="stage.attempt",
            actor="system",
            payload=_audit_payload(self.turn, row, stored),
        )
        if judgement.passed:
            self._finish(row, StageStatus.PASSED, judgement.output, judgement.state_merge)
            EvidenceSpan.objects.bulk_create(
                EvidenceSpan(stage=row, source=SOURCE, **_span(e.as_dict()))
                for e in judgement.evidence
            )
        elif final:
            self._finish(row, StageStatus.NEEDS_REVIEW, None, None)
            codes = [finding.code.value for finding in judgement.findings]
            services.give_to_person(turn=self.turn, stage=stage, codes=codes)
        services.changed(self.turn)

    def _finish(
        self, row: Stage, status: StageStatus, output: Output | None, merge: Output | None
    ) -> None:
        states.require_stage(StageStatus(row.status), status)
        row.status = status.value
        row.output = output
        row.state_merge = merge
        row.finished_at = timezone.now()
        row.save(update_fields=["status", "output", "state_merge", "finished_at"])


def _finding(item: Mapping[str, Any]) -> Finding:
    return Finding(Code(item["code"]), item["path"], item["message"])


def _span(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "source"}


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", "surrogatepass")


def _name(text: str | None, longest: int) -> str:
    """Return a server's own word for something, as every database can hold it."""
    readable = (text or "").encode("utf-8", "replace").decode("utf-8")
    return readable.replace("\0", "?")[:longest]


def _store_attempt(row: Stage, attempt: AttemptRecord) -> Attempt:
    answer, asked, judgement = attempt.answer, attempt.request, attempt.judgement
    sent = "\0".join(message.content for message in asked.messages)
    output = judgement.output or {}
    response_id = output.get("response_id", "")
    return Attempt.objects.create(
        stage=row,
        round=row.round,
        number=attempt.number,
        model=_name(answer.model, 200),
        temperature=round(Decimal(str(asked.temperature)), 2),
        request_sha256=hashlib.sha256(_bytes(sent)).hexdigest(),
        contract_sha256=attempt.contract.schema_sha256,
        prompt_sha256=attempt.contract.prompt_sha256,
        request_bytes=asked.size,
        raw=_bytes(answer.raw),
        finish_reason=_name(answer.finish_reason, 64),
        refusal=_bytes(answer.refusal),
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        duration_ms=round(attempt.seconds * 1000),
        findings=[finding.as_dict() for finding in judgement.findings],
        response_id=response_id if isinstance(response_id, str) else "",
    )


def _audit_payload(turn: Turn, row: Stage, stored: Attempt) -> dict[str, Any]:
    """Return what the audit keeps of an attempt: digests and codes, no citizen's word."""
    return {
        "turn": str(turn.pk),
        "stage": row.contract,
        "round": row.round,
        "attempt": stored.number,
        "model": stored.model,
        "temperature": str(stored.temperature),
        "request_sha256": stored.request_sha256,
        "contract_sha256": stored.contract_sha256,
        "prompt_sha256": stored.prompt_sha256,
        "raw_sha256": hashlib.sha256(bytes(stored.raw)).hexdigest(),
        "prompt_tokens": stored.prompt_tokens,
        "completion_tokens": stored.completion_tokens,
        "codes": [finding["code"] for finding in stored.findings],
        "passed": not stored.findings,
    }
