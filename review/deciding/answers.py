"""Answers of a turn's stages: where they lead to, and a person's in place of the model's."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import jsonpatch
from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from conversations.models import Attempt, Stage, Turn
from conversations.record.replay import context_of, shown_text_of
from conversations.states import DONE_STAGE_STATUSES, StageStatus
from conversations.turns import flags, languages
from ieim.administration import selectors as administration
from ieim.knowledge import selectors as knowledge
from ieim.pipeline import contract as contracts
from ieim.pipeline import policy
from ieim.pipeline.canonical import dumps
from ieim.pipeline.findings import WAIVABLE, Code, Finding
from ieim.pipeline.gate import gate, strict_json
from ieim.pipeline.gate.gate import EvidenceDict, Judgement, with_two_decimals
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.reply import fallback, situation
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.results import Result
from ieim.pipeline.runner import compose
from ieim.pipeline.stages.base import Context, Output
from ieim.pipeline.topology import ANSWERING, CLASSIFY, FIRST, ORDER, SESSION_END, STAGES
from review.deciding.locking import Refused

Answers = Mapping[str, tuple[Output, Output]]
"""``(output, state_merge)`` by contract."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end that a turn reaches with its answers: a ``reply``, or the ``waiting`` stage."""

    reply: Reply | None
    waiting: str


def done_answers(turn: Turn) -> dict[str, tuple[Output, Output]]:
    """Return the answers of the stages of ``turn`` that are done."""
    return {
        stage.contract: (stage.output, stage.state_merge)
        for stage in turn.stages.all()
        if StageStatus(stage.status) in DONE_STAGE_STATUSES
        and stage.output is not None
        and stage.state_merge is not None
    }


def context_for(turn: Turn, contract: str, *, attempt: Attempt | None = None) -> Context:
    """Return what an answer of ``contract`` is judged against: the stages before it, as they are.

    For a stored ``attempt`` it is as the model has seen it, and the response ids are those before
    it, else all of the session.
    """
    ids = Attempt.objects.filter(stage__turn__session_id=turn.session_id).exclude(response_id="")
    if attempt is not None:
        ids = ids.filter(pk__lt=attempt.pk)
    return context_of(
        turn,
        _state(turn, {k: v for k, v in done_answers(turn).items() if _before(k, contract)}),
        attempt=1 if attempt is None else attempt.number,
        used=ids.values_list("response_id", flat=True),
        as_seen=attempt is not None,
    )


def follow(turn: Turn, answers: Answers | None = None, *, shown_text: str | None = None) -> Outcome:
    """Return where the turn gets to when ``answers`` replace the stored ones.

    Stages after a replaced one run again, so their stored answers do not count. ``shown_text`` is
    what is shown in place of the free text of ``answers``, None for that text itself.
    """
    replaced = dict(answers or {})
    available = replaced | {
        name: answer
        for name, answer in done_answers(turn).items()
        if all(_before(name, other) for other in replaced)
    }
    context = context_of(turn, _state(turn, {}))
    outputs: dict[str, Output] = {}
    stage_id = FIRST
    while stage_id != SESSION_END:
        if stage_id not in available:
            return Outcome(None, stage_id)
        outputs[stage_id], merge = available[stage_id]
        context = replace(context, cached_state={**context.cached_state, **merge})
        following = STAGES[stage_id].legal_next(outputs[stage_id], context)
        if following is None:
            return Outcome(None, stage_id)
        stage_id = following
    if shown_text is None:
        shown_text = shown_text_of(turn, outputs.keys() - replaced.keys())
    context = replace(context, shown_text=shown_text)
    language, chosen = languages.reply_language(turn), turn.chosen_services
    reply = compose(outputs, context, language=language, chosen=chosen)
    classified = available[CLASSIFY][0] if CLASSIFY in available else None
    event = situation.situation_of(chosen, classified, context.release)
    if event is not None and reply.kind != "guidance":
        reply = situation.with_open(reply, event, context.release)
    return Outcome(reply, SESSION_END)


def policy_findings(turn: Turn, replaced: Answers | None = None) -> list[Finding]:
    """Return why policy holds the reply to a turn, as far as its triage is known.

    ``replaced`` are answers in place of stored ones. Whether the search is sure of its hits is not
    considered: a reply in another language may go out where this expects that it is held.
    """
    release = knowledge.release(turn.release_number)
    answers = done_answers(turn) | dict(replaced or {})
    classified = answers[CLASSIFY][0] if CLASSIFY in answers else None
    holds = policy.decide(flags.signs_of(turn), classified, release.labels)
    if policy.model_is_sure(context_of(turn, _state(turn, answers))):
        return holds
    return [*holds, *policy.language(turn.text, languages.supported(release))]


def stage_of(turn: Turn, contract: str) -> Stage | None:
    """Return a turn's stage, None for one that has not run."""
    return turn.stages.filter(contract=contract).first()


def last_readable(stage: Stage | None) -> Mapping[str, Any] | None:
    """Return the last answer of a stage's attempts that can be read as JSON; None for none."""
    for attempt in _newest_first(stage):
        output, _ = strict_json.parse(bytes(attempt.raw).decode("utf-8", "surrogatepass"))
        if output is not None:
            # As the gate writes scores: 0.9 is no change of 0.90.
            answer: Mapping[str, Any] = with_two_decimals(output)
            return answer
    return None


