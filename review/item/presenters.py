"""What the item page shows, as plain values: its templates' whole vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext, gettext_noop

from conversations.models import Stage, Turn
from conversations.turns import languages
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.topology import ANSWERING, AWAITED, PERSON, REPLY
from ieim.studio.labels import stage_label
from review import words
from review.crisis import of_sign
from review.deciding import actions, permitted
from review.item.sections import evidence, said, wording
from review.item.sections.asked import AskedBack, asked_back
from review.item.sections.danger import Danger, danger
from review.item.sections.hints import Hint
from review.item.sections.marking import Mark, Segment, segments
from review.item.sections.offered import Missed, Offered, missed, offered
from review.item.sections.rail import Step, rail
from review.item.sections.said import Said
from review.item.selectors import Loaded
from review.models import Decision, ReviewItem
from review.states import ReviewState
from review.talking.selectors import Wish, wish

WAITS = gettext_noop("The citizen waits for the answer.")
NOBODY_WAITS = gettext_noop("It is about what the message says: no citizen waits for it.")


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier or later message of the conversation with what was answered (maybe nothing).

    ``turned_away`` says that the citizen did not mean that, empty for most.
    """

    number: int
    asked: str
    asked_at: datetime
    answer: str
    state: str
    turned_away: str


@dataclass(frozen=True, slots=True)
class Linked:
    """Another item of the same conversation; ``how`` says what it has to do with this one."""

    id: UUID
    how: str
    reason: str
    stage: str
    state: str


