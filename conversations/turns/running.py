"""Running one turn: claim it, run the pipeline over it, store how it ended."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from conversations import logged, ports, selectors, traced
from conversations.chat import wording
from conversations.models import Reply, ReplyOrigin, Stage, Turn
from conversations.outages import services as outages
from conversations.person import reach
from conversations.record.calls import tokens_per_byte
from conversations.states import TurnState
from conversations.turns import (
    choosing,
    executor,
    flags,
    help_lines,
    languages,
    moves,
    resuming,
    triage,
)
from conversations.turns.leases import Lease, LeaseLost, leases, renew_lease, take_lease
from conversations.turns.semaphore import SPARE, SharedModel, SharedSemaphore
from conversations.turns.store import TurnStore, close_open_choice
from ieim.administration import selectors as administration
from ieim.knowledge.notices import selectors as notices
from ieim.knowledge.vectors import shortlist_for
from ieim.llm.factory import BreakerModel, build_model
from ieim.pipeline import work
from ieim.pipeline.budget import Budget
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Cause, Model, ModelAnswer, ModelRequest, ModelUnavailable
from ieim.pipeline.reply import situation
from ieim.pipeline.runner import Runner
from ieim.pipeline.topology import REPLY
from ieim.pipeline.work import Abstained, Answered, Held, NeedsReview

logger = logging.getLogger(__name__)

STAGE_DEADLINES = 2.5
"""How many calls' deadlines a stage may take with all its tries and pauses."""
BACKOFF = (0.5, 2.0)
"""Seconds before the second and the third try of a call, give or take a half."""


def backoff(number: int) -> float:
    """Return the seconds to wait after the ``number``-th try, with jitter."""
    base = BACKOFF[min(number, len(BACKOFF)) - 1]
    return base * random.uniform(0.5, 1.5)  # noqa: S311  # jitter, no secret


@cache
def _behind_breaker() -> BreakerModel:
    return BreakerModel(build_model(settings.IEIM_MODEL), clock=time.monotonic)


def breaker_is_open() -> bool:
    """Whether this process leaves the model alone for now; not where it has never asked it."""
    return _behind_breaker.cache_info().currsize > 0 and _behind_breaker().is_open


class TracedModel:
    """The deployment's model, each call of it a span: of the stage that waits for it, or of the
    turn where it is made ahead of its stage."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.reads = model.name, model.reads

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        stage = request.contract
        about: traced.Attributes = {"ieim.stage": stage, "ieim.attempt": request.attempt}
        with traced.span(f"model {stage}", about, kind="CLIENT", part=f"stage {stage}") as note:
            try:
                answer = self._model.complete(request, deadline=deadline)
            except ModelUnavailable as error:
                note({"ieim.cause": error.cause.value})
                raise
            counts = {"input": answer.prompt_tokens, "output": answer.completion_tokens}
            note({f"gen_ai.usage.{kind}_tokens": count or 0 for kind, count in counts.items()})
            return answer


class SwitchedOffModel:
    """The deployment's model while an administrator has switched it off: nothing is asked."""

    def __init__(self, model: Model) -> None:
        self.name, self.reads = model.name, model.reads

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        message = "An administrator has switched the model off."
        raise ModelUnavailable(message, passing=False, cause=Cause.OFF)


def current_model() -> Model:
    """Return the deployment's model, for one run: what is under way when it is switched off ends
    as it began."""
    model = configured_model()
    return SwitchedOffModel(model) if administration.current().is_off("model") else model


@cache
def configured_model() -> Model:
    """Return the deployment's model, built once a process, whether it is switched off or not."""
    model: Model = TracedModel(_behind_breaker())
    most = settings.IEIM_MODEL["CALLS"]
    if most is None:
        return model
    return SharedModel(model, SharedSemaphore(most, keep=settings.IEIM_MODEL["DEADLINE"] + SPARE))


