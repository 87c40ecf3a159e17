"""What the item page shows, as plain values: its templates' whole vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext, gettext_noop

from conversations.models import PersonRequest, Stage, Turn
from conversations.person.contacts import readable
from conversations.person.models import Way
from conversations.turns import choosing, flags, languages
from conversations.turns.choosing import OptionView
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply import reply as replies
from ieim.pipeline.topology import ANSWERING, AWAITED, PERSON, REPLY
from ieim.studio.labels import stage_label
from review import crisis, finding_texts, labels
from review.crisis import of_sign
from review.deciding import actions, permitted
from review.deciding.locking import DECIDE
from review.item import message as evidence
from review.item import outputs
from review.item.message import Hint, Mark, Segment, segments
from review.item.outputs import Statement
from review.item.selectors import Loaded
from review.item.stages import Missed, Offered, Step, missed, offered, rail
from review.models import Decision, ReviewItem
from review.states import ReviewState


@dataclass(frozen=True, slots=True)
class AskedBack:
    """What the citizen was offered, and what they made of it; ``chosen`` is an option's number,
    0 for none."""

    options: tuple[OptionView, ...]
    ended: str
    chosen: int


def asked_back(turn: Turn, release: Release) -> AskedBack | None:
    """Return what the citizen of a turn was asked, None where they never were."""
    choice = choosing.choice_of(turn)
    if choice is None:
        return None
    chosen = choice.offered.index(choice.chosen) + 1 if choice.chosen in choice.offered else 0
    options = choosing.options(choice, release)
    return AskedBack(options, gettext(labels.ASKED_BACK[choice.outcome]), chosen)


@dataclass(frozen=True, slots=True)
class Danger:
    """Why an item is in crisis.

    ``names`` are the risks, ``words`` those of the citizen that show them, ``help_lines`` what the
    citizen was shown at once, and the same in the knowledge's language.
    """

    names: str
    words: tuple[str, ...]
    help_lines: tuple[str, ...]


def danger(turn: Turn) -> Danger | None:
    """Return the danger that a citizen's words show, None where it shows none."""
    labels = crisis.labels(turn)
    if not labels:
        return None
    codes = {label.code for label in labels}
    words = [turn.text[r["start"] : r["end"]] for r in turn.risks if r["code"] in codes]
    words += [said for code, said in flags.of_feedback(turn) if code in codes]
    return Danger(
        names=", ".join(label.name for label in labels),
        words=tuple(dict.fromkeys(filter(None, words))),
        help_lines=crisis.help_lines(turn),
    )


@dataclass(frozen=True, slots=True)
class Wish:
    """What a citizen who asks for a person wants; ``contact`` only for who may decide on it.

    ``about`` is what they had asked, empty where only words say it.
    """

    state: str
    way: str
    contact: str
    hidden: bool
    wanted_from: datetime | None
    wanted_until: datetime | None
    about: str
    about_turn: UUID | None


def wish(item: ReviewItem, user: User) -> Wish | None:
    """Return the request for a person that an item is of; None for other items."""
    asked = PersonRequest.objects.filter(turn=item.turn_id).select_related("about").first()
    if item.stage != PERSON or asked is None:
        return None
    may = user.has_perm(DECIDE)
    contact = readable(asked.contact) if asked.way == Way.CALL else asked.contact
    return Wish(
        state=asked.state,
        way=asked.way,
        contact=contact if may else "",
        hidden=bool(asked.contact) and not may,
        wanted_from=asked.wanted_from,
        wanted_until=asked.wanted_until,
        about=asked.about.text if asked.about is not None else "",
        about_turn=asked.about_id,
    )


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
    wanted: tuple[Statement, ...]
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
        reasons=tuple((finding_texts.sentence(code), code) for code in item.reasons),
        stage=stage_label(item.stage),
        lead=_lead(item, len(attempts)),
        state=gettext(finding_texts.ITEM_STATES[item.state]),
        decided=item.state == ReviewState.DECIDED.value,
        reference=turn.session.reference,
        agencies=finding_texts.agency_names(item, release),
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
            dict.fromkeys(outputs.label_name(release, "risk_flags", r["code"]) for r in turn.risks)
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
        outputs = gettext("Only a sign of danger, to be read, no answer waits: {dangers}")
        return outputs.format(dangers=dangers.names)
    if dangers is not None:
        return gettext("In crisis: {dangers}").format(dangers=dangers.names)
    return finding_texts.first_sentence(item.reasons)


def _lead(item: ReviewItem, attempts: int) -> str:
    """Return where it stopped and who waits, in a sentence or two."""
    if item.state == ReviewState.DECIDED.value:
        if item.stage == PERSON:
            return gettext("The citizen had asked for a person.")
        return gettext("It had stopped at “{stage}”.").format(stage=stage_label(item.stage))
    if item.stage == PERSON:
        return gettext("The citizen waits for a person.")
    if item.stage == REPLY:
        return gettext(labels.nobody_waits(item) if permitted.is_moot(item) else WAITS)
    outputs = gettext(labels.STOPPED.get(attempts, labels.STOPPED_AFTER))
    where = outputs.format(stage=stage_label(item.stage), number=attempts)
    waits = WAITS if item.stage in ANSWERING else NOBODY_WAITS
    return f"{where} {gettext(waits)}"


def _wanted(stage: Stage | None, release: Release) -> tuple[Statement, ...]:
    output = evidence.last_answer(stage) if stage is not None else None
    return outputs.statements(stage.contract, output, release) if stage is not None else ()


def _asked_again(turn: Turn) -> str:
    if not hasattr(turn, "replaces"):
        return ""
    first = replies.Reply.from_dict(turn.replaces.turn.reply.body)
    return gettext(labels.ASKED_AGAIN).format(name=first.still_about)


def _turned_away(turn: Turn) -> str:
    return gettext(labels.TURNED_AWAY) if hasattr(turn, "replaced") else ""


def _exchange(turn: Turn) -> Exchange:
    answered = hasattr(turn, "reply")
    return Exchange(
        number=turn.number,
        asked=turn.text,
        asked_at=turn.created_at,
        answer=replies.Reply.from_dict(turn.reply.body).as_text() if answered else "",
        state=gettext(labels.TURN_STATES[turn.state]),
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
        reason=finding_texts.summary(other.reasons),
        stage=stage_label(other.stage),
        state=gettext(finding_texts.ITEM_STATES[other.state]),
    )


def _decisions(item: ReviewItem) -> tuple[Decided, ...]:
    records: list[Decision] = list(item.decisions.all())
    return tuple(
        Decided(
            id=record.pk,
            what=gettext(labels.ACTIONS_DONE[record.action]),
            who=person(record.actor),
            when=record.created_at,
            reason=record.reason,
        )
        for record in records
    )
