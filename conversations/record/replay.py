"""Replay: judging a turn's stored answers by today's gate.

Every attempt is stored as it was received, so the gate can judge it again with the same release,
state and text. Hashes of decisions contain no time and no id of a run: two databases that hold the
same conversation have the same hash.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from conversations.models import Attempt, ReplyOrigin, Stage, Turn
from conversations.states import DECIDED_STAGE_STATUSES, DONE_STAGE_STATUSES, StageStatus
from conversations.turns import flags, languages
from ieim.administration import selectors as administration
from ieim.knowledge import selectors as knowledge
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
    """The stored decisions and those of today; equal hashes mean that nothing has changed.

    ``changes`` are sentences, in the order of the turn. Hashes are lower-case hex SHA-256 over RFC
    8785 bytes.
    """

    stored_sha256: str
    replayed_sha256: str
    changes: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether every decision is the stored one."""
        return self.stored_sha256 == self.replayed_sha256


def replay(turn: Turn) -> Replay:
    """Judge every stored attempt of ``turn`` again. Reads only."""
    release = languages.release_of(turn)
    first = knowledge.release(turn.first_release) if turn.first_release else release
    stored: list[Decision] = []
    replayed: list[Decision] = []
    changes: list[str] = []
    state: dict[str, Any] = {"session_id": str(turn.session_id)}
    outputs: dict[str, Mapping[str, Any]] = {}
    # No response id may come twice in a session.
    attempts = Attempt.objects.filter(stage__turn__session_id=turn.session_id)
    response_ids = list(attempts.exclude(response_id="").values_list("pk", "response_id"))
    decided_at = turn.renewed_at  # what was asked of an earlier release is gone likewise
    for stage in turn.stages.prefetch_related("attempts"):
        for attempt in stage.attempts.all():
            if decided_at and stage.contract in ANSWERING and attempt.created_at < decided_at:
                # Somebody has since decided an earlier stage: the input of this one is gone.
                continue
            used = (response_id for pk, response_id in response_ids if pk < attempt.pk)
            context = context_of(turn, state, attempt=attempt.number, used=used)
            if turn.renewed_at and attempt.created_at < turn.renewed_at:  # of triage
                context = replace(context, release=first, labels=first.label_codes)
            stored.append(_stored(stage, attempt))
            replayed.append(_judged(turn, stage, attempt, context))
            changes += _differences(stored[-1], replayed[-1], attempt)
        if StageStatus(stage.status) in DONE_STAGE_STATUSES and stage.state_merge is not None:
            state |= stage.state_merge
            outputs[stage.contract] = stage.output or {}
        if StageStatus(stage.status) in DECIDED_STAGE_STATUSES:
            decided_at = max(filter(None, (decided_at, stage.finished_at)), default=None)
    if hasattr(turn, "reply") and turn.reply.origin != ReplyOrigin.STAFF.value:
        context = replace(
            Context(1, turn.text, state, release, entities=_entities(turn)),
            shown_text=shown_text_of(turn, outputs),
        )
        stored.append({"reply": turn.reply.body})
        replayed.append({"reply": _reply(turn, outputs, context).as_dict()})
        if stored[-1] != replayed[-1]:
            changes.append("The reply would be another one.")
    return Replay(digest(stored), digest(replayed), tuple(changes))


