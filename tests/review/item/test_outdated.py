"""An item on an older release: it says so, and what has changed since goes out on a second yes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.citations import version
from conversations.models import Citation, Reply, Turn
from conversations.record.replay import replay
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.pipeline.topology import ANSWERING
from ieim.studio.drafts import publishing
from ieim.studio.models import ExampleQuestion, Service, Translation
from review import deciding
from review.deciding import Outdated, Refused
from review.models import Action, Decision, ReviewItem
from tests.conversations.api.test_errors import is_problem
from tests.conversations.record.test_restating import faults
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import REASON, the_item, unsure, words
from tests.review.item.test_decide import ANSWER, Desk
from tests.review.item.test_opinions import RISKY
from tests.review.people import browser
from tests.review.reviewing import Reviewer

pytestmark = pytest.mark.usefixtures("published", "at_once")

NAME = "Extend a tourist visa"
FEE = "MRK 45.00 for each person. Children under 6 pay nothing."
CHANGED = f"{NAME} (fees: {FEE} → 9.00)"
SOURCES = [{"agency": "immigration", "service": "immigration.extend-tourist-visa"}]


@pytest.fixture
def eva(published: None) -> User:
    return desk.person("eva", *desk.ALL)


@pytest.fixture
def item(published: None) -> ReviewItem:
    """A person may approve the service that the model was not sure of."""
    return the_item(desk.ask(VISA, {"service_select_v1": [unsure, unsure]}))


def change(fees: str = "9.00") -> None:
    Service.objects.filter(name=NAME).update(fees=fees)
    publishing.publish(note="another fee", by=None)


def withdraw() -> None:
    Translation.objects.filter(service=SOURCES[0]["service"]).delete()
    ExampleQuestion.objects.filter(service=SOURCES[0]["service"]).delete()
    Service.objects.filter(name=NAME).delete()
    publishing.publish(note="without it", by=None)


def withdraw_another() -> None:
    ExampleQuestion.objects.filter(service="immigration.citizenship").delete()
    Translation.objects.filter(service="immigration.citizenship").delete()
    Service.objects.filter(name="Become a citizen of Tarrow").delete()
    publishing.publish(note="another one is gone", by=None)


def page_of(item: ReviewItem, user: User) -> str:
    return words(browser(user).get(reverse("review:item", args=[item.pk])).content.decode())


def test_the_page_says_which_release_and_what_has_changed(item: ReviewItem, eva: User) -> None:
    assert "is live now" not in page_of(item, eva)
    withdraw_another()
    assert "read with release 1; release 2 is live now." in page_of(item, eva)
    desk.taken_and_decided(item, eva, Action.HAND_OVER, agency="revenue")
    risky = the_item(desk.ask(RISKY, {}), "reply")
    change()
    assert f"release 3 is live now. Changed since: {CHANGED}." in page_of(risky, eva)
    withdraw()
    assert f"release 4 is live now. Withdrawn since: {NAME}." in page_of(risky, eva)


def test_what_has_changed_is_approved_on_a_step_of_its_own(item: ReviewItem, eva: User) -> None:
    change()
    at_desk = Desk(item, eva)
    assert f"Changed since: {CHANGED}." in words(at_desk.page("preview", "approve"))
    once_more = words(at_desk.page("preview", "approve", {"once-more": "yes"}))
    assert "The services have changed since. Is this still right?" in once_more
    assert f"Changed since: {CHANGED}." in words(at_desk.page("decide", "approve", status=422))
    assert not Decision.objects.exists()
    confirmed = {"approve-confirmed": "yes"}
    assert at_desk.send("decide", "approve", confirmed).status_code == 303
    assert desk.run(item.turn).state == "answered"
    assert Decision.objects.get().artifacts["live_release"] == 2


@pytest.mark.parametrize("happens", [change, withdraw])
def test_what_a_person_writes_with_such_a_source_needs_the_same(
    item: ReviewItem, eva: User, happens: Callable[[], None]
) -> None:
    happens()
    written: dict[str, Any] = {"text": "You can extend it at our office.", "sources": SOURCES}
    with pytest.raises(Outdated, match=NAME):
        desk.taken_and_decided(item, eva, Action.WRITE, **written)
    assert not Reply.objects.exists()
    desk.decide(item, eva, Action.WRITE, **written, confirmed=True)
    assert Reply.objects.exists()


def test_rest_names_the_problem(item: ReviewItem, eva: User) -> None:
    change()
    program = Reviewer(eva)
    program.claim(item)
    payload: dict[str, Any] = {"text": "You can extend it at our office.", "sources": SOURCES}
    body = {"action": "write", "reason": REASON, "payload": payload}
    problem = is_problem(program.decide(item, body), 422)
    assert problem["type"] == "urn:ieim:problem:service-changed-unconfirmed"
    payload["confirmed"] = True
    assert program.decide(item, body).status_code == 200


def test_nobody_agrees_to_what_has_changed_since_it_was_decided(eva: User) -> None:
    item = the_item(desk.ask(RISKY, {}), "reply")
    first = desk.taken_and_decided(item, eva, Action.APPROVE, confirmed=True)
    change()
    ben = desk.person("ben", *desk.ALL)
    with pytest.raises(
        Refused, match=f"Changed since: {re.escape(CHANGED)}. Decide it anew, or send it back"
    ):
        desk.taken_and_decided(item, ben, Action.AGREE)
    desk.decide(item, ben, Action.DISAGREE)
    assert not Reply.objects.exists()
    again = desk.taken_and_decided(item, eva, Action.APPROVE, confirmed=True)
    assert (first.artifacts.get("live_release"), again.artifacts["live_release"]) == (None, 2)
    desk.taken_and_decided(item, ben, Action.AGREE)
    assert desk.run(item.turn).state == "answered"


def test_what_a_corrected_step_leads_to_comes_back_where_it_has_changed(eva: User) -> None:
    item = the_item(desk.ask(VISA, {"agency_detect_v1": desk.BAD}), "agency_detect_v1")
    change()
    output = desk.agency_output("immigration")
    desk.taken_and_decided(item, eva, Action.OVERRIDE, output=output)
    assert desk.run(item.turn).state == "needs_review"
    result = the_item(item.turn, "reply")
    assert result.reasons == ["policy.outdated"]
    with pytest.raises(Outdated, match=NAME):
        desk.taken_and_decided(result, eva, Action.APPROVE)
    desk.decide(result, eva, Action.APPROVE, confirmed=True)
    assert desk.run(item.turn).state == "answered"


def test_asking_again_begins_anew_with_the_live_release(item: ReviewItem, eva: User) -> None:
    change()
    assert "It begins anew, with release 2." in page_of(desk.take(item, eva), eva)
    desk.decide(item, eva, Action.RETRY)
    turn = desk.run(item.turn)
    assert (turn.state, turn.release_number, turn.first_release) == ("answered", 2, 1)
    assert "9.00" in str(turn.reply.body)
    assert Citation.objects.get(reply=turn.reply).service_sha256 == in_release(2)
    assert {stage.round for stage in turn.stages.filter(contract__in=ANSWERING)} == {2}
    assert replay(turn).changes == ()
    assert faults(turn) == []
    Turn.objects.filter(pk=turn.pk).update(release_number=1)
    assert faults(turn) == [("turn_signs", "changed")]


def in_release(number: int) -> str:
    return version(knowledge.release(number), "immigration", SOURCES[0]["service"])


def test_asking_again_finds_what_was_withdrawn_no_more(item: ReviewItem, eva: User) -> None:
    withdraw()
    desk.taken_and_decided(item, eva, Action.RETRY)
    turn = desk.run(item.turn)
    assert turn.release_number == 2
    assert NAME not in str(getattr(turn, "reply", ""))
    assert replay(turn).changes == ()
    assert faults(turn) == []


def test_what_a_person_has_decided_stays_with_the_release_that_it_was_decided_for(
    eva: User,
) -> None:
    item = the_item(desk.ask(VISA, {"agency_detect_v1": desk.BAD}))
    desk.taken_and_decided(item, eva, Action.OVERRIDE, output=desk.agency_output("immigration"))
    stopped = desk.run(item.turn, desk.Scripted({"service_select_v1": list(desk.BAD)}))
    change()
    desk.taken_and_decided(the_item(stopped), eva, Action.RETRY)
    assert desk.run(stopped).release_number == 1
    assert the_item(stopped).reasons == ["policy.outdated"]


@pytest.mark.parametrize("happens", [change, withdraw])
def test_what_changes_within_the_seconds_does_not_go_out(
    item: ReviewItem, eva: User, happens: Callable[[], None]
) -> None:
    desk.take(item, eva)
    item.refresh_from_db()
    seconds = timedelta(seconds=10)
    payload, now = SOURCES[0], timezone.now()
    deciding.decide(
        item_id=item.pk,
        actor=eva,
        version=item.version,
        action=Action.SERVICE,
        reason=REASON,
        payload=payload,
        delay=seconds,
    )
    happens()
    deciding.sweep(now=now + 2 * seconds)
    item.refresh_from_db()
    assert (item.state, Reply.objects.exists()) == ("open", False)
    assert NAME in item.decisions.latest("created_at").reason
    with pytest.raises(Outdated, match=NAME):
        desk.taken_and_decided(item, eva, Action.SERVICE, **payload)


def test_nobody_signs_what_has_changed_since(eva: User) -> None:
    item = the_item(desk.ask(desk.BABY, {ANSWER: desk.BAD}), ANSWER)
    civil = desk.person("civil", agencies=["civil-registry"])
    social = desk.person("social", agencies=["social-support"])
    desk.taken_and_decided(item, civil, Action.WRITE, text="Come to us.", sources=SOURCES)
    withdraw()
    item.refresh_from_db()
    assert f"Withdrawn since: {NAME}." in page_of(item, social)
    with pytest.raises(Refused, match=NAME):
        deciding.sign(
            item_id=item.pk,
            actor=social,
            version=item.version,
            agency="social-support",
            reason=REASON,
        )
    assert not Reply.objects.exists()
    desk.taken_and_decided(item, social, Action.DISAGREE)
    item.refresh_from_db()
    assert item.claimed_by == civil
