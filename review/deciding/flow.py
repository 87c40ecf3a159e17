"""What a turn's stages lead to: the reply, or the stage that is asked next. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from conversations.models import Attempt, Stage, Turn
from conversations.record.replay import context_of
from conversations.states import DONE_STAGE_STATUSES, StageStatus
from conversations.turns import flags, languages
from ieim.knowledge import selectors as knowledge
from ieim.pipeline import policy
from ieim.pipeline.findings import Finding
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.runner import compose
from ieim.pipeline.stages.base import Context, Output
from ieim.pipeline.topology import ANSWERING, FIRST, ORDER, SESSION_END, STAGES

Answers = Mapping[str, tuple[Output, Output]]
"""``(output, state_merge)`` by contract."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where a turn gets to with the answers that it has: a ``reply``, or the ``waiting`` stage."""

    reply: Reply | None
    waiting: str


def done(turn: Turn) -> dict[str, tuple[Output, Output]]:
    """Return the answers of the stages of ``turn`` that are done."""
    return {
        stage.contract: (stage.output, stage.state_merge)
        for stage in turn.stages.all()
        if StageStatus(stage.status) in DONE_STAGE_STATUSES
        and stage.output is not None
        and stage.state_merge is not None
    }


def context_for(
    turn: Turn, contract: str, *, attempt: Attempt | None = None, as_seen: bool = False
) -> Context:
    """Return what an answer of ``contract`` is judged against: the stages before it, as they are.

    For a stored ``attempt`` the response ids are those before it, else all of the session.
    """
    ids = Attempt.objects.filter(stage__turn__session_id=turn.session_id).exclude(response_id="")
    if attempt is not None:
        ids = ids.filter(pk__lt=attempt.pk)
    return context_of(
        turn,
        _state(turn, {k: v for k, v in done(turn).items() if _before(k, contract)}),
        attempt=1 if attempt is None else attempt.number,
        used=ids.values_list("response_id", flat=True),
        as_seen=as_seen,
    )


def follow(turn: Turn, answers: Answers | None = None) -> Way:
    """Return where the turn gets to, with ``answers`` put in the place of those that are stored.

    Stages after one that is put in place are asked again, so what is stored of them does not count.
    """
    put = answers or {}
    stored = {k: v for k, v in done(turn).items() if all(_before(k, name) for name in put)}
    known = stored | dict(put)
    context = context_of(turn, _state(turn, {}))
    outputs: dict[str, Output] = {}
    stage_id = FIRST
    while stage_id != SESSION_END:
        if stage_id not in known:
            return Way(None, stage_id)
        outputs[stage_id], merge = known[stage_id]
        context = replace(context, cached_state={**context.cached_state, **merge})
        following = STAGES[stage_id].legal_next(outputs[stage_id], context)
        if following is None:
            return Way(None, stage_id)
        stage_id = following
    return Way(compose(outputs, context, language=languages.told(turn)), SESSION_END)


def holds(turn: Turn) -> list[Finding]:
    """Return why policy holds the reply to a turn, as far as its triage is known."""
    release = knowledge.release(turn.release_number)
    triaged = {name: output for name, (output, _) in done(turn).items() if name not in ANSWERING}
    return [
        *policy.decide(flags.of_rules(turn), triaged, release.labels),
        *policy.language(turn.text, languages.supported(release)),
    ]


def stage_of(turn: Turn, contract: str) -> Stage | None:
    """Return a turn's stage, None for one that has not run."""
    return turn.stages.filter(contract=contract).first()


def _before(contract: str, other: str) -> bool:
    return contract in ANSWERING and ORDER[contract] < ORDER[other]


def _state(turn: Turn, answers: Answers) -> dict[str, Any]:
    state: dict[str, Any] = {"session_id": str(turn.session_id)}
    for contract in sorted(answers, key=ORDER.__getitem__):
        state |= answers[contract][1]
    return state
