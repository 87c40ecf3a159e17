"""The runner: the control flow of a turn.

Runs the stages of :mod:`ieim.pipeline.topology` one after the other with triage beside them, as far
as somebody needs it, and stops at the first stage of the flow that fails closed or abstains.
Everything is stored as it happens, and a stage that the store has is not called again: a second run
of a turn resumes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from ieim.pipeline import choosing, policy
from ieim.pipeline.attempts import Engine, TurnStages
from ieim.pipeline.kinds import SURE, WANTS_PERSON
from ieim.pipeline.message.risk import PERSON_WANTED, Risk
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import ModelUnavailable
from ieim.pipeline.reply import marks, reply, situation
from ieim.pipeline.reply.answering import lead_with_answer
from ieim.pipeline.stages.base import Context
from ieim.pipeline.talk import Reading, read
from ieim.pipeline.topology import FIRST, FLOW, SESSION_END, STAGES
from ieim.pipeline.work import (
    Answered,
    Held,
    Key,
    NeedsReview,
    Outcome,
    Output,
    Stopped,
    Store,
    Turn,
)

SETTLE = 2.0
"""Seconds that speculative calls get to fail as well, after a call of the flow had no answer."""


@dataclass(frozen=True, slots=True)
class Runner(Engine):
    """Runs turns, each in the thread that calls it."""

    def run(self, turn: Turn, store: Store) -> Outcome:
        """Run or resume ``turn``; returns or raises when flow and triage have both ended.

        Raises :class:`ieim.pipeline.ports.ModelUnavailable` where the model cannot be reached, for
        the one or the other; what was stored until then stays.
        """
        first = self._context(turn)
        reading = self._read(turn, first)
        stages = TurnStages(self, turn, store, first, reading.query)
        if reading.chosen and (chosen := self._choose(turn, reading, first, store)):
            turn = replace(turn, chosen=chosen, decided=True)
        try:
            ended, context = self._flow(turn, stages, first, reading.question)
        except ModelUnavailable:
            # Nobody waits for this run any more: time to learn which other calls cost nothing.
            stages.finish(settle=SETTLE)
            raise
        inputs = stages.inputs(context)
        outcome = (
            ended
            if isinstance(ended, Answered)
            else policy.stopped(*ended, inputs, language=turn.language)
        )
        if isinstance(outcome, NeedsReview):
            stages.run_triage()
            return outcome  # a person has the turn now: nothing that triage found would change it
        stages.finish()
        classified = stages.classified()
        risks = [*stages.reread(classified), *self._wish(first.seen)]
        signed = replace(turn, risks=risks)
        final = policy.apply(outcome, signed, inputs, classified, self.options.languages)
        if isinstance(final, Held | NeedsReview) and not turn.decided:
            stages.run_triage()
        return situation.complete(final, turn, inputs, classified)

    def _read(self, turn: Turn, context: Context) -> Reading:
        """Return what the message means; it chooses nothing where somebody has decided."""
        reading = read(context.seen, turn.history, self.shortlist, self.release)
        if not turn.decided and not turn.again:
            return reading
        return Reading(reading.query._replace(text=context.seen), context.seen)

    def _wish(self, text: str) -> list[Risk]:
        """Return the sign that a message wants a person, where its kind says so."""
        is_sure = self.shortlist.kinds(text).get(WANTS_PERSON, 0.0) >= SURE
        return [Risk(PERSON_WANTED, 0, len(text), "meaning")] if is_sure else []

    def _choose(
        self, turn: Turn, reading: Reading, context: Context, store: Store
    ) -> tuple[Key, ...]:
        """Store what a message takes by itself as the results of all stages, and return it; none
        where a stage has begun, or no valid results lead to it."""
        if store.attempts(FIRST) or store.done(FIRST) is not None:
            return ()
        keys = choosing.chosen_services(reading.chosen, self.release)
        services = [self.release.services[key] for key in keys]
        ids = (f"words-{turn.id}-{number}" for number in count())
        try:
            made = choosing.from_the_start(services, context, lambda: next(ids))
        except choosing.NotOffered:
            return ()
        store.choose(made, reading.chosen, reading.options)
        return reading.chosen

    def triage(self, turn: Turn, store: Store) -> None:
        """Run what is missing of triage for ``turn``, whose flow does not run meanwhile.

        Raises :class:`ieim.pipeline.ports.ModelUnavailable` where no answer could be had for one of
        the contracts; what was stored until then stays.
        """
        first = self._context(turn)
        stages = TurnStages(self, turn, store, first, self._read(turn, first).query)
        stages.run_triage()
        stages.require_triage()

    def _flow(
        self, turn: Turn, stages: TurnStages, context: Context, question: str
    ) -> tuple[Answered | tuple[str, Stopped], Context]:
        """Return the reply, or the stage that stopped, with the context of the last stage;
        ``context`` is that of the first, ``question`` the one that the reply answers."""
        outputs: dict[str, Output] = {}
        stage_id = FIRST
        if any(not sign.weak for sign in stages.risks):
            stages.start_triage()
        elif stages.risks or turn.in_danger:
            stages.start_classify()
        while stage_id != SESSION_END:
            done = stages.run(stage_id, context)
            if isinstance(done, Stopped):
                return (stage_id, done), context
            outputs[stage_id], merge = done
            context = replace(context, cached_state={**context.cached_state, **merge})
            following = STAGES[stage_id].legal_next(outputs[stage_id], context)
            if following is None:
                raise RuntimeError(f"{stage_id} passed without a legal next step")
            stage_id = following
            if stage_id != SESSION_END and not turn.chosen:
                stages.start_classify()
        text = stages.shown_text(next(reversed(outputs)))
        context = replace(context, entities=stages.entities(), shown_text=text)
        composed, inputs = (
            compose(outputs, context, language=turn.language, chosen=turn.chosen),
            stages.inputs(context),
        )
        composed = marks.mark_continuation(composed, inputs)
        composed = marks.mark_deadline(marks.mark_next(composed, inputs), inputs)
        composed = lead_with_answer(
            marks.in_order(composed, inputs), replace(inputs, text=question)
        )
        return Answered(marks.mark_uncovered(composed, inputs)), context

    def _context(self, turn: Turn) -> Context:
        return Context(
            attempt=1,
            user_prompt=turn.text,
            cached_state={"session_id": turn.session_id},
            release=self.release,
            labels=self.release.label_codes,
            redacted=prepare(turn.text),
        )


def compose(
    outputs: Mapping[str, Output],
    context: Context,
    *,
    language: str,
    chosen: Sequence[Key] = (),
) -> reply.Reply:
    """Return the reply that the gated answers of all stages make up: that of the last one.

    ``language`` is the citizen's, empty for the one that the knowledge is written in. ``chosen``
    are the services that the citizen has chosen: of several of one agency no stage has the reply.
    """
    last = next(stage for stage in reversed(FLOW) if stage.reply and stage.id in outputs)
    assert last.reply is not None  # noqa: S101  # just looked for
    several = choosing.reply_about_several(chosen, outputs, context)
    return reply.in_language(several or last.reply(outputs, context), language, context.release)