def options(*, persona: str = "", own_words: bool = False) -> work.Options:
    """Return the pipeline's options from the settings; ``persona`` and ``own_words`` are the
    administration's."""
    config = settings.IEIM_MODEL
    return work.Options(
        temperature=config["TEMPERATURE"],
        deadline=config["DEADLINE"],
        stage_deadline=config["DEADLINE"] * STAGE_DEADLINES,
        budget=Budget(**config["BUDGET"]),
        languages=frozenset(config["LANGUAGES"]),
        written_in=languages.written_in(),
        key_patterns=config["KEY_PATTERNS"],
        persona=persona,
        speculative=config["AHEAD"],
        own_words=own_words,
        overrides=config["OVERRIDES"],
    )


def run_turn(*, turn_id: UUID, model: Model | None = None, directive: str = "") -> None:
    """Run or resume a turn to its end; returns at once when another worker has it or it is done.

    ``directive`` is told to every stage of this run, before the notices; who resumes it later is
    not told. Never raises for what a model or a citizen can do. An error of ours is logged, and the
    turn is queued again a few times before a person gets it.
    """
    turn = _claim(turn_id)
    if turn is None:
        return
    with logged.about(session=turn.session_id, turn=turn_id), traced.span("turn") as note:
        _run_claimed(turn, model, directive)
        note({"ieim.state": turn.state})


def _run_claimed(turn: Turn, model: Model | None, directive: str) -> None:
    turn_id, since = turn.pk, time.monotonic()
    try:
        with leases.holding(turn) as lease, executor.working:
            moves.notify_pages(turn)
            _run(turn, model, lease, directive)
        logger.info("turn %s: %s after %.1f s", turn_id, turn.state, time.monotonic() - since)
    except LeaseLost:
        logger.warning("turn %s: the lease was lost; this run stops", turn_id)
    except Exception:  # Whatever it is: the turn must neither be lost nor run for ever.
        logger.exception("turn %s: the run failed", turn_id)
        try:
            moves.run_failed(turn=turn)
        except LeaseLost:
            logger.warning("turn %s: the lease was lost; this run stops", turn_id)


def _claim(turn_id: UUID) -> Turn | None:
    """Take the turn's lease, and keep no connection while it waits for its place."""
    with executor.claiming:
        turn = take_lease(turn_id=turn_id)
        executor.release_connection()
    return turn


def _pipeline(
    turn: Turn, release: Release, model: Model | None, calls: executor.ThreadExecutor
) -> Runner:
    organisation = administration.current()
    settled = options(persona=organisation.persona, own_words=organisation.own_words)
    words = wording.words(turn.language or languages.written_in())
    settled = replace(settled, contacts=partial(reach.contacts, words, turn, release))
    if settings.IEIM_MODEL["BASE_URL"]:
        settled = replace(settled, tokens_per_byte=tokens_per_byte(turn.created_at))
    return Runner(
        model=model or current_model(),
        shortlist=shortlist_for(release),
        release=release,
        clock=time.monotonic,
        pause=time.sleep,
        backoff=backoff,
        options=settled,
        executor=calls,
    )


def _message(
    turn: Turn, release: Release, stages: Iterable[Stage], directive: str = ""
) -> work.Turn:
    instructions = (directive, notices.runtime_directive(release, timezone.now()))
    return work.Turn(
        id=str(turn.pk),
        session_id=str(turn.session_id),
        text=turn.text,
        today=timezone.localdate(turn.created_at),
        history=selectors.history(turn),
        risks=flags.of_rules(turn),
        runtime_directive="\n".join(filter(None, instructions)) or None,
        language=languages.reply_language(turn),
        decided=resuming.origin_of(turn, stages) is not ReplyOrigin.MODEL,
        in_danger=help_lines.in_danger(turn),
        again=hasattr(turn, "replaces"),
        chosen=turn.chosen_services,
    )


def run_triage(*, turn_id: UUID, model: Model | None = None) -> None:
    """Run what is missing of the triage of a turn that a person will read.

    Returns at once where nothing is, or another worker has it. After an outage, or an error of
    ours, it is tried again later: whoever waits for a person waits for nothing of it.
    """
    with executor.claiming:
        store = triage.claim(turn_id=turn_id)
        executor.release_connection()
    if store is None:
        return
    with logged.about(session=store.turn.session_id, turn=turn_id), traced.span("triage"):
        _triage_claimed(store, model)