def _reply(turn: Turn, outputs: Mapping[str, Mapping[str, Any]], context: Context) -> replies.Reply:
    """Return the reply to ``turn``, composed again from the outputs of its stages."""
    release, language = context.release, languages.reply_language(turn)
    original = replies.Reply.from_dict(turn.reply.body)
    current = situation.situation_of(turn.chosen_services, outputs.get(CLASSIFY), release)
    checklist = situation.again(original.situation, current, release)
    if checklist is not None and checklist.leads:
        event = release.situations[checklist.key]
        cited = [(source.agency_id, source.service_key) for source in original.sources]
        first_steps = release.first_steps(event)
        # Which of the first steps leads was decided by the search.
        key = next((key for key in cited if key in first_steps), first_steps[0])
        reply = situation.lead(event, key, release, language)
    elif turn.reply.body["kind"] == "outside":
        # That no service is near enough was decided by the search.
        reply = replies.in_language(replies.outside(release), language, release)
    else:
        reply = compose(outputs, context, language=language, chosen=turn.chosen_services)
    # Notices, the topic of the conversation, uncovered parts and what comes next are copied: they
    # depend on the moment, on other turns and on the search, and none of them is a decision.
    reply = replace(
        reply,
        notices=original.notices,
        still_about=original.still_about,
        uncovered=original.uncovered,
        next_services=original.next_services,
        situation=checklist,
        deadline_days=original.deadline_days,
        counted_from=original.counted_from,
    )
    if rearranges(original, reply, release):
        # Which passages lead, and which card, was decided by the search too.
        cards = {card.source: card for card in reply.cards}
        reply = replace(
            reply,
            lead=original.lead,
            sections=original.sections,
            unsaid=original.unsaid,
            cards=tuple(
                replace(cards[card.source], sections=card.sections) for card in original.cards
            ),
        )
    return reply


def context_of(
    turn: Turn,
    state: Mapping[str, Any],
    *,
    attempt: int = 1,
    used: Iterable[str] = (),
    as_seen: bool = True,
) -> Context:
    """Return the context in which the runner judged an answer to ``turn``.

    ``state`` is the ``cached_state``, ``used`` the session's response ids until then. ``as_seen``
    is for a model, which was sent the redacted text; a person quotes the text itself.
    """
    release = languages.release_of(turn)
    return Context(
        attempt=attempt,
        user_prompt=turn.text,
        cached_state=dict(state),
        release=release,
        labels=release.label_codes,
        used_response_ids=frozenset(used),
        redacted=prepare(turn.text) if as_seen else None,
        entities=_entities(turn),
    )


def shown_text_of(turn: Turn, contracts: Collection[str]) -> str | None:
    """Return the text that is shown in place of the free text of one of ``contracts``.

    None where the free text itself is shown, a person's or a model's.
    """
    replying = [stage.id for stage in FLOW if stage.reply and stage.id in contracts]
    stages = turn.stages.filter(contract__in=replying, status__in=DONE_STAGE_STATUSES)
    return fallback.shown_text(next((stage.result for stage in stages if stage.result), None))


def _entities(turn: Turn) -> dict[str, str]:
    """Return the entities that triage has extracted from the message, by type."""
    extract = turn.stages.filter(contract=template.EXTRACT, status__in=DONE_STAGE_STATUSES).first()
    return template.entities_by_type(extract.output if extract else None)


def _stored(stage: Stage, attempt: Attempt) -> Decision:
    # The last attempt of a stage may have findings and count all the same.
    latest = max(attempt.pk for attempt in stage.attempts.all())
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
        Finding(Code(finding["code"]), finding["path"], finding["message"])
        for finding in attempt.findings
        if finding["code"].startswith("budget.")
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
    text = (judgement.output or {}).get("assistantReply")
    return stage.result is None and (stage.output or {}).get("assistantReply") == text


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
        # Up to 0.2 the output of this stage had the guidance in place of the model's words.
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


def _differences(stored: Decision, replayed: Decision, attempt: Attempt) -> list[str]:
    name = f"{stored['stage']}, attempt {stored['attempt']}"
    contract = contracts.load(stored["stage"], administration.current().persona)
    sentences = []
    if attempt.contract_sha256 != contract.schema_sha256:
        sentences.append(f"{name}: the contract has changed since.")
    if attempt.prompt_sha256 != contract.prompt_sha256:
        sentences.append(f"{name}: the prompt has changed since.")
    if stored["findings"] != replayed["findings"]:
        sentences.append(f"{name}: was {_codes(stored)}, is now {_codes(replayed)}.")
    elif stored != replayed:
        sentences.append(f"{name}: the answer is read otherwise.")
    return sentences


def _codes(decision: Decision) -> str:
    return ", ".join(f"{code} at {path or '/'}" for code, path in decision["findings"]) or "passed"
