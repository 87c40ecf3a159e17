"""One decision on many items: each by itself, through the gate, and taken back in time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from conversations.models import Reply
from conversations.turns import erasing
from ieim.audit.models import AuditEvent
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.tokens import services as tokens
from review import claims, deciding
from review.batches import presenters, services
from review.batches.models import Batch, BatchEntry
from review.deciding import Action, Refused, outdated
from review.models import CRISIS, REFUSED, Decision, ReviewItem
from review.states import ReviewState
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, the_item
from tests.review.people import person

pytestmark = pytest.mark.usefixtures("published")
SERVICE = {"agency": "immigration", "service": "immigration.extend-tourist-visa"}


@pytest.fixture
def eva(published: None) -> User:
    return desk.person("eva")


def stopped(number: int) -> list[ReviewItem]:
    stage = "service_select_v1"
    return [the_item(desk.ask(VISA, {stage: list(BAD)}), stage) for _ in range(number)]


def start(
    actor: User, items: list[ReviewItem], action: Action = Action.SERVICE, **payload: Any
) -> Batch:
    if action is Action.SERVICE:
        payload = payload or SERVICE
    return services.start(
        actor=actor,
        item_ids=[item.pk for item in items],
        action=action,
        reason=desk.REASON,
        payload=payload,
    )


def outcomes(batch: Batch) -> list[tuple[str, str]]:
    return list(batch.entries.order_by("pk").values_list("state", "problem"))


def states(items: list[ReviewItem]) -> list[str]:
    for item in items:
        item.refresh_from_db()
    return [item.state for item in items]


def test_each_is_decided_and_what_is_refused_stays_with_its_reason(eva: User) -> None:
    items = stopped(4)
    claims.claim(item_id=items[1].pk, actor=desk.person("zoe"))
    ReviewItem.objects.filter(pk=items[2].pk).update(rank=CRISIS)
    batch = start(eva, items)
    services.run(batch_id=batch.pk)

    assert states(items) == ["sending", "claimed", "open", "sending"]
    (_, busy, crisis, _) = outcomes(batch)
    assert (busy[0], crisis) == ("refused", ("refused", services.IN_CRISIS))
    assert "Zoe" in busy[1] or "zoe" in busy[1]
    assert not Reply.objects.exists()
    deciding.sweep(now=timezone.now() + services.TIME_TO_UNDO)
    assert states(items) == ["decided", "claimed", "open", "decided"]
    replies = [desk.run(items[n].turn).reply for n in (0, 3)]
    assert [reply.body["sources"][0]["service_key"] for reply in replies] == [
        SERVICE["service"]
    ] * 2
    batch.refresh_from_db()
    assert (batch.finished_at is not None, batch.reason, batch.payload) == (True, "", {})
    event = AuditEvent.objects.get(kind="review.batch_started")
    assert (event.actor, '"number":4' in event.payload) == ("staff:eva", True)


def test_the_gate_judges_each_item(eva: User) -> None:
    items = stopped(2)
    batch = start(eva, items, Action.OVERRIDE, stage="service_select_v1", output={"x": 1})
    services.run(batch_id=batch.pk)
    assert states(items) == ["open", "open"]
    assert {state for state, _ in outcomes(batch)} == {"refused"}
    assert not Decision.objects.exists()


@pytest.mark.parametrize("action", [Action.SERVICE, Action.ASK, Action.DISMISS, Action.HAND_OVER])
def test_what_was_decided_once_is_done_again(eva: User, action: Action) -> None:
    payload = {
        Action.SERVICE: SERVICE,
        Action.ASK: {"text": "Which visa is it?"},
        Action.DISMISS: {"text": "Please call the office."},
        Action.HAND_OVER: {"agency": "civil-registry"},
    }[action]
    items = stopped(2)
    decision = desk.taken_and_decided(items[0], eva, action, **payload)
    assert services.repeat(decision) == (action, payload)
    batch = start(eva, items[1:], action, **payload)
    services.run(batch_id=batch.pk)
    assert [state for state, _ in outcomes(batch)] == ["decided"]
    assert Decision.objects.filter(action=action).count() == 2


def test_what_a_person_wrote_for_one_is_not_written_to_many(eva: User) -> None:
    (item,) = stopped(1)
    decision = desk.taken_and_decided(item, eva, Action.WRITE, text="Come to us.", sources=[])
    with pytest.raises(Refused, match="item by item"):
        services.repeat(decision)
    with pytest.raises(Refused, match="item by item"):
        start(eva, [item], Action.WRITE, text="Come to us.")
    assert not Batch.objects.exists()


def test_all_of_it_is_taken_back_while_it_is_sending(eva: User) -> None:
    items = stopped(3)
    batch = start(eva, items)
    services.run(batch_id=batch.pk)
    services.undo(batch_id=batch.pk, actor=eva)
    # Its minute is over before a worker comes to it.
    deciding.sweep(now=timezone.now() + services.TIME_TO_UNDO)
    services.run(batch_id=batch.pk)
    assert states(items) == ["open"] * 3
    assert {item.claimed_by for item in items} == {None}
    assert {state for state, _ in outcomes(batch)} == {"undone"}
    assert Decision.objects.filter(action=Action.UNDO).count() == 3
    with pytest.raises(Refused, match="too late"):
        services.undo(batch_id=batch.pk, actor=eva)


def test_a_lead_takes_a_colleagues_batch_back_where_they_see_all_of_it(eva: User) -> None:
    items = stopped(2)
    batch = start(eva, items)
    services.run(batch_id=batch.pk)
    for stranger in (
        desk.person("ben"),
        desk.person("far", *desk.ALL, agencies=["civil-registry"]),
    ):
        with pytest.raises(Batch.DoesNotExist):
            services.undo(batch_id=batch.pk, actor=stranger)
        assert services.batch_of(items[0], stranger) is None
    lead = desk.person("lead", *desk.ALL)
    items[0].refresh_from_db()
    assert services.batch_of(items[0], lead) == batch
    services.undo(batch_id=batch.pk, actor=lead)
    services.run(batch_id=batch.pk)
    assert states(items) == ["open"] * 2
    assert {d.actor for d in Decision.objects.filter(action=Action.UNDO)} == {lead}


def test_it_says_what_became_of_the_questions_that_were_asked_again(eva: User) -> None:
    items = stopped(3)
    batch = start(eva, items, Action.RETRY)
    services.run(batch_id=batch.pk)
    later = timezone.now() + services.TIME_TO_UNDO
    deciding.sweep(now=later)
    desk.run(items[0].turn)
    desk.run(items[1].turn, desk.Scripted({"service_select_v1": list(BAD)}))
    batch.refresh_from_db()
    shown = presenters.progress(batch, eva, later)
    outcomes = {"Answered by the assistant": 1, "With a person again": 1, "Being read again": 1}
    assert {str(words): n for words, n in shown["counts"]} == {"Decided": 3, **outcomes}
    assert shown["polls"]


def test_the_preview_says_what_the_decision_would_refuse(
    eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    (item,) = stopped(1)
    monkeypatch.setattr(outdated, "changes_since", lambda *_: "Its fee has changed.")
    (sample,) = presenters.samples([item.pk], eva, Action.SERVICE, SERVICE, has_read=False)
    assert sample["problem"] == "Its fee has changed."


def test_what_is_not_decided_yet_is_not_decided_any_more(eva: User) -> None:
    items = stopped(3)
    batch = start(eva, items)
    services._step(batch.pk)
    services.undo(batch_id=batch.pk, actor=eva)
    assert [state for state, _ in outcomes(batch)] == ["decided", "undone", "undone"]
    while services._step(batch.pk):  # the worker that is at it
        pass
    assert states(items) == ["open"] * 3
    assert [d.action for d in Decision.objects.order_by("created_at")] == ["service", "undo"]


def test_it_is_too_late_once_all_has_taken_effect(eva: User) -> None:
    batch = start(eva, stopped(1))
    services.run(batch_id=batch.pk)
    Batch.objects.update(takes_effect_at=timezone.now())
    with pytest.raises(Refused, match="too late"):
        services.undo(batch_id=batch.pk, actor=eva)
    with pytest.raises(Batch.DoesNotExist):
        services.undo(batch_id=batch.pk, actor=desk.person("zoe"))


def test_another_worker_goes_on_where_one_was_killed(
    eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = stopped(3)
    batch = start(eva, items)
    services._step(batch.pk)  # and the worker is gone
    assert states(items) == ["sending", "open", "open"]
    queued: list[str] = []
    monkeypatch.setattr(services, "queue_after_commit", lambda _task, pk: queued.append(pk))
    services.sweep(now=timezone.now())
    assert queued == []
    services.run(batch_id=batch.pk)
    assert states(items) == ["sending", "open", "open"], "its lease holds"
    later = timezone.now() + services.LEASE + timedelta(seconds=1)
    services.sweep(now=later)
    assert queued == [str(batch.pk)]
    Batch.objects.update(leased_until=timezone.now())
    services.run(batch_id=batch.pk)
    assert states(items) == ["sending"] * 3
    assert Decision.objects.count() == 3


def test_an_error_of_ours_leaves_one_item_and_goes_on(
    eva: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = stopped(2)
    decide = deciding.decide

    def fail(**arguments: Any) -> Decision:
        if arguments["item_id"] == items[0].pk:
            raise RuntimeError
        return decide(**arguments)

    monkeypatch.setattr(deciding, "decide", fail)
    batch = start(eva, items)
    services.run(batch_id=batch.pk)
    assert states(items) == ["open", "sending"]
    assert outcomes(batch)[0] == ("refused", services.FAILED)


def test_what_a_model_refused_to_read_is_decided_once_somebody_has_read_it(eva: User) -> None:
    items = stopped(1)
    ReviewItem.objects.update(rank=REFUSED)
    batch = start(eva, items, Action.DISMISS)
    services.run(batch_id=batch.pk)
    assert outcomes(batch) == [("refused", services.UNREAD)]
    read = services.start(
        actor=eva,
        item_ids=[items[0].pk],
        action=Action.DISMISS,
        reason=desk.REASON,
        payload={},
        has_read=True,
    )
    services.run(batch_id=read.pk)
    assert states(items) == [ReviewState.SENDING]


def test_who_may_not_decide_any_more_decides_nothing(eva: User) -> None:
    items = stopped(1)
    batch = start(eva, items)
    eva.user_permissions.clear()
    services.run(batch_id=batch.pk)
    assert states(items) == ["open"]
    assert outcomes(batch)[0][0] == "refused"


def test_a_token_that_was_revoked_decides_nothing_more() -> None:
    chief = person("chief", Role.SUPERVISOR)
    chief.user_permissions.add(Permission.objects.get(codename="add_token"))
    chief = User.objects.get(pk=chief.pk)
    scopes = ["review:read", "review:decide"]
    token, _ = tokens.make(by=chief, name="A program", scopes=scopes, agencies=["*"], days=1)
    items = stopped(2)
    batch = start(tokens.use(token), items)
    tokens.revoke(token_id=token.pk, by=chief)
    services.run(batch_id=batch.pk)
    assert states(items) == ["open", "open"]
    assert all("revoked" in problem for _, problem in outcomes(batch))


def test_taking_it_back_leaves_a_later_decision_alone(eva: User) -> None:
    (item,) = items = stopped(1)
    batch = start(eva, items)
    services.run(batch_id=batch.pk)
    deciding.undo(decision_id=Decision.objects.get().pk, actor=eva, reason=desk.REASON)
    item.refresh_from_db()
    deciding.decide(
        item_id=item.pk,
        actor=eva,
        version=item.version,
        action=Action.SERVICE,
        reason=desk.REASON,
        payload=SERVICE,
        delay=timedelta(seconds=10),
    )
    services.undo(batch_id=batch.pk, actor=eva)
    soon = timezone.now() + timedelta(minutes=1)
    assert ReviewItem.objects.filter(pk=item.pk, takes_effect_at__lt=soon).exists()


def test_a_batch_goes_with_its_conversations_and_after_a_month(eva: User) -> None:
    items = stopped(2)
    batch = start(eva, items)
    services.run(batch_id=batch.pk)
    erasing.erase_session(session_id=items[0].turn.session_id)
    assert BatchEntry.objects.count() == 1
    services.sweep(now=timezone.now() + services.RETENTION + timedelta(days=1))
    assert not Batch.objects.exists()