def _triage_claimed(store: triage.TriageStore, model: Model | None) -> None:
    turn = store.turn
    turn_id = turn.pk
    calls = executor.ThreadExecutor(Lease(turn.pk), awaited=False)
    try:
        with executor.working:
            release = languages.release_of(turn)
            pipeline = _pipeline(turn, release, model, calls)
            pipeline.triage(_message(turn, release, turn.stages.all()), store)
            store.complete()
    except LeaseLost:
        logger.warning("turn %s: the claim on its triage was lost", turn_id)
    except ModelUnavailable as error:
        logger.warning("turn %s: no triage, the model is unavailable: %s", turn_id, error)
        store.postpone()
    except Exception:  # an error of ours: the item stays without facts
        logger.exception("turn %s: triage failed", turn_id)
        store.postpone()


def _run(turn: Turn, model: Model | None, lease: Lease, directive: str) -> None:
    release = languages.release_of(turn)
    pipeline = _pipeline(turn, release, model, executor.ThreadExecutor(lease))
    store = TurnStore(turn, count_day=pipeline.options.budget.day is not None)
    message = _message(turn, release, store.stages, directive)
    try:
        outcome = pipeline.run(message, store)
    except ModelUnavailable as error:
        logger.warning("turn %s: the model is unavailable: %s", turn.pk, error)
        moves.await_model(turn=turn, error=error)
        return
    if store.answered:
        outages.note_answer(turn)
    was_asked = any(item.get("offered") for item in message.history)
    if was_asked and not (
        isinstance(outcome, Answered | Held) and outcome.reply.kind == "guidance"
    ):
        close_open_choice(turn=turn)  # a question replaces it
    if isinstance(outcome, Answered) or (isinstance(outcome, Held) and turn.hold_waived):
        origin = resuming.origin_of(turn, store.stages)
        leave(turn=turn, outcome=outcome, origin=origin, model=pipeline.model)
        return
    if isinstance(outcome, Abstained):
        choosing.ask(turn=turn, outcome=outcome)
        return
    stage = outcome.stage if isinstance(outcome, NeedsReview) else REPLY
    codes = list(dict.fromkeys(finding.code.value for finding in outcome.findings))
    moves.give_to_person(turn=turn, stage=stage, codes=codes)


@transaction.atomic
def leave(*, turn: Turn, outcome: Answered | Held, origin: ReplyOrigin, model: Model) -> None:
    """Deliver a reply, or give it to a person where somebody has to agree to it first."""
    renew_lease(turn_id=turn.pk, lease=turn.lease)
    alone = (ReplyOrigin.MODEL, ReplyOrigin.INDEX, ReplyOrigin.CITIZEN_CHOICE)
    by_person = origin not in alone
    codes = list(ports.reviews().refresh_before_reply(turn_id=turn.pk, by_person=by_person))
    off = administration.current().agencies_off
    outcome = replace(outcome, reply=situation.without_offer(outcome.reply, off))
    if not by_person and {source.agency_id for source in situation.shown(outcome.reply)} & off:
        codes.append(Code.POLICY_SWITCHED_OFF.value)
    if codes:
        moves.give_to_person(turn=turn, stage=REPLY, codes=codes)
    else:
        deliver(turn=turn, outcome=outcome, origin=origin, model=model)


def deliver(*, turn: Turn, outcome: Answered | Held, origin: ReplyOrigin, model: Model) -> Reply:
    """Store the one reply of a turn that this run holds, inside the caller's transaction."""
    moves.move_turn(turn, TurnState.ANSWERED, unavailable_since=None)
    reply = outcome.reply
    if origin is ReplyOrigin.CITIZEN_CHOICE:
        # They have just named it themselves.
        reply = replace(reply, still_about="")
    if origin is ReplyOrigin.MODEL:
        origin = resuming.origin_of_words(reply, partial(languages.release_of, turn))
    stored = resuming.store_reply(turn=turn, reply=reply, origin=origin, model=model.name)
    flags.show_weak(turn)
    return stored
