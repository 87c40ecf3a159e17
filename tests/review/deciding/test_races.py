"""Many people, or many clicks, at once: one decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conversations.models import Reply, Turn
from ieim.audit.verify import verify
from ieim.people.models import User
from review import claims, deciding
from review.deciding import Action, Conflict, Refused
from review.models import Decision
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import BAD, REASON, the_item
from tests.review.item.test_opinions import RISKY

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]
InThreads = Callable[[list[Callable[[], Any]]], list[Any]]


def attempt(turn: Turn, actor: User, version: int, action: Action, **payload: Any) -> str:
    try:
        deciding.decide(
            item_id=the_item_id(turn),
            actor=actor,
            version=version,
            action=action,
            reason=REASON,
            payload=payload,
        )
    except Conflict as conflict:
        return str(conflict)
    except Refused as refused:
        return f"refused: {refused.message}"
    return "won"


def the_item_id(turn: Turn) -> Any:
    return turn.review_items.values_list("pk", flat=True).get()


@pytest.mark.usefixtures("published")
def test_it_lets_exactly_one_of_a_hundred_decide(in_threads: InThreads) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva = desk.person("eva")
    item = desk.take(the_item(turn), eva)
    payload = {"text": "Please write to us.", "sources": []}

    def decide() -> str:
        return attempt(turn, eva, item.version, Action.WRITE, **payload)

    results = in_threads([decide] * 100)
    assert set(results) == {"won", "eva was faster: write the reply. Look at the item again."}
    assert results.count("won") == Decision.objects.count() == Reply.objects.count() == 1


@pytest.mark.usefixtures("published")
def test_it_never_deadlocks_with_claims_and_runs(in_threads: InThreads) -> None:
    turn = desk.ask(VISA, {"category_select_v1": BAD})
    eva, ben = desk.person("eva"), desk.person("ben", "view", "decide", "supervise")
    item = desk.take(the_item(turn), eva)

    def decide() -> str:
        return attempt(turn, eva, item.version, Action.RETRY)

    def take_over() -> str:
        try:
            claims.take_over(item_id=item.pk, actor=ben)
        except claims.ClaimRefused as refused:
            return str(refused)
        return "taken"

    def run() -> str:
        return desk.run(turn).state

    results = in_threads([decide, take_over, run] * 6)
    assert results.count("won") == Decision.objects.count() <= 1
    assert results.count("won") or "taken" in results
    assert desk.run(turn).state == ("answered" if "won" in results else "needs_review")


@pytest.mark.usefixtures("published")
def test_two_second_persons_at_once_give_one_opinion(in_threads: InThreads) -> None:
    turn = desk.ask(RISKY, {})
    eva, ben, cid = (desk.person(name, *desk.ALL) for name in ("eva", "ben", "cid"))
    words = {"text": "Please call 112 now.", "sources": []}
    desk.taken_and_decided(the_item(turn), eva, Action.WRITE, **words)
    item = desk.take(the_item(turn), ben)

    def agree() -> str:
        return attempt(turn, ben, item.version, Action.AGREE)

    def change() -> str:
        return attempt(turn, ben, item.version, Action.WRITE, text="Go there.", sources=[])

    def take_over_and_send_back() -> str:
        try:
            taken = claims.take_over(item_id=item.pk, actor=cid)
        except claims.ClaimRefused as refused:
            return str(refused)
        return attempt(turn, cid, taken.version, Action.DISAGREE)

    in_threads([agree, change, take_over_and_send_back] * 6)
    proposals = Decision.objects.filter(action=Action.WRITE)
    assert all(proposal.answers.count() <= 1 for proposal in proposals)
    agreed = Decision.objects.filter(action=Action.AGREE).count()
    assert agreed == Reply.objects.count() <= 1
    assert Decision.objects.filter(action__in=[Action.AGREE, Action.DISAGREE]).exists()
    assert verify(turn.session_id).ok
