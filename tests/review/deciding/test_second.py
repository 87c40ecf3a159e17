"""The second pair of eyes, and what can be undone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from conversations.models import Reply, Turn
from ieim.audit.models import AuditEvent
from ieim.audit.verify import verify
from ieim.people import selectors
from ieim.people.models import AgencyScope, User
from ieim.people.reading import unread
from ieim.people.roles import Role
from ieim.people.services import changing
from review import deciding
from review.deciding import Action, Refused
from review.models import Decision, ReviewItem
from review.reading import READ, record_read
from tests.fixtures import VISA
from tests.review import desk, people
from tests.review.desk import (
    ALL,
    BAD,
    REASON,
    Scripted,
    agency_output,
    run,
    taken_and_decided,
    the_item,
    unsigned_item,
)

pytestmark = pytest.mark.usefixtures("published")
CRISIS = "I want to extend my tourist visa or I will kill myself"


def proposed() -> tuple[Turn, Decision, User]:
    """A crisis whose reply somebody wants to send."""
    turn, eva = desk.ask(CRISIS, {}), desk.person("eva", *ALL)
    return turn, taken_and_decided(the_item(turn), eva, Action.APPROVE, confirmed=True), eva


def test_it_does_nothing_before_a_second_person_agrees() -> None:
    turn, proposal, eva = proposed()
    item = the_item(turn)
    assert (item.state, item.needs_second, item.claimed_by_id) == ("second_opinion", True, None)
    assert Turn.objects.get(pk=turn.pk).state == "needs_review"
    assert deciding.opinion_wanted(item) == proposal

    own_item = desk.take(item, eva)
    assert "yourself" in deciding.may(own_item, eva)[Action.AGREE]
    with pytest.raises(Refused, match="yourself"):
        desk.decide(own_item, eva, Action.AGREE)

    ben = desk.person("ben", *ALL)
    item = desk.take(item, ben)
    with pytest.raises(Refused, match="agree or send it back"):
        desk.decide(item, ben, Action.HAND_OVER, agency="revenue")
    opinion = desk.decide(item, ben, Action.AGREE)
    assert (opinion.about, the_items(turn)) == (proposal, ["decided"])
    assert desk.run(turn).state == "answered"
    assert Reply.objects.get(turn=turn).origin == "model_approved"


def the_items(turn: Turn) -> list[str]:
    return list(ReviewItem.objects.filter(turn=turn).values_list("state", flat=True))


def test_its_author_has_it_again_when_the_second_person_sends_it_back() -> None:
    turn, proposal, eva = proposed()
    ben = desk.person("ben", *ALL)
    item = desk.take(the_item(turn), ben)
    record_read(item, eva)
    with pytest.raises(Refused, match="needs a reason"):
        desk.decide(item, ben, Action.DISAGREE, reason="")
    desk.decide(item, ben, Action.DISAGREE, reason="The number is an old one.")
    item = the_item(turn)
    assert (item.holder(timezone.now()), Turn.objects.get(pk=turn.pk).state) == (
        eva,
        "needs_review",
    )
    assert list(proposal.answers.values_list("action", flat=True)) == ["disagree"]
    assert AuditEvent.objects.filter(kind="review.assigned", chain=turn.session_id).exists()
    assert unread(READ, [item.pk], eva)  # the board counts that they open it from now on
    assert not Reply.objects.exists()


@pytest.mark.parametrize("change", [{"is_active": False}, {"user_permissions": None}])
def test_what_is_sent_back_is_open_where_its_author_is_away(change: dict[str, Any]) -> None:
    turn, _, eva = proposed()
    if "is_active" in change:
        User.objects.filter(pk=eva.pk).update(**change)
    else:
        eva.user_permissions.clear()
    ben = desk.person("ben", *ALL)
    taken_and_decided(the_item(turn), ben, Action.DISAGREE)
    assert (the_items(turn), the_item(turn).claimed_by) == (["open"], None)
    # Now it is Ben who proposes, and somebody else who agrees.
    taken_and_decided(the_item(turn), ben, Action.ASK, text="Are you safe now?")
    assert not Reply.objects.exists()
    cid = desk.person("cid", *ALL)
    taken_and_decided(the_item(turn), cid, Action.AGREE)
    assert Reply.objects.get(turn=turn).body["paragraphs"] == ["Are you safe now?"]


def test_what_the_second_person_changes_waits_for_somebody_else() -> None:
    turn, proposal, eva = proposed()
    ben = desk.person("ben", *ALL)
    words = {"text": "Please call 112 now.", "sources": []}
    cid = desk.person("cid", "view", "decide")
    with pytest.raises(Refused, match="agree or send it back"):
        taken_and_decided(the_item(turn), cid, Action.WRITE, **words)
    changed = taken_and_decided(the_item(turn), ben, Action.WRITE, **words)
    assert (changed.about, the_items(turn)) == (proposal, ["second_opinion"])
    with pytest.raises(Refused, match="yourself"):
        taken_and_decided(the_item(turn), ben, Action.AGREE)
    assert not Reply.objects.exists()
    taken_and_decided(the_item(turn), eva, Action.AGREE)
    assert Reply.objects.get(turn=turn).body["paragraphs"] == ["Please call 112 now."]
    assert verify(turn.session_id).ok


def test_it_wants_a_right_for_second_opinions() -> None:
    turn, _, _ = proposed()
    ben = desk.person("ben", "view", "decide")
    with pytest.raises(Refused, match="right"):
        taken_and_decided(the_item(turn), ben, Action.AGREE)


def hired(name: str, by: User, *agencies: str) -> User:
    """A caseworker whose account an administrator has just made."""
    with changing(by=by) as made:
        user = User.objects.create_user(name)
        made.append(user.pk)
        user.groups.add(Group.objects.get(name=Role.CASEWORKER.value))
        for agency in agencies:
            AgencyScope.objects.create(user=user, agency=agency)
    return User.objects.get(pk=user.pk)


def test_accounts_that_one_administrator_has_just_made_are_no_two_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The attack: an administrator made two accounts, and sent a reply to a crisis with them."""
    ada, bea = (people.person(name, Role.ADMINISTRATOR) for name in ("ada", "bea"))
    bea.groups.add(Group.objects.get(name=Role.CASEWORKER.value))
    eva, ben = (hired(name, bea, "immigration") for name in ("eva", "ben"))
    turn = desk.ask(CRISIS, {})
    taken_and_decided(the_item(turn), eva, Action.APPROVE, confirmed=True)
    with pytest.raises(Refused, match="alone gave you your account"):
        taken_and_decided(the_item(turn), ben, Action.AGREE)
    with pytest.raises(Refused, match="You gave who decided this"):
        taken_and_decided(the_item(turn), User.objects.get(pk=bea.pk), Action.AGREE)
    assert not Reply.objects.exists()
    with monkeypatch.context() as tomorrow:
        assert "Bea is working" in deciding.may(the_item(turn), ben)[Action.AGREE]
        tomorrow.setattr(selectors, "NEW", timedelta(0))
        assert "a day ago" not in deciding.may(the_item(turn), ben)[Action.AGREE]
    # A second administrator has had a part in it.
    with changing(ben.pk, by=ada):
        AgencyScope.objects.create(user=ben, agency="civil-status")
    taken_and_decided(the_item(turn), ben, Action.AGREE)
    assert (run(turn).state, Reply.objects.count()) == ("answered", 1)


