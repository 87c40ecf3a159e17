"""What the item page shows of an item: the context of its templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations.models import PersonRequest, Turn
from conversations.person.contacts import readable
from conversations.person.models import Way
from conversations.turns import choosing, flags, languages
from conversations.turns.choosing import OptionView
from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.pipeline.message.risk import OF_MODEL
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import ANSWERING, AWAITED, CLASSIFY, PERSON, REPLY
from ieim.studio.labels import stage_label
from review import crisis, finding_texts, labels
from review.deciding import actions, answers, permitted, signing
from review.deciding.locking import DECIDE
from review.item import message, outputs, stages
from review.item.outputs import Statement
from review.item.selectors import Loaded
from review.models import Action, Decision, ReviewItem
from review.states import ReviewState

WAITS = gettext_noop("The citizen waits for the answer.")
NOBODY_WAITS = gettext_noop("It is about what the message says: no citizen waits for it.")


@dataclass(frozen=True, slots=True)
class AskedBack:
    """What a citizen was offered to choose from, and what came of it; ``chosen`` are options'
    numbers."""

    options: tuple[OptionView, ...]
    ended: str
    chosen: frozenset[int]


def asked_back(turn: Turn, release: Release) -> AskedBack | None:
    """Return what the citizen of a turn was asked to choose from; None for most."""
    choice = choosing.choice_of(turn)
    if choice is None:
        return None
    options = choosing.options(choice, release)
    chosen = (each.number for each in options if (each.agency, each.service) in choice.services)
    ended = gettext(labels.CHOICE_OUTCOMES[choice.outcome])
    return AskedBack(options, ended, frozenset(chosen))


@dataclass(frozen=True, slots=True)
class Danger:
    """Why an item is in crisis: the ``names`` of the risks, the citizen's ``words`` that show them,
    and the help lines that the citizen was shown, in their language and in the knowledge's."""

    names: str
    words: tuple[str, ...]
    help_lines: tuple[str, ...]


def danger(turn: Turn) -> Danger | None:
    """Return the danger that a citizen's words show; None for none."""
    escalating = crisis.labels(turn)
    if not escalating:
        return None
    codes = {label.code for label in escalating}
    # A flag of the model's without a quote is of the whole message, which stands below.
    whole = {(0, len(turn.text), source) for source in OF_MODEL}
    signs = [sign for sign in flags.of(turn) if sign.code in codes]
    pointed = [sign for sign in signs if (sign.start, sign.end, sign.source) not in whole]
    words = [turn.text[sign.start : sign.end] for sign in pointed]
    words += [text for code, text in flags.of_feedback(turn) if code in codes]
    return Danger(
        names=", ".join(label.name for label in escalating),
        words=tuple(dict.fromkeys(filter(None, words))),
        help_lines=crisis.help_lines(turn),
    )


@dataclass(frozen=True, slots=True)
class Wish:
    """What a citizen who asks for a person wants; ``contact`` only for who may decide on it, and
    ``hidden`` where there is one for others."""

    request: PersonRequest
    contact: str
    hidden: bool


def wish(item: ReviewItem, user: User) -> Wish | None:
    """Return the request for a person that an item is of; None for other items."""
    request = PersonRequest.objects.filter(turn=item.turn_id).select_related("about").first()
    if item.stage != PERSON or request is None:
        return None
    may = user.has_perm(DECIDE)
    contact = readable(request.contact) if request.way == Way.CALL else request.contact
    return Wish(request, contact if may else "", bool(request.contact) and not may)


