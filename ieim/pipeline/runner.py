"""The runner: the only control flow of a turn.

Runs the stages of :mod:`ieim.pipeline.topology` one after the other and the three contracts of
triage beside them, stores everything as it happens, and stops at the first stage of the flow that
fails closed or abstains. A stage that the store knows as done is never asked again, so a second
delivery of the same turn resumes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ieim.pipeline import choosing, policy
from ieim.pipeline.attempts import Asking, extracted
from ieim.pipeline.calls.ahead import Calls
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Service
from ieim.pipeline.message import risk
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import Ranked
from ieim.pipeline.reply import guidance, reply
from ieim.pipeline.reply.parts import uncovered
from ieim.pipeline.reply.talk import going_on
from ieim.pipeline.stages.base import Context, selected_category
from ieim.pipeline.stages.multi_agency_answer import cited_services
from ieim.pipeline.tasks import Steps, Together
from ieim.pipeline.topology import FIRST, REPLY, SESSION_END, STAGES, TRIAGE
from ieim.pipeline.work import (
    Abstained,
    Answered,
    Held,
    NeedsReview,
    Outcome,
    Output,
    Stopped,
    Store,
    Turn,
)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a turn."""

    turn: Turn
    store: Store
    together: Together
    context: Context
    """Before anything has passed."""
    calls: Calls = field(default_factory=Calls)

    def triaged(self) -> dict[str, Output]:
        """Return what passed, by contract; what failed closed is in the store."""
        ended = {name: strand.result() for name, strand in self.calls.triage.items()}
        return {name: done[0] for name, done in ended.items() if not isinstance(done, Stopped)}


