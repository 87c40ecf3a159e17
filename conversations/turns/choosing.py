"""Asking the citizen back: what they are offered, their choice, and giving up waiting for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations import page_languages
from conversations.chat import wording
from conversations.models import Attempt, Takeover, Turn
from conversations.record.audited import CHOICE, STAGE
from conversations.record.replay import context_of
from conversations.states import DONE_STAGE_STATUSES, StageStatus, TurnState
from conversations.turns import events, flags, languages, moves, resuming
from conversations.turns.locking import NotInSession, locked_session
from conversations.turns.models import Choice, ChoiceOutcome
from conversations.turns.store import last_output, record_choice, reference, store_chosen
from ieim.pipeline import choosing
from ieim.pipeline.findings import Code
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.message.language import detected_code
from ieim.pipeline.reply.plain_text import first_sentence
from ieim.pipeline.stages import service_select
from ieim.pipeline.stages.base import Context, Output
from ieim.pipeline.topology import ANSWERING, ORDER
from ieim.pipeline.work import Abstained, Chosen, Key

NOT_OFFERED = gettext_noop(
    "This was not one of the choices. Please choose one of those that are shown."
)
ONLY_ONE = gettext_noop("Please choose one of those that are shown.")
AT_LEAST_ONE = gettext_noop("Choose at least one, or “None of these”.")
TOO_LATE = gettext_noop(
    "There is nothing to choose here any more. Look at your question to see what became of it."
)


class NothingToChoose(NotInSession):
    """The turn is not this session's, or it has no choice."""

    detail = "The citizen was not asked to choose anything here."


class ChoiceRefused(Exception):
    """The choice cannot be taken; nothing was changed. ``message`` is the sentence for the citizen.

    ``late`` says that the question has been answered or passed on meanwhile.
    """

    def __init__(self, message: str, *, late: bool) -> None:
        super().__init__(message)
        self.message = gettext(message)
        self.late = late


class NothingChosen(ChoiceRefused):
    """Neither an option nor "None of these"."""

    def __init__(self) -> None:
        super().__init__(AT_LEAST_ONE, late=False)


@transaction.atomic
def ask(*, turn: Turn, outcome: Abstained) -> None:
    """Ask the citizen of a running turn that this worker holds, or give it to a person.

    Once a turn: where they were asked before, or a caseworker has the conversation, a person gets
    it. Raises ``LeaseLost``.
    """
    codes = list(dict.fromkeys(finding.code.value for finding in outcome.findings))
    has_person = Takeover.objects.filter(session=turn.session_id, ended_at=None).exists()
    if has_person or Choice.objects.filter(turn=turn).exists():
        moves.give_to_person(turn=turn, stage=outcome.stage, codes=codes)
        return
    moves.move_turn(turn, TurnState.ASKING, unavailable_since=None)
    now = timezone.now()
    choice = Choice.objects.create(
        turn=turn,
        stage=outcome.stage,
        codes=codes,
        offered=[list(key) for key in _options(outcome)],
        several=outcome.several,
        asked_at=now,
        until=now + timedelta(minutes=settings.IEIM_CHOICE_MINUTES),
    )
    offered = [reference(option) for option in choice.offered]
    payload = {"stage": choice.stage, "codes": choice.codes, "offered": offered}
    events.record(turn, "turn.asking", payload, rows=[CHOICE.row(choice)])
    flags.show_weak(turn)


def _options(outcome: Abstained) -> list[Key]:
    situations = [("", situation.code) for situation in outcome.situations]
    return [*((service.agency, service.key) for service in outcome.offered), *situations]


