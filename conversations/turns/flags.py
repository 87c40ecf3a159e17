"""Risk flags of a stored turn: the screen's and the model's, and what they hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from conversations import ports
from conversations.models import Turn
from conversations.record.audited import SIGNS, TEXT
from conversations.states import TurnState
from conversations.turns import events
from ieim.knowledge import selectors as knowledge
from ieim.pipeline.findings import Code
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.topology import CLASSIFY, REPLY


@transaction.atomic(savepoint=False)
def add(*, turn: Turn, classified: Mapping[str, Any]) -> None:
    """Add to a turn what classify found beyond the screen, and audit where the two disagree.

    ``classified`` is a classify result (:mod:`ieim.pipeline.results`). No flag is ever taken away:
    a weak sign that the model sees as well is stored twice, and what it made of a strong one
    (:func:`ieim.pipeline.message.risk.reread`) is told by that flag's source.
    """
    _weaken(
        turn,
        {
            classified_flag["label"]: classified_flag["source"]
            for classified_flag in classified["risk_flags"]
        },
    )
    strong = {sign.code for sign in signs_of(turn) if not sign.weak}
    signs = {
        flag["label"]: Risk(
            flag["label"],
            spans[0]["start"],
            spans[0]["end"],
            "model" if flag["confidence"] >= risk.UNSURE else "unsure",
        )
        for flag in classified["risk_flags"]
        if flag["label"] not in strong and (spans := _of_model(flag))
    }
    _add(turn, [*signs.values()])
    if classified["disagreements"]:
        events.record(turn, "triage.disagreement", {"rule_wins": classified["disagreements"]})


def _weaken(turn: Turn, sources: Mapping[str, str]) -> None:
    """Let the signs of a turn's screen be as weak as ``sources`` says, a source for each flag."""
    weaker = {
        sign.code: risk.FAINTER[sign.source]
        for sign in signs_of(turn)
        if sign.source in risk.FAINTER and risk.FAINTER[sign.source] == sources.get(sign.code)
    }
    if not weaker:
        return
    signs = [
        {**sign, "source": weaker[sign["code"]]}
        if sign["source"] in risk.FAINTER and sign["code"] in weaker
        else sign
        for sign in turn.risks
    ]
    _store(turn, signs, risk_flags_weak=list(weaker))


@transaction.atomic(savepoint=False)
def add_unpassed(*, turn: Turn, signs: Sequence[Risk], attempt: int, codes: Sequence[str]) -> None:
    """Add the signs of danger in an ``attempt`` of classify that failed, with the ``codes`` of the
    checks that it failed. One that the turn has already from a model is not added again."""
    sources = {sign.code: sign.source for sign in of_model(turn)}
    added = [sign for sign in signs if sources.get(sign.code) not in ("model", sign.source)]
    _add(turn, added, stage=CLASSIFY, attempt=attempt, failed=[*codes])


def note_left_out(*, turn: Turn, flagged: Collection[str], attempt: int) -> None:
    """Record the risk flags that an ``attempt`` of classify leaves out although an earlier one gave
    them; ``flagged`` are those that it gives. They count all the same."""
    left_out = [sign.code for sign in of_model(turn) if sign.code not in flagged]
    if left_out:
        events.record(turn, "triage.left_out", {"attempt": attempt, "risk_flags": left_out})


@transaction.atomic
def add_refusal(*, turn: Turn) -> None:
    """Take it as a weak sign that a model refused to classify a message: of each flag that shows
    help lines and that it has not yet. What was refused is not known."""
    labels = _labels(turn)
    signs = [Risk(code, 0, len(turn.text), "refusal") for code in labels]
    present = {sign.code for sign in signs_of(turn)}
    _add(turn, [sign for sign in risk.shown(signs, labels) if sign.code not in present])


def _add(turn: Turn, signs: Sequence[Risk], **details: Any) -> None:
    if signs:
        details["risk_flags"] = [sign.code for sign in signs if not sign.weak]
        details["risk_flags_weak"] = [sign.code for sign in signs if sign.weak]
        _store(turn, [*turn.risks, *(sign.as_dict() for sign in signs)], **details)


def _store(turn: Turn, signs: list[Any], **details: Any) -> None:
    """Store the signs of a turn, with an audit event that has the ``details``."""
    turn.risks = signs
    Turn.objects.filter(pk=turn.pk).update(risks=signs)
    # Of a turn that an earlier version stored, signs and text were one row.
    events.record(turn, "turn.flagged", details, rows=[TEXT.row(turn), SIGNS.row(turn)])


