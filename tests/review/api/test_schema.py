"""The reviewers' part of the OpenAPI document against the API itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conversations.api.test_schema import load
from tests.review.reviewing import ITEMS

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
        ("GET", f"{item}notes/"): {"200", "401", "403", "404", "429"},
        ("POST", f"{item}notes/"): {*posted - {"200", "409"}, "201", "422"},
        ("POST", f"{item}snooze/"): posted,
        ("GET", f"{item}timeline/"): {"200", "401", "403", "404", "429"},
        ("GET", f"{item}presence/"): {"200", "401", "403", "404", "429"},
        ("POST", f"{item}sample/"): {*posted - {"200", "409"}, "204", "422"},
        ("POST", f"{item}messages/"): {*posted - {"200"}, "201", "422"},
        ("GET", f"{item}similar/"): {"200", "401", "403", "404", "429"},
        ("POST", f"{item}translation/"): {*posted - {"409"}, "422"},
    }