@transaction.atomic
def choose(*, session_id: UUID, turn_id: UUID, numbers: Collection[int]) -> None:
    """Take a citizen's choice: the turn goes on with it, or to a person for None of these.

    ``numbers`` are options', from 1; none at all is "None of these".

    The same choice again changes nothing. Raises :class:`NothingToChoose`, :class:`ChoiceRefused`,
    and ``Session.DoesNotExist`` also for a session that was erased.
    """
    session = locked_session(session_id)
    turn = Turn.objects.select_for_update().filter(pk=turn_id, session=session).first()
    choice = None if turn is None else Choice.objects.filter(turn=turn).first()
    if turn is None or choice is None:
        raise NothingToChoose(str(turn_id))
    if not all(1 <= number <= len(choice.offered) for number in numbers):
        raise ChoiceRefused(NOT_OFFERED, late=False)
    if len(set(numbers)) > 1 and not choice.several:
        raise ChoiceRefused(ONLY_ONE, late=False)
    offered = [choice.offered[number - 1] for number in sorted(set(numbers))]
    selected = tuple((agency, key) for agency, key in offered)
    if turn.state != TurnState.ASKING.value:
        same = choice.outcome in (ChoiceOutcome.CHOSEN, ChoiceOutcome.NONE)
        if same and choice.services == selected:
            return
        raise ChoiceRefused(TOO_LATE, late=True)
    if selected:
        _chosen(turn, choice, selected)
    else:
        _refused(turn, choice, ChoiceOutcome.NONE, by="citizen")


def numbers_of(values: Sequence[str]) -> list[int]:
    """Return the options that a form's values name: their numbers, none for ``none`` alone.

    Raises :class:`ChoiceRefused`.
    """
    if list(values) == ["none"]:
        return []
    if not values:
        raise NothingChosen
    if all(len(value) == 1 and value in "123456789" for value in values):
        return [int(value) for value in values]
    raise ChoiceRefused(NOT_OFFERED, late=False)


def expire(*, now: datetime) -> None:
    """Give the turns to a person whose citizen has not chosen in time."""
    waiting = Choice.objects.filter(outcome=ChoiceOutcome.OPEN, until__lte=now)
    for turn_id in list(waiting.values_list("turn_id", flat=True)):
        with transaction.atomic():
            turn = Turn.objects.select_for_update().get(pk=turn_id)
            # Another sweeper, the citizen, or an erasure may have been here meanwhile.
            choice = waiting.filter(turn=turn).first()
            if choice is not None and turn.state == TurnState.ASKING.value:
                _refused(turn, choice, ChoiceOutcome.EXPIRED, by="system")


def _refused(turn: Turn, choice: Choice, outcome: ChoiceOutcome, *, by: str) -> None:
    resuming.stop_asking(turn=turn)
    record_choice(choice, outcome, by=by)
    moves.open_review(turn=turn, stage=choice.stage, codes=choice.codes)


def _chosen(turn: Turn, choice: Choice, selected: Sequence[Key]) -> None:
    release = languages.release_of(turn)
    results = choosing.results(
        [release.services[key] for key in choosing.chosen_services(selected, release)],
        _context(turn),
        lambda: f"citizen-{uuid4()}",
        of_model=_template(turn, choice),
    )
    # Stages that the choice skips had other input.
    contracts = [result.contract for result in results]
    void = resuming.void(turn, after=ORDER[contracts[0]] - 1, but=contracts)
    stages = [store_chosen(turn, result) for result in results]
    outcome = ChoiceOutcome.CHOSEN
    record_choice(choice, outcome, selected, by="citizen", stages=[*stages, *void])
    resuming.resume(turn=turn, since=TurnState.ASKING)


def results_of_staff(turn: Turn, service: Service) -> tuple[Chosen, ...]:
    """Return the results of all stages with which a person answers a turn with ``service``.

    Raises :class:`ieim.pipeline.choosing.NotOffered` where no valid results lead to it.
    """
    context = _context_with(turn, {"session_id": str(turn.session_id)})
    return choosing.from_the_start([service], context, lambda: f"staff-{uuid4()}")


@transaction.atomic
def put_service(*, turn: Turn, results: Sequence[Chosen]) -> None:
    """Put a person's :func:`results_of_staff` in the place of all stages of the flow, inside the
    caller's transaction; what ran elsewhere in the flow is void."""
    contracts = [result.contract for result in results]
    voided = resuming.void(turn, after=-1, but=contracts)
    stages = [store_chosen(turn, result, StageStatus.OVERRIDDEN) for result in results]
    resuming.withdraw_spans(stages)
    payload = {
        "stage": contracts[-1],
        "status": StageStatus.OVERRIDDEN.value,
        "void": [stage.contract for stage in voided],
        "through": contracts,
    }
    events.record(turn, "stage.replaced", payload, rows=[*map(STAGE.row, [*stages, *voided])])
    moves.notify_pages(turn)


