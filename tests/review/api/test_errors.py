"""Whatever is wrong with a reviewer's request is said as problem details, and changes nothing."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from ieim.people.models import User
from review.models import Decision, ReviewItem
from review.services import open_item
from tests.conversations.api.test_errors import is_problem
from tests.review import desk
from tests.review.conftest import make_turn
from tests.review.desk import REASON
from tests.review.people import belong
from tests.review.reviewing import ITEMS, Reviewer, override, path_of, written

pytestmark = pytest.mark.usefixtures("published")
NOT_HERE = f"{ITEMS}{uuid.UUID(int=7)}/"


@pytest.fixture
def eva(published: None) -> User:
    return desk.person("eva")


@pytest.fixture
def client(eva: User) -> Reviewer:
    return Reviewer(eva)


@pytest.fixture
def item(published: None) -> ReviewItem:
    return open_item(turn_id=make_turn().pk, stage="reply", codes=["schema"])


def addresses(item: ReviewItem) -> list[tuple[str, str]]:
    path = path_of(item)
    posts = [("POST", f"{path}{name}/") for name in ("claim", "release", "decide")]
    return [("GET", ITEMS), ("GET", path), *posts]


def test_it_wants_a_login(item: ReviewItem) -> None:
    for method, path in addresses(item):
        response = Client().generic(method, path, headers={"Authorization": "Basic ZXZhOmV2YQ=="})
        is_problem(response, 401)
        assert response["WWW-Authenticate"] == "Bearer, Session"


def test_a_citizens_token_opens_nothing(item: ReviewItem) -> None:
    citizen = Client()
    token = citizen.post("/api/v1/sessions/", content_type="application/json").json()["token"]
    for method, path in addresses(item):
        headers = {"Authorization": f"Bearer {token}"}
        is_problem(citizen.generic(method, path, headers=headers), 401)


def test_what_changes_something_needs_the_csrf_token(client: Reviewer, item: ReviewItem) -> None:
    for _, path in addresses(item)[2:]:
        is_problem(client.post(path, written(), **{"X-CSRFToken": ""}), 403)
        is_problem(client.post(path, written(), **{"X-CSRFToken": "made-up"}), 403)
    assert ReviewItem.objects.get().version == item.version


@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        (("second",), [403, 403, 403, 403, 403]),
        (("view",), [200, 200, 403, 403, 403]),
        (("decide",), [403, 403, 200, 200, 428]),
    ],
    ids=str,
)
def test_it_wants_the_rights_of_the_pages(
    item: ReviewItem, rights: tuple[str, ...], expected: list[int]
) -> None:
    client = Reviewer(desk.person("mallory", *rights))
    called = [
        client.get(path) if method == "GET" else client.post(path, written())
        for method, path in addresses(item)
    ]
    assert [response.status_code for response in called] == expected
    assert [r["Content-Type"].endswith("problem+json") for r in called] == [
        status >= 400 for status in expected
    ]


def test_a_second_opinion_needs_its_right(client: Reviewer, item: ReviewItem) -> None:
    tag = client.claim(item)["ETag"]
    is_problem(client.decide(item, {"action": "agree", "reason": REASON}, seen=tag), 403)


def test_an_item_of_another_agency_is_not_there(item: ReviewItem) -> None:
    belong(item, "housing")
    client = Reviewer(desk.person("vera", agencies=["vehicles"]))
    assert client.get().json()["items"] == []
    values = [is_problem(client.get(path_of(item)), 404)]
    values += [is_problem(client.post(path), 404) for _, path in addresses(item)[2:]]
    values += [is_problem(client.get(NOT_HERE), 404)]
    assert len({result["detail"] for result in values}) == 1
    reviewer = Reviewer(desk.person("hana", agencies=["housing"]))
    assert reviewer.read(item).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "items", 404),
        ("GET", "items/no-uuid/", 404),
        ("GET", "items/%00/", 404),
        ("POST", "items/no-uuid/claim/", 404),
        ("GET", f"items/{uuid.UUID(int=7)}/", 404),
        ("POST", f"items/{uuid.UUID(int=7)}/claim/", 404),
        ("POST", f"items/{uuid.UUID(int=7)}/release/", 404),
        ("POST", f"items/{uuid.UUID(int=7)}/decide/", 404),
        ("GET", f"items/{uuid.UUID(int=7)}/decide/", 405),
        ("DELETE", f"items/{uuid.UUID(int=7)}/", 405),
        ("PUT", f"items/{uuid.UUID(int=7)}/decide/", 405),
        ("POST", "items/", 405),
        ("OPTIONS", "items/", 405),
        ("BREW", "items/", 405),
        ("GET", "nothing/", 404),
    ],
)
def test_it_has_no_error_pages(client: Reviewer, method: str, path: str, status: int) -> None:
    headers = {"X-CSRFToken": client.csrf, "Accept": "text/html"}
    is_problem(client.http.generic(method, f"/api/v1/review/{path}", headers=headers), status)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("tab=all", "tab"),
        ("tab=", "tab"),
        ("age=year", "age"),
        ("overdue=yes", "overdue"),
        ("stat=reply", "stat"),
        ("stage=a&stage=b", "twice"),
        ("q=" + "x" * 101, "q"),
        ("agency=" + "x" * 201, "agency"),
        ("q=%00", "q"),
        ("q=a%07b", "filter"),
        ("after=x", "after"),
        ("after=1-zz", "after"),
        (f"after=-1-{'0' * 32}", "after"),
        (f"after=1-{'0' * 32}%0A", "page"),
        (f"before={'9' * 17}-{'0' * 31}g", "before"),
        (f"before=1-{'0' * 32}&after=1-{'0' * 32}", "both"),
    ],
)
def test_it_says_what_is_wrong_with_an_address(client: Reviewer, query: str, field: str) -> None:
    assert field in is_problem(client.get(f"{ITEMS}?{query}"), 400)["detail"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/action"),
        (written(action="undo"), "/action"),
        (written(action=7), "/action"),
        (written(reason=None), "/reason"),
        (written(reason="a\x00b"), "/reason"),
        (written(version=3), "/version"),
        (written(payload=[]), "/payload"),
        (written(payload=None), "/payload"),
        (written(payload={"txt": "hello"}), "/payload/txt"),
        (written(payload={"text": 7}), "/payload/text"),
        (override("no object"), "/payload/output"),
        (written(payload={"sources": [{"agency": 1, "service": "a"}]}), "/payload/sources"),
        (written(payload={"sources": [{}] * 21}), "/payload/sources"),
    ],
    ids=str,
)
def test_it_points_at_what_it_cannot_use(
    client: Reviewer, item: ReviewItem, body: Any, pointer: str
) -> None:
    tag = client.claim(item)["ETag"]
    problem = is_problem(client.decide(item, body, seen=tag), 400)
    assert problem["errors"]
    assert problem["errors"][0]["pointer"].startswith(pointer)
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no json", 400),
        (b"[]", 400),
        (b'{"action": "a", "action": "b"}', 400),
        (b"x" * 33_000, 413),
    ],
    ids=["text", "list", "twice", "large"],
)
def test_it_takes_nothing_but_one_strict_json_object(
    client: Reviewer, item: ReviewItem, body: bytes, status: int
) -> None:
    tag = client.claim(item)["ETag"]
    is_problem(client.decide(item, body, seen=tag), status)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("multipart/form-data", 415),
    ],
)
def test_it_takes_json_only(client: Reviewer, item: ReviewItem, kind: str, status: int) -> None:
    body = json.dumps(written()).encode()
    is_problem(client.post(f"{path_of(item)}decide/", body, **{"Content-Type": kind}), status)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (written(reason=" x "), "reason"),
        (written(" "), "text"),
        (written("See https://evil.example"), "links"),
        (
            written(payload={"text": "Hello there", "sources": [{"agency": "a", "service": "b"}]}),
            "source",
        ),
        (written(action="ask", payload={"text": "Where?", "sources": []}), "sources"),
        ({"action": "retry", "reason": REASON, "payload": {"output": {}}}, "output"),
        ({"action": "hand_over", "reason": REASON, "payload": {"agency": "made-up"}}, "agency"),
        ({"action": "approve", "reason": REASON}, "reply"),
        (override({}, stage="made-up"), "stage"),
    ],
    ids=str,
)
def test_it_says_why_it_is_not_decided_like_this(
    client: Reviewer, item: ReviewItem, body: Any, words: str
) -> None:
    item.turn.state = "needs_review"
    item.turn.save()
    tag = client.claim(item)["ETag"]
    assert words in is_problem(client.decide(item, body, seen=tag), 422)["detail"]
    assert not Decision.objects.exists()


def test_a_decision_needs_a_claim(client: Reviewer, item: ReviewItem) -> None:
    assert "Take it first" in is_problem(client.decide(item, written()), 422)["detail"]


def test_a_decision_needs_the_version_that_was_seen(client: Reviewer, item: ReviewItem) -> None:
    tag = client.claim(item)["ETag"]
    path = f"{path_of(item)}decide/"
    assert "ETag" in is_problem(client.post(path, written()), 428)["detail"]
    for other in (f'"{item.version}"', "*", "nonsense", f"W/{tag}", tag.strip('"'), '""'):
        problem = is_problem(client.decide(item, written(), seen=other), 412)
        assert "changed" in problem["detail"]
    assert not Decision.objects.exists()
    assert ReviewItem.objects.get().version == item.version + 1


def test_somebody_elses_item_is_theirs(client: Reviewer, item: ReviewItem) -> None:
    desk.take(item, desk.person("ben"))
    assert "ben" in is_problem(client.claim(item), 409)["detail"]
    assert "ben" in is_problem(client.decide(item, written()), 409)["detail"]
    assert "ben" in is_problem(client.post(f"{path_of(item)}release/"), 409)["detail"]
    data = client.read(item).json()
    assert (data["claimed_by"], data["claimed_until"] is None) == ("ben", False)
    ReviewItem.objects.update(claimed_until=timezone.now() - timedelta(minutes=1))
    data = client.read(item).json()
    assert (data["claimed_by"], data["claimed_until"]) == (None, None)
    assert client.claim(item).status_code == 200