def last_attempt(stage: Stage | None) -> Attempt | None:
    """Return the attempt that was judged last."""
    return next(_newest_first(stage), None)


def _newest_first(stage: Stage | None) -> Iterator[Attempt]:
    if stage is not None:
        yield from stage.attempts.order_by("-round", "-number")


def _before(contract: str, later: str) -> bool:
    return contract in ANSWERING and ORDER[contract] < ORDER[later]


def _state(turn: Turn, answers: Answers) -> dict[str, Any]:
    state: dict[str, Any] = {"session_id": str(turn.session_id)}
    for contract in sorted(answers, key=ORDER.__getitem__):
        state |= answers[contract][1]
    return state


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

    @property
    def shown_text(self) -> str | None:
        """What is shown in place of its free text; None for that text itself."""
        is_reply = STAGES[self.contract].reply is not None
        return fallback.shown_text(self.result) if is_reply else None


def complete_output(contract: str, turn: Turn, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole answer of ``contract`` from the part that a person gives.

    Filled in are ``session_id``, ``response_id``, ``stage``, ``stageStatus``, ``telemetry`` and
    ``nextStep``, each where the contract has it and ``fields`` has not; the next step is the one
    that the rest of the answer leads to. Anything wrong with ``fields`` is left to the gate.
    """
    definition = contracts.load(contract)
    properties = definition.schema["properties"]
    filled: dict[str, Any] = {
        name: spec["const"] for name, spec in properties.items() if "const" in _rules(spec)
    }
    if "telemetry" in properties:
        filled["telemetry"] = {"notes": None}
    if definition.stage.has_session and "session_id" in properties:
        filled |= {"session_id": str(turn.session_id), "response_id": f"staff-{uuid4()}"}
    output = {**filled, **fields}
    if "nextStep" in properties and "nextStep" not in fields:
        output["nextStep"] = properties["nextStep"]["enum"][-1]
        context = context_for(turn, contract)
        if not list(gate.schema_findings(definition.validator, output, limit=1)):
            output["nextStep"] = definition.stage.legal_next(output, context) or output["nextStep"]
    return output


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
        output = complete_output(contract, turn, json.loads(dumps(fields)))
        raw = dumps(output)
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(
            gettext("The answer has a value that cannot be stored. Fill it in anew.")
        ) from error
    context = context_for(turn, contract)
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
    attempt = last_attempt(stage)
    if attempt is None:
        raise Refused(gettext("The model has not answered here, so there is nothing to approve."))
    extra = unknown_fields(stage)
    waived = all(finding["waivable"] for finding in (*attempt.findings, *stage.findings))
    if not waived and not extra:
        raise Refused(
            _not_approvable(stage, gettext("The answer has a fault that nobody may waive."))
        )
    output, _ = strict_json.parse(bytes(attempt.raw).decode("utf-8", "surrogatepass"))
    if output is None:
        raise Refused(_not_approvable(stage, gettext("The model’s answer cannot be read.")))
    output = jsonpatch.apply_patch(output, [{"op": "remove", "path": path} for path in extra])
    contract = contracts.load(stage.contract)
    context = context_for(stage.turn, stage.contract, attempt=attempt)
    checked = gate.Checked(contract, output, context, [])
    findings = _not_waivable(checked, but=frozenset() if extra else WAIVABLE)
    if findings:
        raise Refused(gettext("The answer has other faults behind what you may approve."), findings)
    judgement = gate.accepted(contract, Judgement((), tuple(checked.located), output, None))
    request = json.loads(attempt.asked_text) if attempt.asked else None
    return _answer(stage.contract, judgement, replace(context, request=request), stage.turn)


def _not_approvable(stage: Stage, why: str) -> str:
    """Return why an answer cannot be approved, and what to do: triage is not asked again."""
    if stage.contract in ANSWERING:
        return f"{why} " + gettext("Correct it, or ask again.")
    return f"{why} " + gettext("Correct it.")


def unknown_fields(stage: Stage) -> list[str]:
    """Return the JSON Pointers of the fields that the contract does not know in the last answer of
    a stage that failed closed; none where anything else was found."""
    attempt = last_attempt(stage)
    findings = [] if attempt is None else [*attempt.findings, *stage.findings]
    unknown = (Code.SCHEMA.value, gate.UNKNOWN_FIELD)
    if any((finding["code"], finding["message"]) != unknown for finding in findings):
        return []
    return list(dict.fromkeys(finding["path"] for finding in findings))


def _not_waivable(checked: gate.Checked, *, but: Collection[Code]) -> list[Finding]:
    for step in gate.STEPS:
        findings = [f for f in step(checked) if f.stops and f.code not in but]
        if findings:
            return findings
    return []


def _answer(contract: str, judgement: Judgement, context: Context, turn: Turn) -> Answer:
    judgement, result = fallback.settle(
        contracts.load(contract),
        judgement,
        context,
        risks=flags.of_rules(turn),
        key_patterns=settings.IEIM_MODEL["KEY_PATTERNS"],
        own_words=administration.current().own_words,
    )
    if judgement.output is None or judgement.state_merge is None:
        raise RuntimeError(f"an answer of {contract} passed without an output")
    return Answer(
        contract=contract,
        output=judgement.output,
        state_merge=judgement.state_merge,
        evidence=tuple(span.as_dict() for span in judgement.evidence),
        result=result,
    )


def _rules(spec: object) -> Mapping[str, Any]:
    return spec if isinstance(spec, Mapping) else {}
