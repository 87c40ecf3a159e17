"""A stage's new answer: a person's own, or the model's with what a person may waive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from conversations.models import Stage, Turn
from conversations.turns import flags
from ieim.pipeline import contract as contracts
from ieim.pipeline import results
from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Finding
from ieim.pipeline.gate import gate, shape, strict_json
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.gate.quotes import Evidence, EvidenceDict
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.results import Result
from ieim.pipeline.stages.base import Context, Output
from ieim.pipeline.topology import STAGES
from review.corrections import records
from review.deciding import flow
from review.deciding.errors import Refused

NOT_PASSED = gettext_noop(
    "This answer does not pass the checks. Correct what they name, then try again."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that may stand in a stage's place."""

    contract: str
    output: Output
    state_merge: Output
    evidence: tuple[EvidenceDict, ...]
    result: Result | None


def complete_output(contract: str, turn: Turn, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole answer of ``contract`` from the part that a person gives.

    Filled in are ``session_id``, ``response_id``, ``stage``, ``stageStatus``, ``telemetry`` and
    ``nextStep``, each where the contract has it and ``fields`` has not; the next step is the one
    that the rest of the answer leads to. Anything wrong with ``fields`` is left to the gate.
    """
    known = contracts.load(contract)
    properties = known.schema["properties"]
    filled: dict[str, Any] = {
        name: spec["const"] for name, spec in properties.items() if "const" in _rules(spec)
    }
    if "telemetry" in properties:
        filled["telemetry"] = {"notes": None}
    if known.stage.has_session and "session_id" in properties:
        filled |= {"session_id": str(turn.session_id), "response_id": f"staff-{uuid4()}"}
    whole = {**filled, **fields}
    if "nextStep" in properties and "nextStep" not in fields:
        whole["nextStep"] = properties["nextStep"]["enum"][-1]
        context = flow.context_for(turn, contract)
        if not list(shape.findings(known.validator, whole, limit=1)):
            whole["nextStep"] = known.stage.legal_next(whole, context) or whole["nextStep"]
    return whole


def overriding(contract: str, turn: Turn, fields: object) -> Answer:
    """Return a person's answer to ``contract`` after the same gate that a model's goes through.

    Raises :class:`Refused` with the gate's findings.
    """
    if contract not in STAGES:
        raise Refused(
            gettext("There is no stage {stage}. Choose one of the question's stages.").format(
                stage=repr(contract)
            )
        )
    if not isinstance(fields, Mapping) or not all(isinstance(name, str) for name in fields):
        raise Refused(gettext("There is no answer to put in place. Fill in the form."))
    try:
        # A form's values become JSON as a model's answer is: one reader for both.
        whole = complete_output(contract, turn, json.loads(dumps(fields)))
        raw = dumps(whole)
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(
            gettext("The answer has a value that cannot be stored. Fill it in anew.")
        ) from error
    context = flow.context_for(turn, contract)
    judgement = gate.judge(contracts.load(contract), ModelAnswer(raw=raw), context)
    if not judgement.passed:
        raise Refused(gettext(NOT_PASSED), judgement.findings)
    return _answer(contract, judgement, context, turn)


def approving(stage: Stage) -> Answer:
    """Return the model's last answer of a stage that failed closed, its waivable findings waived.

    The gate stops at its first step that finds something, so the steps after it are run here as
    well: what a person waives is one finding, not all that would have been found behind it. Raises
    :class:`Refused` where anything else is wrong with the answer.
    """
    attempt = records.last_attempt(stage)
    if attempt is None:
        raise Refused(gettext("The model has not answered here, so there is nothing to approve."))
    if not all(finding["waivable"] for finding in (*attempt.findings, *stage.findings)):
        raise Refused(
            gettext(
                "The answer has a fault that nobody may wave through. Correct it, or ask again."
            )
        )
    output, _ = strict_json.parse(bytes(attempt.raw).decode("utf-8", "surrogatepass"))
    if output is None:
        raise Refused(gettext("The model’s answer cannot be read. Correct it, or ask again."))
    contract = contracts.load(stage.contract)
    context = flow.context_for(stage.turn, stage.contract, attempt=attempt, as_seen=True)
    located: list[Evidence] = []
    found = _not_waivable(contract, output, context, located)
    if found:
        raise Refused(gettext("The answer has other faults behind what you may approve."), found)
    output = gate.with_two_decimals(output)
    judgement = Judgement((), tuple(located), output, contract.stage.state_slice(output))
    return _answer(stage.contract, judgement, context, stage.turn)


def _not_waivable(
    contract: Contract, output: Output, context: Context, located: list[Evidence]
) -> list[Finding]:
    for step in gate.STEPS:
        found = [f for f in step(contract, output, context, located) if not f.waivable]
        if found:
            return found
    return []


def _answer(contract: str, judgement: Judgement, context: Context, turn: Turn) -> Answer:
    if judgement.output is None or judgement.state_merge is None:
        raise RuntimeError(f"an answer of {contract} passed without an output")
    rules, patterns = flags.of_rules(turn), settings.IEIM_MODEL["KEY_PATTERNS"]
    return Answer(
        contract=contract,
        output=judgement.output,
        state_merge=judgement.state_merge,
        evidence=tuple(each.as_dict() for each in judgement.evidence),
        result=results.build(contract, judgement, context, rules, patterns),
    )


def _rules(spec: object) -> Mapping[str, Any]:
    return spec if isinstance(spec, Mapping) else {}