def _of_model(flag: Mapping[str, Any]) -> Sequence[Mapping[str, int]]:
    """Return the spans of a classified flag that a model gave; a rule's comes before them."""
    spans: Sequence[Mapping[str, int]] = flag["spans"]
    return spans if flag.get("source", "model") == "model" else spans[1:]


def signs_of(turn: Turn) -> list[Risk]:
    """Return all risks of a turn: the screen's first, then what a model added."""
    return [Risk(**fields) for fields in turn.risks]


def of_rules(turn: Turn) -> list[Risk]:
    """Return the risks that were found when the message came, without what came of a model."""
    by_model = risk.OF_MODEL | {"refusal"}
    return [sign for sign in signs_of(turn) if sign.source not in by_model]


def of_model(turn: Turn) -> list[Risk]:
    """Return the risks that a model has flagged, also in answers that failed their checks."""
    return [sign for sign in signs_of(turn) if sign.source in risk.OF_MODEL]


def of_feedback(turn: Turn) -> list[tuple[str, str]]:
    """Return the risks in what the citizen wrote of a turn's answer: each code with its words."""
    feedback = getattr(getattr(turn, "reply", None), "feedback", None)
    text = feedback.text if feedback is not None else ""
    return [(sign.code, text[sign.start : sign.end]) for sign in risk.find(text)] if text else []


def _labels(turn: Turn) -> Mapping[str, Any]:
    return knowledge.release(turn.release_number).labels.get("risk_flags", {})


def is_held(turn: Turn) -> bool:
    """Whether an answer to a turn waits for a person by its flags and its release's labels."""
    return bool(turn.risks and risk.holds(signs_of(turn), _labels(turn)))


def shows_danger(turn: Turn) -> bool:
    """Whether a strong sign of a turn escalates: a life may be at stake. What its release does not
    know counts as well."""
    labels = _labels(turn)
    strong = [sign for sign in signs_of(turn) if not sign.weak]
    return any(sign.code not in labels or labels[sign.code].escalates for sign in strong)


def codes(turn: Turn) -> list[str]:
    """Return why a person has to see a turn by its risk flags and its release's labels.

    That is a hold, or else a weak sign, for which no answer waits; nothing for most turns, nor for
    a sign that is only faint, unless the citizen is asked what they mean: who chooses below help
    lines reads that a caseworker reads the message too. Nor for a refusal, which has the item of
    what was refused.
    """
    if not turn.risks:
        return []
    if is_held(turn):
        return [Code.POLICY_RISK.value]
    asking = turn.state == TurnState.ASKING.value
    shown_by_labels = risk.shown(signs_of(turn), _labels(turn))
    unseen = ("refusal",) if asking else ("refusal", "faint")
    signs = [sign for sign in shown_by_labels if sign.source not in unseen]
    return [Code.CITIZEN_DANGER.value] if signs else []


def show(*, turn_id: UUID, codes: Sequence[str]) -> None:
    """Open an item for a turn's reply, so that a person sees the danger at once.

    Nothing waits for it: neither the answer, nor what the citizen does next.
    """
    ports.reviews().open(turn_id=turn_id, stage=REPLY, codes=codes)


def show_weak(turn: Turn) -> None:
    """Let a person see a turn that goes on above a weak sign; once, and not after a person."""
    flag_codes = [] if turn.resumed else codes(turn)
    if flag_codes == [Code.CITIZEN_DANGER.value]:
        show(turn_id=turn.pk, codes=flag_codes)


def show_written(turn: Turn) -> None:
    """Let colleagues see the danger in a message that a caseworker has taken over.

    Who talks with the citizen may be another agency's, or leave; nothing waits for that item.
    """
    if codes(turn):
        show(turn_id=turn.pk, codes=[Code.CITIZEN_DANGER.value])


def waiting(session_id: UUID) -> list[Turn]:
    """Return the flagged turns of a session that a person has still to see.

    Those wait for one, or a caseworker has taken them over and has an undecided item of them. What
    has a weak sign alone is none of them, nor what the citizen has said to be safe after.
    """
    turns = Turn.objects.filter(session_id=session_id, said_safe_at=None).exclude(risks=[])
    flagged = [turn for turn in turns if not all(sign.weak for sign in signs_of(turn))]
    needs_review = {turn.pk for turn in flagged if turn.state == TurnState.NEEDS_REVIEW.value}
    taken_over_ids = {turn.pk for turn in flagged if turn.state == TurnState.WITH_PERSON.value}
    open_items = ports.reviews().due(turn_ids=taken_over_ids) if taken_over_ids else {}
    unseen = needs_review | open_items.keys()
    return [turn for turn in flagged if turn.pk in unseen]