@dataclass(frozen=True, slots=True)
class Decided:
    """One record of what a person did."""

    id: UUID
    what: str
    who: str
    when: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item with what a caseworker needs to see.

    ``reasons`` are (sentence, code); ``wanted`` is what the model said at the stage that stopped,
    last and readable, empty where there is nothing. ``closes``: dismissing it ends the question, so
    that the citizen may be told something. ``risks`` are the names of the turn's flags.
    ``danger`` is what makes it a crisis, None where it is none: then the headline names it.
    ``something_else`` are sentences on answers that the citizen said were about something else.
    """

    id: UUID
    version: int
    contract: str
    headline: str
    danger: Danger | None
    reasons: tuple[tuple[str, str], ...]
    stage: str
    lead: str
    state: str
    decided: bool
    reference: str
    agencies: str
    due_at: datetime
    opened_at: datetime
    claimed_by: str
    claimed_until: datetime | None
    message: str
    asked_at: datetime
    turn_number: int
    release: int
    language: str
    segments: tuple[Segment, ...]
    marks: tuple[Mark, ...]
    risks: tuple[str, ...]
    moot: bool
    closes: bool
    wanted: tuple[Said, ...]
    hints: tuple[Hint, ...]
    flow: tuple[Step, ...]
    beside: tuple[Step, ...]
    offered: tuple[Offered, ...]
    missed: tuple[Missed, ...]
    conversation: tuple[Exchange, ...]
    linked: tuple[Linked, ...]
    decisions: tuple[Decided, ...]
    asked_back: AskedBack | None
    something_else: tuple[str, ...]
    person: Wish | None = None

    @property
    def awaited(self) -> bool:
        """Whether a citizen waits for it."""
        return self.contract in AWAITED

    @property
    def overdue(self) -> bool:
        """Whether it should have been decided by the time that the page was made."""
        return not self.decided and self.due_at < datetime.now(self.due_at.tzinfo)


def item_view(loaded: Loaded, user: User | None = None) -> ItemView:
    """Return a loaded item as a page, with how to reach the citizen where ``user`` may see it."""
    item, turn, stages = loaded.item, loaded.item.turn, loaded.stages
    release = languages.release_of(turn)
    stopped = stages.get(item.stage)
    attempts = [a for a in stopped.attempts.all() if a.round == stopped.round] if stopped else []
    marks = evidence.marks(turn, stages, release)
    steps = rail(stages, item.stage, release)
    dangers = danger(turn)
    return ItemView(
        id=item.pk,
        version=item.version,
        contract=item.stage,
        headline=_headline(item, dangers),
        danger=dangers,
        reasons=tuple((words.reason(code), code) for code in item.reasons),
        stage=stage_label(item.stage),
        lead=_lead(item, len(attempts)),
        state=gettext(words.STATES[item.state]),
        decided=item.state == ReviewState.DECIDED.value,
        reference=turn.session.reference,
        agencies=words.agencies(item, release),
        due_at=item.due_at,
        opened_at=item.opened_at,
        claimed_by=person(item.claimed_by),
        claimed_until=item.claimed_until,
        message=turn.text,
        asked_at=turn.created_at,
        turn_number=turn.number,
        release=turn.release_number,
        language=turn.language,
        segments=segments(turn.text, marks),
        marks=marks,
        risks=tuple(
            dict.fromkeys(said.label_name(release, "risk_flags", r["code"]) for r in turn.risks)
        ),
        moot=item.stage == REPLY and permitted.is_moot(item),
        closes=actions.closes(item),
        wanted=_wanted(stopped, release),
        hints=evidence.hints(turn.text, attempts),
        flow=tuple(step for step in steps if step.answering),
        beside=tuple(step for step in steps if not step.answering),
        offered=offered(attempts, release),
        # Who may be in danger does not wait for a service.
        missed=() if dangers else missed(attempts, turn.text, release),
        conversation=tuple(_exchange(each) for each in loaded.turns if each.pk != turn.pk),
        linked=tuple(linked(each, item) for each in loaded.others),
        decisions=_decisions(item),
        asked_back=asked_back(turn, release),
        something_else=tuple(filter(None, (_asked_again(turn), _turned_away(turn)))),
        person=wish(item, user) if user is not None else None,
    )


def person(user: User | None) -> str:
    """Return how a member of staff is called; empty for nobody."""
    return user.display_name if user else ""


def _headline(item: ReviewItem, dangers: Danger | None) -> str:
    if dangers is not None and of_sign(item):
        said = gettext("Only a sign of danger, to be read, no answer waits: {dangers}")
        return said.format(dangers=dangers.names)
    if dangers is not None:
        return gettext("In crisis: {dangers}").format(dangers=dangers.names)
    return words.first_reason(item.reasons)


def _lead(item: ReviewItem, attempts: int) -> str:
    """Return where it stopped and who waits, in a sentence or two."""
    if item.state == ReviewState.DECIDED.value:
        if item.stage == PERSON:
            return gettext("The citizen had asked for a person.")
        return gettext("It had stopped at “{stage}”.").format(stage=stage_label(item.stage))
    if item.stage == PERSON:
        return gettext("The citizen waits for a person.")
    if item.stage == REPLY:
        return gettext(wording.told(item) if permitted.is_moot(item) else WAITS)
    said = gettext(wording.STOPPED.get(attempts, wording.STOPPED_AFTER))
    where = said.format(stage=stage_label(item.stage), number=attempts)
    waits = WAITS if item.stage in ANSWERING else NOBODY_WAITS
    return f"{where} {gettext(waits)}"


def _wanted(stage: Stage | None, release: Release) -> tuple[Said, ...]:
    output = evidence.last_answer(stage) if stage is not None else None
    return said.said(stage.contract, output, release) if stage is not None else ()


def _asked_again(turn: Turn) -> str:
    if not hasattr(turn, "replaces"):
        return ""
    first = replies.Reply.from_dict(turn.replaces.turn.reply.body)
    return gettext(wording.ASKED_AGAIN).format(name=first.still_about)


def _turned_away(turn: Turn) -> str:
    return gettext(wording.TURNED_AWAY) if hasattr(turn, "replaced") else ""


def _exchange(turn: Turn) -> Exchange:
    answered = hasattr(turn, "reply")
    return Exchange(
        number=turn.number,
        asked=turn.text,
        asked_at=turn.created_at,
        answer=replies.Reply.from_dict(turn.reply.body).as_text() if answered else "",
        state=gettext(wording.TURNS[turn.state]),
        turned_away=_turned_away(turn),
    )


def linked(other: ReviewItem, item: ReviewItem) -> Linked:
    """Return another item of the conversation that ``item`` is of."""
    if other.pk == item.parent_id:
        how = gettext("Before this one")
    elif other.parent_id == item.pk:
        how = gettext("Came of this one")
    elif other.turn_id == item.turn_id:
        how = gettext("Same message")
    else:
        how = gettext("Another message of this conversation")
    return Linked(
        id=other.pk,
        how=how,
        reason=words.reasons(other.reasons),
        stage=stage_label(other.stage),
        state=gettext(words.STATES[other.state]),
    )


def _decisions(item: ReviewItem) -> tuple[Decided, ...]:
    records: list[Decision] = list(item.decisions.all())
    return tuple(
        Decided(
            id=record.pk,
            what=gettext(wording.DONE[record.action]),
            who=person(record.actor),
            when=record.created_at,
            reason=record.reason,
        )
        for record in records
    )
