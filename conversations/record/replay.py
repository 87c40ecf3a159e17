"""Replay: a turn's stored answers through today's gate, and whether the decisions are the same.

Every attempt is stored as it was received, so the gate can judge it again with the same release,
state and text. A decision hash has no clock and no run id in it: two databases that
hold the same conversation have the same hash.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings

from conversations.models import Attempt, ReplyOrigin, Stage, Turn
from conversations.states import DECIDED_STAGE_STATUSES, DONE_STAGE_STATUSES, StageStatus
from conversations.turns import flags, languages
from conversations.turns.models import chosen_of
from ieim.administration import selectors as administration
from ieim.pipeline import contract as contracts
from ieim.pipeline.canonical import digest
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import gate
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.reply import fallback, situation, template
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.reply.answering import rearranges
from ieim.pipeline.runner import compose
from ieim.pipeline.stages.base import Context
from ieim.pipeline.topology import ANSWERING, CLASSIFY, FIRST, FLOW

Decision = dict[str, Any]
RUN_IDS = frozenset({"session_id", "response_id"})


@dataclass(frozen=True, slots=True)
class Replay:
    """What was decided and what would be decided now; equal hashes mean nothing has changed.

    ``changes`` are sentences, in the order of the turn. Hashes are lower-case hex SHA-256 over RFC
    8785 bytes.
    """

    stored_sha256: str
    replayed_sha256: str
    changes: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether every decision is what it was."""
        return self.stored_sha256 == self.replayed_sha256


def replay(turn: Turn) -> Replay:
    """Judge every stored attempt of ``turn`` again. Reads only."""
    release = languages.release_of(turn)
    stored: list[Decision] = []
    again: list[Decision] = []
    changes: list[str] = []
    state: dict[str, Any] = {"session_id": str(turn.session_id)}
    outputs: dict[str, Mapping[str, Any]] = {}
    # No response id may come twice in a session.
    attempts = Attempt.objects.filter(stage__turn__session_id=turn.session_id)
    used = list(attempts.exclude(response_id="").values_list("pk", "response_id"))
    grounds: datetime | None = None
    for stage in turn.stages.prefetch_related("attempts"):
        for attempt in stage.attempts.all():
            if grounds and stage.contract in ANSWERING and attempt.created_at < grounds:
                # Somebody has since decided an earlier stage: the input of this one is gone.
                continue
            before_it = (name for key, name in used if key < attempt.pk)
            context = context_of(turn, state, attempt=attempt.number, used=before_it)
            before, after = _stored(stage, attempt), _judged(turn, stage, attempt, context)
            stored.append(before)
            again.append(after)
            changes += _differences(before, after, attempt)
        if StageStatus(stage.status) in DONE_STAGE_STATUSES and stage.state_merge is not None:
            state |= stage.state_merge
            outputs[stage.contract] = stage.output or {}
        if StageStatus(stage.status) in DECIDED_STAGE_STATUSES:
            grounds = max(filter(None, (grounds, stage.finished_at)), default=None)
    if hasattr(turn, "reply") and turn.reply.origin != ReplyOrigin.STAFF.value:
        # The reply is not the model's to say: it is made again from the stages' own outputs.
        context = replace(
            Context(1, turn.text, state, release, entities=_entities(turn)),
            shown_text=shown_text_of(turn, outputs),
        )
        stored.append({"reply": turn.reply.body})
        language = languages.reply_language(turn)
        original = replies.Reply.from_dict(turn.reply.body)
        classified = outputs.get(CLASSIFY)
        known = situation.situation_of(chosen_of(turn), classified, release)
        listed = situation.again(original.situation, known, release)
        if listed is not None and listed.leads:
            event = release.situations[listed.key]
            led = [(source.agency_id, source.service_key) for source in original.sources]
            first = release.first_steps(event)
            # Which of the first ones leads is the search's to say.
            key = next((key for key in led if key in first), first[0])
            reply = situation.lead(event, key, release, language)
        elif turn.reply.body["kind"] == "outside":
            # That no service is near enough is the search's to say.
            reply = replies.in_language(replies.outside(release), language, release)
        else:
            reply = compose(outputs, context, language=language, chosen=chosen_of(turn))
        # Notices, the topic of the conversation, uncovered parts and what comes next are taken
        # over: they depend on the moment, on other turns and on the search, and none of them is a
        # decision.
        complete = replace(
            reply,
            notices=original.notices,
            still_about=original.still_about,
            uncovered=original.uncovered,
            next_services=original.next_services,
            situation=listed,
            deadline_days=original.deadline_days,
            counted_from=original.counted_from,
        )
        if rearranges(original, complete, release):
            # Which passages lead, and which card, is the search's to say too.
            made = {card.source: card for card in complete.cards}
            complete = replace(
                complete,
                lead=original.lead,
                sections=original.sections,
                unsaid=original.unsaid,
                cards=tuple(
                    replace(made[led.source], sections=led.sections) for led in original.cards
                ),
            )
        again.append({"reply": complete.as_dict()})
        if stored[-1] != again[-1]:
            changes.append("The reply would be another one.")
    return Replay(digest(stored), digest(again), tuple(changes))


