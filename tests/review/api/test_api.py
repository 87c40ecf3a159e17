"""The reviewers' API: what is read, claimed and decided is what the pages would."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Turn
from ieim.people.models import User
from ieim.pipeline.canonical import dumps
from review.deciding.answers import NOT_PASSED
from review.models import Decision, ReviewItem
from review.queue.selectors import PAGE_SIZE
from review.services import open_item
from tests.conversations.api.test_errors import is_problem
from tests.fixtures import VISA
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.desk import ALL, BAD, REASON, the_item, unsure
from tests.review.reviewing import Reviewer, override, path_of, written

pytestmark = pytest.mark.usefixtures("published")
InThreads = Callable[[list[Callable[[], Any]]], list[Any]]


@pytest.fixture
def eva(published: None) -> User:
    return desk.person("eva")


@pytest.fixture
def client(eva: User) -> Reviewer:
    return Reviewer(eva)


@pytest.fixture
def item(published: None) -> ReviewItem:
    return the_item(desk.ask(VISA, {"category_select_v1": BAD}))


def ids(response: Any) -> list[str]:
    assert response.status_code == 200, response.content
    return [result["id"] for result in response.json()["items"]]


def detected() -> dict[str, Any]:
    """What a person says of the agency: what the model says when it is not scripted."""
    turn = desk.ask(VISA, {})
    output = turn.stages.get(contract="agency_detect_v1").output
    assert output is not None
    return {"judgements": json.loads(dumps(output["judgements"]))}


def test_it_lists_what_waits(client: Reviewer, item: ReviewItem) -> None:
    data = client.get().json()
    assert (data["tab"], data["next"], data["previous"]) == ("open", None, None)
    [row] = data["items"]
    assert row["id"] == str(item.pk)
    assert row["message"] == VISA
    assert row["reference"] == item.turn.session.reference
    assert (row["stage"], row["agency"], row["state"]) == (
        "category_select_v1",
        "immigration",
        "open",
    )
    assert [reason["code"] for reason in row["reasons"]] == ["json.syntax"]
    assert (row["version"], row["priority"], row["claimed_by"]) == (item.version, "normal", None)


def test_it_has_the_lists_of_the_page(client: Reviewer, item: ReviewItem, eva: User) -> None:
    other = open_item(turn_id=make_turn().pk, stage="reply", codes=["policy.risk"])
    desk.take(item, eva)
    assert set(ids(client.get())) == {str(item.pk), str(other.pk)}
    assert ids(client.get(tab="mine")) == [str(item.pk)]
    assert ids(client.get(tab="done")) == []
    assert client.decide(item, written()).status_code == 200
    assert ids(client.get(tab="done")) == [str(item.pk)]
    assert ids(client.get()) == [str(other.pk)]


@pytest.mark.parametrize(
    ("params", "fits"),
    [
        ({"q": "tourist vis"}, True),
        ({"q": "passport"}, False),
        ({"agency": "immigration", "reason": "json.syntax", "language": "en"}, True),
        ({"overdue": "1"}, False),
    ],
    ids=str,
)
def test_it_filters_and_searches(
    client: Reviewer, item: ReviewItem, params: dict[str, str], fits: bool
) -> None:
    assert bool(ids(client.get(**params))) is fits


def test_it_leads_from_page_to_page_and_back(client: Reviewer) -> None:
    opened = [
        open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])
        for _ in range(2 * PAGE_SIZE + 1)
    ]
    pages = [client.get(reason="schema")]
    while address := pages[-1].json()["next"]:
        assert "reason=schema" in address
        pages.append(client.get(address))
    seen = [pk for page in pages for pk in ids(page)]
    assert [len(ids(page)) for page in pages] == [PAGE_SIZE, PAGE_SIZE, 1]
    assert sorted(seen) == sorted(str(result.pk) for result in opened)
    back = client.get(pages[-1].json()["previous"])
    assert ids(back) == ids(pages[1])
    assert ids(client.get(back.json()["previous"])) == ids(pages[0])


def test_it_asks_as_often_for_a_full_page_as_for_one_item(client: Reviewer) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get().status_code == 200
        return len(captured)

    open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])
    one = queries()
    for _ in range(PAGE_SIZE - 1):
        open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])
    assert queries() == one


def test_an_item_says_why_it_stopped(client: Reviewer, item: ReviewItem, eva: User) -> None:
    response = client.read(item)
    data = response.json()
    assert response["ETag"] == f'"{item.version}"'
    assert "no-store" in response["Cache-Control"]
    stages = {stage["contract"]: stage for stage in data["stages"]}
    stopped = stages["category_select_v1"]
    assert stopped["status"] == "needs_review"
    assert [attempt["raw"] for attempt in stopped["attempts"]] == list(BAD)
    assert [a["findings"][0]["code"] for a in stopped["attempts"]] == ["json.syntax"] * 2
    assert stages["agency_detect_v1"]["output"]["judgements"]["agencyDetected"] == ["immigration"]
    assert stages["classify"]["result"]["primary_intent"]
    assert data["spans"]
    for span in data["spans"]:
        assert VISA[span["start"] : span["end"]].lower() == span["quote"].lower()
    allowed = {result["action"]: result["allowed"] for result in data["actions"]}
    assert not any(allowed.values())
    desk.take(item, eva)
    allowed = {
        result["action"]: result["allowed"] for result in client.read(item).json()["actions"]
    }
    assert allowed == {
        **dict.fromkeys(
            ("override", "service", "retry", "write", "ask", "hand_over", "dismiss"), True
        ),
        **dict.fromkeys(("approve", "agree", "disagree", "done"), False),
    }


def test_scores_are_numbers(client: Reviewer) -> None:
    item = the_item(desk.ask(VISA, {"service_select_v1": BAD}))
    stages = {stage["contract"]: stage for stage in client.read(item).json()["stages"]}
    candidates = stages["category_select_v1"]["output"]["categorySelection"]["candidates"]
    assert candidates
    assert all(isinstance(result["score"], float) for result in candidates.values())


def test_raw_answers_are_not_for_citizens(client: Reviewer) -> None:
    item = the_item(desk.ask(VISA, {"category_select_v1": ["my secret raw answer", BAD[0]]}))
    assert b"my secret raw answer" in client.read(item).content
    assert b"my secret raw answer" not in client.get().content
    document = client.get("/api/v1/schema/").content.decode()
    assert document.count("What the model said; what is not UTF-8") == 1


def test_it_claims_and_gives_back(client: Reviewer, item: ReviewItem) -> None:
    claimed = client.claim(item)
    assert claimed.status_code == 200
    assert claimed["ETag"] == f'"{item.version + 1}"' == client.read(item)["ETag"]
    assert (claimed.json()["state"], claimed.json()["claimed_by"]) == ("claimed", "eva")
    assert client.claim(item)["ETag"] == claimed["ETag"]
    released = client.post(f"{path_of(item)}release/")
    assert released.status_code == 200
    assert (released.json()["state"], released.json()["claimed_by"]) == ("open", None)
    assert released.json()["claimed_until"] is None


def test_a_decision_ends_the_citizens_wait(client: Reviewer, item: ReviewItem) -> None:
    tag = client.claim(item)["ETag"]
    response = client.decide(item, written("Please write to us."), seen=tag)
    assert response.status_code == 200
    decision = Decision.objects.get()
    assert response.json()["decision"] == str(decision.pk)
    assert response.json()["item"]["state"] == "decided"
    assert response["ETag"] == client.read(item)["ETag"]
    assert decision.reason == "I looked it up."
    turn = Turn.objects.select_related("reply").get()
    assert (turn.state, turn.reply.origin) == ("answered", "staff")
    [record] = client.read(item).json()["decisions"]
    assert (record["action"], record["by"]) == ("write", "eva")
    assert client.claim(item).status_code == 409


def test_an_override_passes_the_same_gate(client: Reviewer) -> None:
    item = the_item(desk.ask(VISA, {"agency_detect_v1": BAD}))
    client.claim(item)
    wrong = detected()
    wrong["judgements"]["agencyDetected"] = ["made-up"]
    refused = client.decide(item, override(wrong))
    problem = is_problem(refused, 422)
    assert problem["detail"] == NOT_PASSED
    results = [(error["code"], error["pointer"], error["path"]) for error in problem["errors"]]
    path = "/judgements/agencyDetected/0"
    assert ("knowledge.unknown", f"/payload/output{path}", path) in results
    assert all(error["detail"] for error in problem["errors"])
    assert not Decision.objects.exists()
    assert client.read(item).json()["state"] == "claimed"


def test_a_person_may_approve_what_may_be_waived(client: Reviewer) -> None:
    item = the_item(desk.ask(VISA, {"service_select_v1": [unsure, unsure]}))
    client.claim(item)
    approved = client.decide(item, {"action": "approve", "reason": REASON})
    assert approved.status_code == 200
    assert Decision.objects.get().action == "approve"


def test_a_second_person_agrees(client: Reviewer, item: ReviewItem) -> None:
    ReviewItem.objects.update(needs_second=True)
    client.claim(item)
    proposed = client.decide(item, written())
    assert proposed.json()["item"]["state"] == "second_opinion"
    assert ids(client.get(tab="second")) == [str(item.pk)]
    other = Reviewer(desk.person("ben", *ALL))
    assert other.claim(item).status_code == 200
    agreed = other.decide(item, {"action": "agree", "reason": REASON})
    assert agreed.json()["item"]["state"] == "decided"
    assert len(other.read(item).json()["decisions"]) == 2


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_one_of_many_at_once_decides(
    in_threads: InThreads, client: Reviewer, item: ReviewItem, eva: User
) -> None:
    tag = client.claim(item)["ETag"]
    people = [Reviewer(eva) for _ in range(8)]

    def decide(who: Reviewer) -> int:
        return int(who.decide(item, written(), seen=tag).status_code)

    results = sorted(in_threads([lambda who=who: decide(who) for who in people]))  # type: ignore[misc]  # a default
    assert results == [200, *[412] * 7]
    assert Decision.objects.count() == 1
