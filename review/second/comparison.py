"""A decision that waits for others beside what the assistant had, with what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from conversations.chat.presenters import TurnView
from conversations.chat.reply_presenters import ReplyView
from conversations.turns import languages
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import PERSON
from ieim.studio.proposals.differences import Piece, marked
from review import labels
from review.deciding import Refused, actions, answers, signing
from review.item import message, stages
from review.item.base_forms import FormContext
from review.item.citizen import citizens_view, finished_turn
from review.item.forms import ServeForm
from review.item.selectors import LoadedItem
from review.item.stages import Statement, statements
from review.models import Action, Decision, ReviewItem
from review.states import ReviewState

_OF_STEP = frozenset({Action.APPROVE, Action.OVERRIDE})


@dataclass(frozen=True, slots=True)
class Side:
    """One answer: what it says of its step, and the reply that it leads to, None before there is
    one. ``pieces`` are its words, ``changed`` where the other side has others."""

    says: tuple[Statement, ...]
    reply: Reply | None
    pieces: Sequence[Piece] = ()

    @property
    def text(self) -> str:
        """Its words, joined."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was ``decided`` beside what the ``model`` had. ``sent_back`` is the record by which
    somebody has disagreed, None while it waits."""

    decision: Decision
    decided: Side
    model: Side
    sent_back: Decision | None

    @property
    def done(self) -> str:
        """What was decided, in words."""
        return gettext(labels.ACTIONS_DONE[self.decision.action])

    @property
    def is_same(self) -> bool:
        """Whether what was decided is what the assistant had."""
        pieces = self.decided.pieces
        return bool(pieces) and not any(piece.changed for piece in (*pieces, *self.model.pieces))

    @property
    def is_marked(self) -> bool:
        """Whether the two have enough in common for what differs to be marked word by word."""
        shared = (piece for piece in self.decided.pieces if not piece.changed)
        return not self.is_same and any(piece.text.strip() for piece in shared)


def comparison(loaded: LoadedItem) -> Comparison | None:
    """Return the last decision on an undecided item that waits for others, or that somebody has
    sent back, beside what the assistant had; None for most items."""
    item = loaded.item
    last, answer = _waiting_decision(item)
    if last is None or item.state == ReviewState.DECIDED.value:
        return None
    last.item = item
    decided, model = decided_side(loaded, last), _model_side(loaded, last)
    before, after = marked(*_texts(model, decided))
    return Comparison(
        last,
        Side(decided.says, decided.reply, after),
        Side(model.says, model.reply, before),
        answer,
    )


def earlier_words(item: ReviewItem) -> Reply | None:
    """Return the reply that somebody wrote, and that waits for others or was sent back."""
    last, _ = _waiting_decision(item)
    if last is None or last.action != Action.WRITE or last.output is None:
        return None
    return Reply.from_dict(last.output)


def _waiting_decision(item: ReviewItem) -> tuple[Decision | None, Decision | None]:
    """Return the last decision that waits or was sent back, and the record that sent it back."""
    records = list(item.decisions.all())
    last = next((r for r in reversed(records) if r.action in signing.PROPOSALS), None)
    answer = next((r for r in records if last is not None and r.about_id == last.pk), None)
    is_over = answer is not None and answer.action != Action.DISAGREE
    return (None, None) if is_over else (last, answer)


def decided_side(loaded: LoadedItem, decision: Decision) -> Side:
    """Return what a decision says of its step, and the reply that it leads to."""
    says: tuple[Statement, ...] = ()
    contract = decision.artifacts.get("stage", "")
    of_step = contract and decision.action in _OF_STEP
    if of_step:
        says = statements(contract, decision.output, languages.release_of(loaded.item.turn))
    try:
        prepared = actions.prepare_again(decision)
        return Side(says, actions.outcome(loaded.item, decision.actor, prepared)[0])
    except Refused:  # It cannot take effect any more; what the citizen was to read is stored.
        stored = None if of_step or decision.output is None else Reply.from_dict(decision.output)
        return Side(says, stored)


def _texts(model: Side, decided: Side) -> tuple[str, str]:
    """Return the words of two sides: for the citizen where both have some, else of the step."""
    if model.reply is not None and decided.reply is not None:
        return model.reply.as_text(), decided.reply.as_text()
    return _said(model), _said(decided)


def _said(side: Side) -> str:
    return "\n".join(": ".join(filter(None, (s.heading, s.what))) for s in side.says)


def _model_side(loaded: LoadedItem, decision: Decision) -> Side:
    """Return what the model said at the decision's step, and the reply that the assistant had."""
    item, contract = loaded.item, decision.artifacts.get("stage", "")
    if item.stage == PERSON:
        return Side((), None)
    stage = loaded.stages.get(contract)
    says: tuple[Statement, ...] = ()
    if stage is not None:
        release = languages.release_of(item.turn)
        says = statements(contract, message.last_answer(stage), release)
        raw = [stages.pretty(attempt.raw_text).strip() for attempt in stage.attempts.all()][-1:]
        says = says or tuple(Statement("", text) for text in raw if text)
    reply = answers.follow(item.turn).reply
    return Side(says, reply if reply is not None else _chosen_by_model(loaded))


def _chosen_by_model(loaded: LoadedItem) -> Reply | None:
    """Return the card of the service that the model chose, though its answer failed."""
    form = ServeForm(FormContext(loaded.item.stage, loaded.item.turn, loaded.stages), None)
    for agency, key in form.model_services:
        try:
            payload = {"agency": agency, "service": key}
            prepared = actions.prepare(loaded.item, Action.SERVICE, payload)
        except Refused:
            return None
        return Reply.from_dict(prepared.output)
    return None


def views(
    loaded: LoadedItem, compared: Comparison
) -> list[tuple[Side, ReplyView | None, TurnView]]:
    """Return what was decided and what the assistant had, each with its reply as the citizen would
    see it, and the turn with HTML ids of its own."""
    turn = loaded.item.turn

    def view(side: Side, action: str, part: str) -> tuple[Side, ReplyView | None, TurnView]:
        shown = None if side.reply is None else citizens_view(turn, side.reply, action)
        return side, shown, finished_turn(turn, part)

    decided = view(compared.decided, compared.decision.action, "decided")
    return [decided, view(compared.model, Action.APPROVE, "model")]