def item_view(loaded: Loaded, user: User, dangers: Danger | None) -> dict[str, Any]:
    """Return what its page says of a loaded item beside what the item itself has.

    ``reasons`` are (sentence, code); ``model_answer`` is what the model said at the stage that
    stopped, empty where nothing can be read; ``closes``: dismissing it ends the question.
    """
    item, turn = loaded.item, loaded.item.turn
    release = languages.release_of(turn)
    stopped = loaded.stages.get(item.stage)
    attempts = [a for a in stopped.attempts.all() if a.round == stopped.round] if stopped else []
    answer: tuple[Statement, ...] = ()
    if stopped:
        answer = outputs.statements(stopped.contract, message.last_answer(stopped), release)
    marks = message.marks(turn, loaded.stages, release)
    steps = stages.rail(loaded.stages, item.stage, release)
    proposal = signing.proposal_of(item)
    decided = item.state == ReviewState.DECIDED.value
    return {
        "headline": _headline(item, dangers),
        "reasons": [(finding_texts.sentence(code), code) for code in item.reasons],
        "lead": _lead(item, len(attempts)),
        "state": gettext(labels.ITEM_STATES[item.state]),
        "decided": decided,
        "awaited": item.stage in AWAITED,
        "overdue": not decided and item.due_at < timezone.now(),
        "agencies": labels.agency_names(item, release),
        "segments": message.segments(turn.text, marks),
        "marks": marks,
        "moot": item.stage == REPLY and permitted.is_moot(item),
        "closes": actions.closes(item),
        "model_answer": answer,
        "failed_flags": list(message.failed_flags(loaded.stages.get(CLASSIFY), release)),
        "hints": message.hints(turn.text, attempts),
        "flow": [step for step in steps if step["answering"]],
        "triage": [step for step in steps if not step["answering"]],
        "offered": stages.offered(attempts, release),
        # Who may be in danger does not wait for a service.
        "missed": () if dangers else stages.missed(attempts, turn.text, release),
        "conversation": [_exchange(each) for each in loaded.turns if each.pk != turn.pk],
        "linked": [linked(each, item) for each in loaded.others],
        "decisions": [
            {
                "id": record.pk,
                "what": gettext(labels.ACTIONS_DONE[record.action]),
                "who": record.actor.display_name,
                "when": record.created_at,
                "reason": record.reason,
                "comparison": comparison(loaded, record) if record == proposal else None,
            }
            for record in item.decisions.all()
        ],
        "asked_back": asked_back(turn, release),
        "something_else": [*filter(None, (_asked_again(turn), _turned_away(turn)))],
        "person": wish(item, user),
    }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What somebody has ``chosen`` or written, and what the ``model`` had said; either may be
    empty."""

    chosen: tuple[Statement, ...]
    model: tuple[Statement, ...]


def comparison(loaded: Loaded, proposal: Decision) -> Comparison:
    """Return a decision that waits for others beside the model's answer to the same step."""
    release = languages.release_of(loaded.item.turn)
    contract, output = proposal.artifacts.get("stage", ""), proposal.output
    chosen: tuple[Statement, ...] = ()
    if contract and proposal.action in (Action.APPROVE, Action.OVERRIDE):
        chosen = outputs.statements(contract, output, release)
    elif output is not None:
        chosen = (Statement("", Reply.from_dict(output).as_text()),)
    if not contract:
        reply = answers.follow(loaded.item.turn).reply
        return Comparison(chosen, (Statement("", reply.as_text()),) if reply else ())
    stage = loaded.stages.get(contract)
    attempts = list(stage.attempts.all()) if stage else []
    answer = message.last_answer(stage) if stage else None
    model = outputs.statements(contract, answer, release)
    raw = stages.pretty(attempts[-1].raw_text).strip() if attempts and not model else ""
    return Comparison(chosen, model or ((Statement("", raw),) if raw else ()))


def linked(other: ReviewItem, item: ReviewItem) -> dict[str, Any]:
    """Return another item of the conversation, with what it has to do with ``item``."""
    if other.pk == item.parent_id:
        how = gettext("Before this one")
    elif other.parent_id == item.pk:
        how = gettext("Came of this one")
    elif other.turn_id == item.turn_id:
        how = gettext("Same message")
    else:
        how = gettext("Another message of this conversation")
    return {
        "id": other.pk,
        "how": how,
        "reason": finding_texts.summary(other.reasons),
        "stage": stage_label(other.stage),
        "state": gettext(labels.ITEM_STATES[other.state]),
    }


def _headline(item: ReviewItem, dangers: Danger | None) -> str:
    if dangers is None:
        return finding_texts.first_sentence(item.reasons)
    if crisis.of_sign(item):
        text = gettext("Only a sign of danger, to be read, no answer waits: {dangers}")
        return text.format(dangers=dangers.names)
    return gettext("In crisis: {dangers}").format(dangers=dangers.names)


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
    text = gettext(labels.STOPPED.get(attempts, labels.STOPPED_AFTER))
    where = text.format(stage=stage_label(item.stage), number=attempts)
    return f"{where} {gettext(WAITS if item.stage in ANSWERING else NOBODY_WAITS)}"


def _asked_again(turn: Turn) -> str:
    """Return that the citizen has turned an earlier answer away; empty for most."""
    if not hasattr(turn, "replaces"):
        return ""
    first = Reply.from_dict(turn.replaces.turn.reply.body)
    return gettext(labels.ASKED_AGAIN).format(name=first.still_about)


def _turned_away(turn: Turn) -> str:
    return gettext(labels.TURNED_AWAY) if hasattr(turn, "replaced") else ""


def _exchange(turn: Turn) -> dict[str, Any]:
    """Return another message of the conversation with what was answered, empty for nothing."""
    answered = hasattr(turn, "reply")
    return {
        "number": turn.number,
        "question": turn.text,
        "answer": Reply.from_dict(turn.reply.body).as_text() if answered else "",
        "state": gettext(labels.TURN_STATES[turn.state]),
        "turned_away": _turned_away(turn),
    }
