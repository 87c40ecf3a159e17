"""The reviewers' part of the OpenAPI document against the API itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from schemathesis.core.parameters import ParameterLocation

from ieim.people.models import User
from ieim.people.tokens import services as tokens
from ieim.people.tokens.scopes import offered
from review.models import ReviewItem
from tests.conversations.api.test_schema import EXAMPLES, load
from tests.fixtures import VISA
from tests.review import desk
from tests.review.desk import ALL, BAD
from tests.review.reviewing import ITEMS, Reviewer

pytestmark = pytest.mark.usefixtures("published")


def part(*accepted: str) -> Any:
    """Load the document; ``accepted`` are the statuses that a request of the right shape may get.

    A version that was not seen is 412. The parser takes no NUL anywhere, also not in an answer.
    """
    right = ["2xx", "401", "404", "409", "412", "422", *accepted]
    wrong = ["400", "401", "403", "404", "412", "413", "422", "428"]
    checks = {
        "positive_data_acceptance": {"expected-statuses": right},
        "negative_data_rejection": {"expected-statuses": wrong},
    }
    return load(checks=checks, generation={"allow-x00": False})


documented = part().include(path_regex=f"^{ITEMS}{{")
# What a filter may be is more than its shape.
listed = part("400").include(path=ITEMS)


@pytest.fixture
def eva(published: None) -> User:
    return desk.person("eva", *ALL)


@pytest.fixture
def reviewer(eva: User) -> Reviewer:
    return Reviewer(eva)


@pytest.fixture
def token(eva: User) -> str:
    eva.user_permissions.add(Permission.objects.get(codename="add_token"))
    by = User.objects.get(pk=eva.pk)
    return tokens.make(by=by, name="X", scopes=offered(by), agencies=["*"], days=1)[1]


@pytest.fixture
def item(published: None, eva: User) -> ReviewItem:
    return desk.take(desk.the_item(desk.ask(VISA, {"category_select_v1": BAD})), eva)


def call(case: Any, token: str, **headers: str) -> None:
    """Send a request with a token, but for one whose fault is to have none."""
    wrong = {where for where, part in case.meta.components.items() if part.mode.is_negative}
    if wrong & {ParameterLocation.HEADER, ParameterLocation.COOKIE}:
        case.call_and_validate()
    else:
        case.call_and_validate(headers={"Authorization": f"Bearer {token}", **headers})


@listed.parametrize()  # type: ignore[untyped-decorator]
@EXAMPLES
def test_the_list_keeps_to_its_document(case: Any, item: ReviewItem, token: str) -> None:
    call(case, token)


@documented.parametrize()  # type: ignore[untyped-decorator]
@EXAMPLES
def test_it_keeps_to_its_document_with_any_ids(case: Any, item: ReviewItem, token: str) -> None:
    call(case, token)


@documented.parametrize()  # type: ignore[untyped-decorator]
@EXAMPLES
def test_it_keeps_to_its_document_with_its_own_ids(
    case: Any, item: ReviewItem, reviewer: Reviewer, token: str
) -> None:
    seen = {}
    path = case.meta.components.get(ParameterLocation.PATH)
    if path is None or not path.mode.is_negative:
        case.path_parameters = {"id": str(item.pk)}
    if case.operation.path.endswith("decide/"):
        seen["If-Match"] = reviewer.read(item)["ETag"]
    call(case, token, **seen)


def test_it_documents_every_operation_and_its_errors() -> None:
    by_key = {
        (operation.method.upper(), operation.path): set(operation.definition.raw["responses"])
        for result in [*listed.get_all_operations(), *documented.get_all_operations()]
        for operation in [result.ok()]
    }
    item = f"{ITEMS}{{id}}/"
    posted = {"200", "400", "401", "403", "404", "409", "411", "413", "415", "429"}
    assert by_key == {
        ("GET", ITEMS): {"200", "400", "401", "403", "429"},
        ("GET", item): {"200", "401", "403", "404", "429"},
        ("POST", f"{item}claim/"): posted,
        ("POST", f"{item}release/"): posted,
        ("POST", f"{item}decide/"): {*posted, "412", "422", "428"},
        ("POST", f"{item}talk/"): {*posted, "422"},
        ("DELETE", f"{item}talk/"): {"204", "400", "401", "403", "404", "429"},
        ("POST", f"{item}messages/"): {*posted - {"200"}, "201", "422"},
    }