def _template(turn: Turn, choice: Choice) -> Output | None:
    """Return the template with which the model would have answered, None where it had got none.

    Of a stage that has passed, because the citizen was asked about their language; else of the
    answer that abstained.
    """
    stage = turn.stages.filter(contract=service_select.STAGE.id).first()
    if stage is None:
        return None
    done = StageStatus(stage.status) in DONE_STAGE_STATUSES
    output = stage.output if done else last_output(stage)
    abstained = choice.stage == stage.contract
    return output["template"] if output is not None and (done or abstained) else None


def _context(turn: Turn) -> Context:
    """Return what a choice is judged against: the stages that are done, as they are."""
    state = {"session_id": str(turn.session_id)}
    for stage in turn.stages.filter(contract__in=ANSWERING).order_by("order"):
        if StageStatus(stage.status) in DONE_STAGE_STATUSES and stage.state_merge is not None:
            state |= stage.state_merge
    return _context_with(turn, state)


def _context_with(turn: Turn, state: dict[str, Any]) -> Context:
    ids = Attempt.objects.filter(stage__turn__session_id=turn.session_id).exclude(response_id="")
    return context_of(turn, state, used=ids.values_list("response_id", flat=True))


@dataclass(frozen=True, slots=True)
class OptionView:
    """What the citizen may choose; ``number`` counts from 1, ``line`` may be empty.

    A situation has no agency, its code as its ``service``, and the ``language`` that it is written
    in; of a service that is empty.
    """

    number: int
    agency: str
    service: str
    name: str
    agency_name: str
    line: str
    language: str = ""


Reason = Literal["unsure", "either", "language"]


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """The options that a citizen may choose from, ``several`` of them or one, and until when.

    ``reason``: the assistant is ``unsure``; ``either`` what it took the message to be about or what
    the search did may be meant; or the message was read in a ``language`` that nothing is in.
    ``language`` is that of the options, ``notice`` says so where it is not the citizen's.
    """

    options: tuple[OptionView, ...]
    until: datetime
    language: str
    reason: Reason = "unsure"
    notice: str = ""
    several: bool = False


def choice_of(turn: Turn) -> Choice | None:
    return turn.choice if hasattr(turn, "choice") else None


def choice_view(turn: Turn) -> ChoiceView | None:
    """Return what the citizen has to choose from at the moment, None for nothing."""
    choice = choice_of(turn)
    if choice is None or turn.state != TurnState.ASKING.value:
        return None
    release = languages.release_of(turn)
    words = wording.words(page_languages.wording_language(turn.language))
    language = _language(choice, release)
    is_theirs = language == detected_code(words.language)
    notice = "" if is_theirs else words.only_in(language, whole=True)
    reason = _reason(choice)
    foreign = reason == "language"
    return ChoiceView(
        options=options(choice, release),
        until=choice.until,
        language=language,
        reason=reason,
        notice=words.read_as(turn.language, named_in=language) if foreign else notice,
        several=choice.several,
    )


def _reason(choice: Choice) -> Reason:
    if Code.POLICY_LANGUAGE.value in choice.codes:
        return "language"
    return "either" if Code.ROUTE_SUBJECT.value in choice.codes else "unsure"


def options(choice: Choice, release: Release) -> tuple[OptionView, ...]:
    """Return the services and the situation that were offered, as ``release`` words them."""
    result = []
    for number, (agency, key) in enumerate(choice.offered, start=1):
        if situation := release.situation(key):
            line, written_in = first_sentence(situation.description), languages.written_in()
            option = OptionView(number, agency, key, situation.name, "", line, written_in)
            result.append(option)
            continue
        service = release.services.get((agency, key))
        if service is None:  # of an earlier release than the one that is asked again
            continue
        line = first_sentence(service.overview or service.applicability_summary)
        name = release.agencies[agency].name
        result.append(OptionView(number, agency, key, service.name, name, line))
    return tuple(result)


def _language(choice: Choice, release: Release) -> str:
    """Return the language of the options: the citizen's only where every name is in it."""
    services = ((agency, key) for agency, key in choice.offered if agency)
    names = (release.translated.get(service, ()) for service in services)
    translated = release.language and all("name" in fields for fields in names)
    return release.language if translated else languages.written_in()