@pytest.mark.parametrize(
    ("agencies", "label_sets", "needed"),
    [([], [], False), (["immigration"], [], True), (["tax"], [], False), ([], ["intents"], False)],
)
def test_it_is_wanted_where_the_deployment_says_so(
    settings: object, agencies: list[str], label_sets: list[str], needed: bool
) -> None:
    settings.IEIM_SECOND_OPINION = {  # type: ignore[attr-defined]
        "agencies": agencies,
        "label_sets": label_sets,
    }
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    taken_and_decided(the_item(turn), desk.person("eva"), Action.RETRY)
    assert the_items(turn) == ["second_opinion" if needed else "decided"]


def test_it_takes_a_proposal_back() -> None:
    turn, proposal, eva = proposed()
    ben = desk.person("ben", "view", "decide", "second")
    with pytest.raises(Refused, match="author or a supervisor"):
        deciding.undo(decision_id=proposal.pk, actor=ben, reason=REASON)
    desk.take(the_item(turn), ben)
    with pytest.raises(Refused, match="ben is working"):
        deciding.undo(decision_id=proposal.pk, actor=eva, reason=REASON)
    ReviewItem.objects.filter(turn=turn).update(state="second_opinion", claimed_by=None)
    record = deciding.undo(decision_id=proposal.pk, actor=eva, reason=REASON)
    assert (record.about, the_items(turn)) == (proposal, ["open"])
    with pytest.raises(Refused, match="already"):
        deciding.undo(decision_id=proposal.pk, actor=eva, reason=REASON)


