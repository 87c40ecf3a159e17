"""Sending a service of the release as the answer, and decisions that can be taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.models import Reply, Turn
from conversations.record.replay import replay
from ieim.people.models import User
from ieim.pipeline.topology import ANSWERING
from review import claims, deciding
from review.claims import ClaimRefused
from review.deciding import Action, Refused, actions, services
from review.models import ReviewItem
from review.states import ReviewState
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, the_item

pytestmark = pytest.mark.usefixtures("published")
SERVICE = {"agency": "immigration", "service": "immigration.extend-tourist-visa"}
OTHER = {"agency": "civil-registry", "service": "civil-registry.register-birth"}
SECONDS = timedelta(seconds=10)


def stopped(stage: str = "service_select_v1", text: str = VISA) -> Turn:
    return desk.ask(text, {stage: list(BAD)})


@pytest.mark.parametrize(
    "stage", ["judgement_v1", "agency_detect_v1", "category_select_v1", "service_select_v1"]
)
def test_a_service_is_the_answer_from_any_stage(stage: str) -> None:
    turn = stopped(stage)
    eva = desk.person("eva")
    seen = deciding.preview(
        item_id=the_item(turn).pk, actor=eva, action=Action.SERVICE, payload=SERVICE
    )
    desk.taken_and_decided(the_item(turn), eva, Action.SERVICE, **SERVICE)
    model = desk.Scripted()
    turn = desk.run(turn, model)
    assert model.requested == []
    reply = Reply.objects.get(turn=turn)
    assert seen.reply is not None
    assert (turn.state, reply.origin) == ("answered", "staff_override")
    assert reply.body == seen.reply.as_dict()
    assert reply.body["sources"][0]["service_key"] == SERVICE["service"]
    assert {s.status for s in turn.stages.filter(contract__in=ANSWERING)} == {"overridden"}
    assert not replay(turn).changes


def test_a_service_of_another_agency_takes_the_place_of_what_passed() -> None:
    turn = stopped()
    desk.taken_and_decided(the_item(turn), desk.person("eva"), Action.SERVICE, **OTHER)
    turn = desk.run(turn)
    assert Reply.objects.get(turn=turn).body["sources"][0]["agency_id"] == "civil-registry"


def test_no_such_service_changes_nothing() -> None:
    turn = stopped()
    with pytest.raises(Refused, match="no such service"):
        desk.taken_and_decided(
            the_item(turn), desk.person("eva"), Action.SERVICE, agency="x", service="y"
        )
    assert the_item(turn).state == "claimed"


def waiting_decision(name: str = "eva") -> tuple[Turn, ReviewItem, deciding.Decision]:
    turn = stopped()
    eva = desk.person(name)
    item = desk.take(the_item(turn), eva)
    decision = deciding.decide(
        item_id=item.pk,
        actor=eva,
        version=item.version,
        action=Action.SERVICE,
        reason=desk.REASON,
        payload=SERVICE,
        delay=SECONDS,
    )
    item.refresh_from_db()
    return turn, item, decision


def test_a_decision_takes_effect_when_its_seconds_are_over() -> None:
    turn, item, _ = waiting_decision()
    assert item.state == ReviewState.SENDING
    services.take_effect(item_id=item.pk)
    turn.refresh_from_db()
    assert turn.state == "needs_review"
    deciding.sweep(now=timezone.now() + SECONDS)
    item.refresh_from_db()
    assert item.state == ReviewState.DECIDED
    assert Reply.objects.get(turn=desk.run(turn)).origin == "staff_override"


def test_a_decision_is_taken_back_in_time_and_its_author_has_the_item() -> None:
    turn, item, decision = waiting_decision()
    eva = decision.actor
    with pytest.raises(ClaimRefused):
        claims.claim(item_id=item.pk, actor=desk.person("zoe"))
    deciding.undo(decision_id=decision.pk, actor=eva, reason=desk.REASON)
    item.refresh_from_db()
    assert (item.state, item.claimed_by, item.takes_effect_at) == (ReviewState.CLAIMED, eva, None)
    deciding.sweep(now=timezone.now() + SECONDS)
    turn.refresh_from_db()
    assert (turn.state, Reply.objects.filter(turn=turn).exists()) == ("needs_review", False)


def test_what_cannot_take_effect_any_more_is_open_again() -> None:
    turn, item, _ = waiting_decision()
    # Somebody has written the reply by another way meanwhile.
    Turn.objects.filter(pk=turn.pk).update(state="closed")
    deciding.sweep(now=timezone.now() + SECONDS)
    item.refresh_from_db()
    assert item.state == ReviewState.OPEN
    assert [d.action for d in item.decisions.all()] == ["service", "undo"]
    assert "Nothing waits" in item.decisions.latest("created_at").reason


def test_danger_that_shows_meanwhile_waits_for_a_second_person() -> None:
    turn, item, _ = waiting_decision()
    ReviewItem.objects.filter(pk=item.pk).update(needs_second=True)  # as triage does
    deciding.sweep(now=timezone.now() + SECONDS)
    item.refresh_from_db()
    assert (item.state, item.takes_effect_at) == (ReviewState.SECOND_OPINION, None)
    assert not Reply.objects.filter(turn=desk.run(turn)).exists()


@pytest.mark.parametrize("is_active", [True, False])
def test_who_may_decide_nothing_any_more_sends_nothing(*, is_active: bool) -> None:
    _, item, decision = waiting_decision()
    User.objects.filter(pk=decision.actor_id).update(is_active=is_active)
    if is_active:
        decision.actor.user_permissions.clear()
    deciding.sweep(now=timezone.now() + SECONDS)
    item.refresh_from_db()
    assert item.state == ReviewState.OPEN


def test_an_error_of_ours_keeps_no_other_decision_back(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, _ = waiting_decision()
    _, item, _ = waiting_decision("ben")
    prepare = actions.prepare_agreed

    def prepare_or_fail(proposal: deciding.Decision) -> actions.Prepared:
        if proposal.item_id == broken.pk:
            raise KeyError(proposal.pk)
        return prepare(proposal)

    monkeypatch.setattr(actions, "prepare_agreed", prepare_or_fail)
    deciding.sweep(now=timezone.now() + SECONDS)
    states = [ReviewItem.objects.get(pk=pk).state for pk in (broken.pk, item.pk)]
    assert states == [ReviewState.SENDING, ReviewState.DECIDED]
