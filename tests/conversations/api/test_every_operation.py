"""Every operation of the citizens' part of the OpenAPI document, with generated requests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conversations.api import integrating, test_schema
from tests.conversations.api.integrating import Integrator
from tests.conversations.api.test_schema import EXAMPLES, call_own, documented

pytestmark = [pytest.mark.usefixtures("published", "no_rates"), pytest.mark.whole]
no_rates, answered = integrating.no_rates, test_schema.answered


@documented.parametrize()  # type: ignore[untyped-decorator]  # it has no types
@EXAMPLES
def test_it_keeps_to_its_document_with_any_ids(case: Any, answered: Integrator) -> None:
    case.call_and_validate(headers={"Authorization": answered.bearer})


@documented.parametrize()  # type: ignore[untyped-decorator]  # it has no types
@EXAMPLES
def test_it_keeps_to_its_document_with_its_own_ids(case: Any, answered: Integrator) -> None:
    call_own(case, answered)
