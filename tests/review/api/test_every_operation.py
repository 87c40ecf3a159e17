"""Every operation of the reviewers' part of the OpenAPI document, with generated requests."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from schemathesis.core.parameters import ParameterLocation

from ieim.people.models import User
from ieim.people.tokens import services as tokens
from ieim.people.tokens.scopes import offered
from review.models import ReviewItem
from tests.conversations.api.test_schema import EXAMPLES
from tests.fixtures import VISA
from tests.review import desk
from tests.review.api.test_schema import documented, listed
from tests.review.desk import ALL, BAD
from tests.review.reviewing import Reviewer

pytestmark = [pytest.mark.usefixtures("published"), pytest.mark.whole]


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


@listed.parametrize()  # type: ignore[untyped-decorator]  # it has no types
@EXAMPLES
def test_the_list_keeps_to_its_document(case: Any, item: ReviewItem, token: str) -> None:
    call(case, token)


@documented.parametrize()  # type: ignore[untyped-decorator]  # it has no types
@EXAMPLES
def test_it_keeps_to_its_document_with_any_ids(case: Any, item: ReviewItem, token: str) -> None:
    call(case, token)


@documented.parametrize()  # type: ignore[untyped-decorator]  # it has no types
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
