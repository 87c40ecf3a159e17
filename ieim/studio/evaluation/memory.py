"""A store in memory: what a turn leaves behind that is nobody's session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ieim.pipeline.budget import Count, Spent
from ieim.pipeline.findings import Finding, all_waivable
from ieim.pipeline.ports import ModelAnswer, ModelRequest, ModelUnavailable
from ieim.pipeline.work import AttemptRecord, Output, Stopped


class MemoryStore:
    """The runner's store for one turn; it is gone with the turn."""

    def __init__(self) -> None:
        self.records: dict[str, list[AttemptRecord]] = {}
        self.unasked: dict[str, Sequence[Finding]] = {}
        """What stopped a stage before its next call, by stage."""

    def done(self, stage: str) -> tuple[Output, Output] | None:
        """Return nothing: each turn is run once, from its beginning."""
        return None

    def stopped(self, stage: str) -> Stopped | None:
        """Return nothing, for the same reason."""
        return None

    def spent(self) -> Spent:
        """Return nothing: a case is nobody's session, and budgets do not measure answers."""
        return Spent()

    def over_budget(self, stage: str, findings: Sequence[Finding], count: Count) -> None:
        """Keep why the call was not made."""
        self.unasked[stage] = findings

    def attempts(self, stage: str) -> Sequence[Sequence[Finding]]:
        """Return the findings of each attempt of the stage."""
        return [record.judgement.findings for record in self.records.get(stage, ())]

    def used_response_ids(self) -> frozenset[str]:
        """Return the response ids of the turn's readable answers."""
        outputs = [r.judgement.output or {} for records in self.records.values() for r in records]
        return frozenset(o["response_id"] for o in outputs if isinstance(o.get("response_id"), str))

    def begin(self, stage: str) -> None:
        """Do nothing: only attempts are of interest here."""

    def unanswered(self, stage: str, number: int, error: ModelUnavailable) -> None:
        """Do nothing: a call without an answer is tried again, or the case is not run."""

    def unused(
        self, asked: ModelRequest, answer: ModelAnswer | None, count: Count, seconds: float
    ) -> None:
        """Do nothing: nothing is asked ahead of cases, which nobody waits for."""

    def record(self, stage: str, attempt: AttemptRecord, *, final: bool, abstained: bool) -> None:
        """Keep the attempt."""
        self.records.setdefault(stage, []).append(attempt)

    def said(self, stage: str) -> Mapping[str, Any]:
        """Return what the stage said, empty when it said nothing that counts.

        That is the answer that passed; or else the first that a person could approve as it stands
        (all its findings are waivable): a choice with too low a score is still a choice.
        """
        judgements = [record.stands for record in self.records.get(stage, ())]
        for judgement in sorted(judgements, key=lambda each: not each.passed):
            if judgement.output is not None and all_waivable(judgement.findings):
                return judgement.output
        return {}
