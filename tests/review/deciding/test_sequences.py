"""Whatever people decide, in whatever order: what must hold of a turn holds."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conversations.models import Reply, Turn
from ieim.audit.verify import verify
from ieim.people.models import User
from ieim.pipeline.topology import ANSWERING
from review import deciding, scope
from review.deciding import Action, Conflict, Refused, answers
from review.models import Decision, ReviewItem, SignOff
from tests.fixtures import VISA
from tests.review import desk
from tests.review.deciding.test_deciding import RISKY, selection
from tests.review.desk import ALL, BABY, BAD, REASON, Scripted

WORDS = "Please write to us."
CRISIS = "I want to extend my tourist visa or I will kill myself"
STAGES = sorted({"judgement_v1", "category_select_v1", "service_select_v1", "extract"})

texts = st.sampled_from([VISA, BABY, RISKY, CRISIS])
faults = st.dictionaries(
    st.sampled_from([*STAGES, "multi_agency_service_answer_v1"]),
    st.booleans(),
    min_size=1,
    max_size=2,
).map(
    lambda script: {
        stage: (desk.unsure,) * 2 if unsure and stage == "service_select_v1" else BAD
        for stage, unsure in script.items()
    }
)
payloads: dict[Action, list[dict[str, Any]]] = {
    Action.WRITE: [{"text": WORDS, "sources": []}, {"text": ""}],
    Action.ASK: [{"text": WORDS}],
    Action.DISMISS: [{}, {"text": WORDS}],
    Action.HAND_OVER: [{"agency": "revenue"}, {"agency": "immigration"}],
}


runs = st.tuples(st.just("run"), faults)
undos = st.tuples(st.just("undo"), st.integers(0, 1))
signs = st.tuples(st.just("sign"), st.integers(0, 1))
some = st.integers(0, 10_000)
decisions = st.tuples(st.just("decide"), st.tuples(some, some, st.integers(0, 1), st.booleans()))
moves = st.lists(
    st.one_of(decisions, decisions, decisions, runs, undos, signs), min_size=3, max_size=10
)


def play(turn: Turn, people: list[User], kind: str, move: Any) -> None:
    with contextlib.suppress(Refused, Conflict, ReviewItem.DoesNotExist, Decision.DoesNotExist):
        if kind == "run":
            desk.run(turn, Scripted(move))
        elif kind == "undo":
            decision = Decision.objects.filter(item__turn=turn).order_by("-created_at").first()
            if decision is not None:
                deciding.undo(decision_id=decision.pk, actor=people[move], reason=REASON)
        elif kind == "sign":
            sign(turn, people[move])
        else:
            decide(turn, people, *move)


def sign(turn: Turn, actor: User) -> None:
    """Sign whatever the actor may sign."""
    for item in ReviewItem.objects.filter(turn=turn).exclude(state="decided"):
        for agency in deciding.missing_signatures(item):
            with contextlib.suppress(Refused, Conflict, ReviewItem.DoesNotExist):
                deciding.sign(
                    item_id=item.pk,
                    actor=actor,
                    version=ReviewItem.objects.get(pk=item.pk).version,
                    agency=agency,
                    reason=REASON,
                )


def decide(turn: Turn, people: list[User], which: int, what: int, who: int, anything: bool) -> None:
    """Decide some item of the turn: in a way that is offered, or in any."""
    items = list(ReviewItem.objects.filter(turn=turn).order_by("state", "opened_at"))
    if not items:
        return
    item, person = items[which % len(items)], people[who]
    if item.state != "decided":
        item = desk.take(item, person)
    may = deciding.may(item, person)
    offered = list(Action) if anything else [action for action, why in may.items() if not why]
    offered = [action for action in offered if action is not Action.UNDO]
    if not offered:
        return
    action = offered[what % len(offered)]
    choices = payloads.get(action, [{}])
    payload = choices[what % len(choices)]
    if action is Action.OVERRIDE:
        payload = {"output": selection()}
    desk.decide(item, person, action, **payload)
    assert not may[action], "what is not offered is not done either"


def check(turn: Turn) -> None:
    turn = Turn.objects.get(pk=turn.pk)
    undecided = ReviewItem.objects.filter(turn=turn).exclude(state="decided")
    waiting = Counter(undecided.values_list("stage", flat=True))
    assert not [stage for stage, count in waiting.items() if count > 1]
    if turn.state == "needs_review":
        assert set(waiting) & {*ANSWERING, "reply"}, "the turn lost its item"
    reply = Reply.objects.filter(turn=turn).first()
    assert (reply is not None) or turn.state != "answered"
    if reply is None:
        return
    assert turn.state in ("answered", "closed")
    if reply.origin == "staff":
        assert reply.body["paragraphs"] == [WORDS]
    else:
        composed = answers.follow(turn).reply
        assert composed is not None
        assert reply.body == composed.as_dict()
        result = bool(answers.policy_findings(turn))
        assert turn.hold_waived or not result
    if reply.origin not in ("model", "index", "guidance"):
        signers = scope.agencies_together(turn.pk)
        signed = SignOff.objects.filter(item__turn=turn, item__state="decided")
        assert signers <= set(signed.values_list("agency", flat=True)), "it left unsigned"
    agreed = Decision.objects.filter(item__turn=turn, action="agree")
    if "kill" in turn.text:
        assert agreed.exists(), "nobody else looked at a crisis"


@pytest.mark.usefixtures("published")
def test_it_keeps_its_promises_whatever_people_do(db: None) -> None:
    # What several agencies answer, the two have to sign for each other.
    mine, theirs = ["immigration", "civil-registry"], ["immigration", "social-support", "revenue"]
    people = [
        desk.person("eva", *ALL, "triage", agencies=mine),
        desk.person("ben", *ALL, "triage", agencies=theirs),
    ]

    @settings(
        max_examples=min(settings().max_examples // 5, 50),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # A sequence is a few seconds of pipeline: to shrink one takes longer than a test may.
        phases=[Phase.reuse, Phase.generate],
    )
    @given(texts, faults, moves)
    def holds(text: str, script: dict[str, Any], sequence: list[tuple[str, Any]]) -> None:
        turn = desk.ask(text, script)
        check(turn)
        for kind, move in sequence:
            play(turn, people, kind, move)
            check(turn)
        assert verify(turn.session_id).ok

    holds()
