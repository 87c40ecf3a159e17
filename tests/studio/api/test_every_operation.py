"""Every operation of the editors' part of the OpenAPI document, with generated requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from schemathesis.core.parameters import ParameterLocation

from ieim.people.tokens import services as tokens
from ieim.people.tokens.scopes import offered
from tests.conversations.api.test_schema import EXAMPLES
from tests.review.people import editor_and_publisher
from tests.studio.api.test_schema import documented

pytestmark = [pytest.mark.usefixtures("published"), pytest.mark.whole]


@pytest.fixture
def token(published: None) -> str:
    by = editor_and_publisher("ed")
    return tokens.make(by=by, name="X", scopes=offered(by), agencies=["*"], days=1)[1]


@documented.parametrize()  # type: ignore[untyped-decorator]  # it has no types
@settings(EXAMPLES, max_examples=15)  # many operations are alike
def test_it_keeps_to_its_document(case: Any, token: str) -> None:
    wrong = {where for where, part in case.meta.components.items() if part.mode.is_negative}
    if wrong & {ParameterLocation.HEADER, ParameterLocation.COOKIE}:
        case.call_and_validate()
    else:
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"})