def test_it_opens_a_dismissed_question_again() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva, first = desk.person("eva"), the_item(turn)
    decision = taken_and_decided(first, eva, Action.DISMISS)
    first.refresh_from_db()
    assert deciding.may(first, eva)[Action.UNDO] == ""
    deciding.undo(decision_id=decision.pk, actor=eva, reason=REASON)
    again = the_item(turn)
    assert (again.stage, again.reasons, again.parent_id) == (first.stage, first.reasons, first.pk)
    taken_and_decided(again, eva, Action.RETRY)
    assert desk.run(turn).state == "answered"


def test_it_cannot_undo_what_the_citizen_has() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva")
    results = taken_and_decided(the_item(turn), eva, Action.DISMISS, text="This is not for us.")
    with pytest.raises(Refused, match="told already"):
        deciding.undo(decision_id=results.pk, actor=eva, reason=REASON)
    other = desk.ask(VISA, {"category_select_v1": BAD})
    result = taken_and_decided(the_item(other), eva, Action.RETRY)
    with pytest.raises(Refused, match="asked again"):
        deciding.undo(decision_id=result.pk, actor=eva, reason=REASON)


@pytest.fixture
def duty(settings: Any) -> None:
    """Immigration wants a second person to agree to whatever its people decide."""
    settings.IEIM_SECOND_OPINION = {"agencies": ["immigration"], "label_sets": []}


@pytest.mark.usefixtures("duty")
def test_a_second_opinion_belongs_to_the_reply() -> None:
    """The agency was not known when a person corrected the first step."""
    turn = desk.ask(VISA, {"judgement_v1": BAD})
    eva, ben = desk.person("eva", *desk.ALL), desk.person("ben", *desk.ALL)
    yes = {"judgements": {"inquiry": True}, "assistantReply": None}
    taken_and_decided(the_item(turn), eva, Action.OVERRIDE, output=yes)
    item = unsigned_item(turn)
    assert item.needs_second
    taken_and_decided(item, eva, Action.APPROVE, confirmed=True)
    assert the_item(turn).state == "second_opinion"
    taken_and_decided(the_item(turn), ben, Action.AGREE)
    assert run(turn).state == "answered"


@pytest.mark.usefixtures("duty")
def test_the_duty_goes_with_an_item_that_is_handed_over() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva", agencies=["immigration", "revenue"])
    taken_and_decided(the_item(turn), eva, Action.HAND_OVER, agency="revenue")
    open_again = the_item(turn)
    taken_and_decided(open_again, eva, Action.WRITE, text="Please call.", sources=[])
    assert the_item(turn).state == "second_opinion"
    assert not Reply.objects.exists()


@pytest.mark.usefixtures("duty")
def test_correcting_the_agency_takes_its_second_opinion_along() -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva, ben = desk.person("eva", *desk.ALL), desk.person("ben", *desk.ALL)
    output = agency_output("revenue")
    taken_and_decided(the_item(turn), eva, Action.OVERRIDE, stage="agency_detect_v1", output=output)
    assert the_item(turn).state == "second_opinion"
    taken_and_decided(the_item(turn), ben, Action.AGREE)
    turn = run(turn, Scripted({"category_select_v1": BAD}))
    taken_and_decided(the_item(turn), eva, Action.WRITE, text="Please call.", sources=[])
    assert the_item(turn).state == "second_opinion"