@dataclass(frozen=True, slots=True)
class Runner(Asking):
    """Runs turns, each in the thread that asks for it."""

    def run(self, turn: Turn, store: Store) -> Outcome:
        """Run or resume ``turn``; returns or raises only when flow and triage have both ended.

        Raises :class:`ieim.pipeline.ports.ModelUnavailable` when the model cannot be reached, for
        the one or the other; everything that was stored until then stays.
        """
        run = _Run(turn, store, Together(self.beside), self._context(turn))
        flow = run.together.add(self._flow(run))
        run.together.run()
        self.settle(store, run.calls)
        outcome, reached = flow.result()  # what went wrong with the flow is what is told
        if isinstance(outcome, NeedsReview):
            return outcome  # a person has the turn now: nothing that could come would change it
        triaged = run.triaged()
        holds = policy.decide(turn.risks, triaged, self.release.labels)
        foreign = policy.language(turn.text, self._read_in(turn, outcome))
        if isinstance(outcome, Abstained):
            # Who may be in danger is not asked to choose from a list.
            if turn.in_danger or any(hold.code is Code.POLICY_RISK for hold in holds):
                told = policy.beneath_help_lines() if turn.in_danger else []
                return NeedsReview(outcome.stage, (*told, *outcome.findings))
            return replace(outcome, findings=(*outcome.findings, *foreign))
        if foreign and not (holds or turn.decided or turn.in_danger):
            offered = self._instead(turn, reached, outcome.reply)
            if offered:
                return Abstained(REPLY, tuple(foreign), offered)
        if not (holds or turn.decided) and self._is_beside_help(turn, reached, outcome.reply):
            holds = policy.beneath_help_lines()
        holds += foreign
        return Held(outcome.reply, tuple(holds)) if holds else outcome

    def _flow(self, run: _Run) -> Steps[tuple[Answered | NeedsReview | Abstained, Context]]:
        """Run the stages; the context is that of the last one, with what has passed."""
        turn, context = run.turn, run.context
        outputs: dict[str, Output] = {}
        stage_id = FIRST
        if turn.risks or turn.in_danger:
            self._triage(run)
        while stage_id != SESSION_END:
            done = yield from self.stage(stage_id, turn, context, run.store, run.calls)
            if isinstance(done, Stopped):
                # Whoever gets the turn wants to know how urgent it is.
                self._triage(run)
                offered = self._offered(turn, context, done)
                if offered:
                    return Abstained(stage_id, done.findings, offered), context
                return NeedsReview(stage_id, done.findings), context
            outputs[stage_id], merge = done
            context = replace(context, cached_state={**context.cached_state, **merge})
            following = STAGES[stage_id].legal_next(outputs[stage_id], context)
            if following is None:
                raise RuntimeError(f"{stage_id} passed without a legal next step")
            stage_id = following
            if stage_id != SESSION_END:
                self._triage(run)
        # Where the reply names an entity, extract has ended: its stage was judged with it.
        context = replace(context, entities=extracted(run.store))
        said = compose(outputs, context, language=turn.language)
        inputs = self._inputs(turn, context)
        return Answered(uncovered(going_on(said, inputs), inputs)), context

    def _read_in(self, turn: Turn, outcome: Outcome) -> frozenset[str]:
        """Return the languages that a message may be in for its reply to be understood."""
        known = self.options.languages | self.release.languages
        guides = _guides(outcome)
        return known | ({turn.language} & guidance.languages(self.release) if guides else set())

    def _is_beside_help(self, turn: Turn, reached: Context, said: reply.Reply) -> bool:
        """Whether help lines stand above ``said``, which tells nothing to somebody in danger.

        Such is guidance that nothing can be done with the message, and any while somebody in
        danger waits for a person ("yes" is no thanks then); and what only goes on with the talk's
        service where the message has a sign of its own or they wait, and finds another by itself.
        """
        labels = self.release.labels.get("risk_flags", {})
        signs = bool(risk.shown(turn.risks, labels))
        if said.kind == "guidance":
            case = guidance.UNCLEAR if turn.again else self.shortlist.case(turn.text)
            return turn.in_danger or ((signs or turn.helped) and case in guidance.AT_A_LOSS)
        if not (said.still_about and (signs or turn.in_danger)):
            return False
        source = said.sources[0]
        about = self.release.services[source.agency_id, source.service_key]
        (own,), best = self.shortlist.evidence(self._inputs(turn, reached).text, [about])
        return own < best

    def _offered(self, turn: Turn, context: Context, stopped: Stopped) -> tuple[Service, ...]:
        """Return what the citizen can be asked instead of a person; nothing where it is no use."""
        if not stopped.abstained:
            return ()
        matching = [each.item for each in self._matching(turn, context)]
        return choosing.offers(matching, stopped.said, context)

    def _instead(self, turn: Turn, context: Context, said: reply.Reply) -> tuple[Service, ...]:
        """Return what a citizen in whose language nothing is can be asked instead of told ``said``.

        Nothing where words alone ranked: they tell little of a language that no entry is in.
        """
        matching = self._matching(turn, context)
        if not said.sources or not matching or any(each.meaning is None for each in matching):
            return ()
        cited = [self.release.services[s.agency_id, s.service_key] for s in said.sources]
        return choosing.offers([*cited, *(each.item for each in matching)], None, context)

    def _matching(self, turn: Turn, context: Context) -> list[Ranked[Service]]:
        """Return the services that match the message, best first."""
        inputs = self._inputs(turn, context)
        # Where nobody can tell whether the talk goes on: what either would lead to, in turns.
        queries = [inputs.text, inputs.query] if 0 < inputs.goes_on < 1 else [inputs.query]
        found = [
            self.shortlist.services(query, agencies=None, limit=self.options.limits["services"])
            for query in queries
        ]
        return [each for several in zip(*found, strict=True) for each in several if each.score > 0]

    def _triage(self, run: _Run) -> None:
        """Let the three contracts of triage go on beside what goes on; once a run."""
        for stage in TRIAGE if not run.calls.triage else ():
            steps = self.stage(stage.id, run.turn, run.context, run.store, run.calls)
            run.calls.triage[stage.id] = run.together.add(steps)

    def _context(self, turn: Turn) -> Context:
        return Context(
            attempt=1,
            user_prompt=turn.text,
            cached_state={"session_id": turn.session_id},
            release=self.release,
            labels={name: frozenset(codes) for name, codes in self.release.labels.items()},
            redacted=prepare(turn.text),
        )


def _guides(outcome: Outcome) -> bool:
    return isinstance(outcome, Answered) and outcome.reply.kind == "guidance"


def compose(outputs: Mapping[str, Output], context: Context, *, language: str) -> reply.Reply:
    """Return the reply that the gated answers of all stages make up.

    ``language`` is the citizen's, empty for the one that the knowledge is written in.
    """
    return reply.told_in(_reply(outputs, context), language, context.release)


def _reply(outputs: Mapping[str, Output], context: Context) -> reply.Reply:
    if "multi_agency_service_answer_v1" in outputs:
        output = outputs["multi_agency_service_answer_v1"]
        cited = cited_services(output, context)
        rules = outputs.get("service_select_v1", {}).get("template", {}).get("rules", "")
        return reply.render_several(output["assistantReply"], cited, context.release, rules=rules)
    if "service_select_v1" in outputs:
        output = outputs["service_select_v1"]
        agency_id = context.answering_agency or ""
        key = (agency_id, output["serviceSelection"]["serviceKey"])
        return reply.render_service(
            output["template"]["placeholders"],
            service=context.release.services[key],
            agency=context.release.agencies[agency_id],
            category_value=selected_category(context),
            entities=context.entities,
            rules=output["template"]["rules"],
        )
    return reply.render_guidance(outputs["judgement_v1"]["assistantReply"])