def context_of(
    turn: Turn,
    state: Mapping[str, Any],
    *,
    attempt: int = 1,
    used: Iterable[str] = (),
    as_seen: bool = True,
) -> Context:
    """Return what an answer to ``turn`` is judged against, as the runner judged it.

    ``state`` is the ``cached_state``, ``used`` the session's response ids until then. ``as_seen``
    is for a model, which was given the redacted text; a person reads, and quotes, the text itself.
    """
    release = languages.release_of(turn)
    return Context(
        attempt=attempt,
        user_prompt=turn.text,
        cached_state=dict(state),
        release=release,
        labels={name: frozenset(codes) for name, codes in release.labels.items()},
        used_response_ids=frozenset(used),
        redacted=prepare(turn.text) if as_seen else None,
        entities=_entities(turn),
    )


def shown_text_of(turn: Turn, contracts: Collection[str]) -> str | None:
    """Return what is shown in place of the free text of one of ``contracts``; None for that text
    itself, a person's or a model's."""
    replying = [stage.id for stage in FLOW if stage.reply and stage.id in contracts]
    stages = turn.stages.filter(contract__in=replying, status__in=DONE_STAGE_STATUSES)
    return fallback.shown_text(next((stage.result for stage in stages if stage.result), None))


def _entities(turn: Turn) -> dict[str, str]:
    """Return what triage has found in the message, by type."""
    extract = turn.stages.filter(contract=template.EXTRACT, status__in=DONE_STAGE_STATUSES).first()
    return template.entities_by_type(extract.output if extract else None)


def _stored(stage: Stage, attempt: Attempt) -> Decision:
    # One that is recorded may have findings: it is the last of its stage.
    latest = max(each.pk for each in stage.attempts.all())
    passed = not attempt.findings or (stage.status in _BY_MODEL and attempt.pk == latest)
    return _decision(
        stage,
        attempt,
        attempt.findings,
        stage.output if passed else None,
        stage.result if passed else None,
    )


_BY_MODEL = frozenset({StageStatus.PASSED.value, StageStatus.FALLBACK.value})


def _judged(turn: Turn, stage: Stage, attempt: Attempt, context: Context) -> Decision:
    answer = ModelAnswer(
        raw=bytes(attempt.raw).decode("utf-8", "surrogatepass"),
        finish_reason=attempt.finish_reason or None,
        refusal=bytes(attempt.refusal).decode("utf-8", "surrogatepass") or None,
    )
    sent = json.loads(attempt.asked_text) if attempt.asked else None
    context = replace(context, request=sent)
    judgement = gate.judge(contracts.load(stage.contract), answer, context)
    # Budgets are counted outside the gate, with limits of that day: their findings are kept.
    judgement = judgement.stopped_by(
        Finding(Code(found["code"]), found["path"], found["message"])
        for found in attempt.findings
        if found["code"].startswith("budget.")
    )
    judgement, result = fallback.settle(
        contracts.load(stage.contract),
        judgement,
        context,
        risks=flags.of_rules(turn),
        key_patterns=settings.IEIM_MODEL["KEY_PATTERNS"],
        own_words=_own_words(stage, judgement),
    )
    return _decision(
        stage,
        attempt,
        [finding.as_dict() for finding in judgement.findings],
        None if judgement.state_merge is None else judgement.output,
        result,
    )


def _own_words(stage: Stage, judgement: Judgement) -> bool:
    """Whether the administration showed a model's own words at that time."""
    said = (judgement.output or {}).get("assistantReply")
    return stage.result is None and (stage.output or {}).get("assistantReply") == said


def _decision(
    stage: Stage,
    attempt: Attempt,
    findings: list[Any],
    output: Mapping[str, Any] | None,
    result: Mapping[str, Any] | None,
) -> Decision:
    # A stage that a person overrode keeps their output, not this attempt's.
    by_model = stage.status in {*_BY_MODEL, StageStatus.NEEDS_REVIEW.value}
    if stage.contract == FIRST and output is not None and result:
        # Until 0.2 the stage had what is shown as guidance in place of the model's words.
        output, result = {**output, "assistantReply": result["text"]}, None
    return {
        "stage": stage.contract,
        "round": attempt.round,
        "attempt": attempt.number,
        "findings": [[finding["code"], finding["path"]] for finding in findings],
        "output": {name: value for name, value in output.items() if name not in RUN_IDS}
        if by_model and output is not None
        else None,
        "result": result if by_model else None,
    }


def _differences(before: Decision, after: Decision, attempt: Attempt) -> list[str]:
    name = f"{before['stage']}, attempt {before['attempt']}"
    contract = contracts.load(before["stage"], administration.current().persona)
    found = []
    if attempt.contract_sha256 != contract.schema_sha256:
        found.append(f"{name}: the contract has changed since.")
    if attempt.prompt_sha256 != contract.prompt_sha256:
        found.append(f"{name}: the prompt has changed since.")
    if before["findings"] != after["findings"]:
        found.append(f"{name}: was {_codes(before)}, is now {_codes(after)}.")
    elif before != after:
        found.append(f"{name}: the answer is read otherwise.")
    return found


def _codes(decision: Decision) -> str:
    return ", ".join(f"{code} at {path or '/'}" for code, path in decision["findings"]) or "passed"
