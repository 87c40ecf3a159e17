from __future__ import annotations

import pytest

from conversations.states import StageStatus
from ieim.pipeline.findings import Code
from ieim.pipeline.topology import STAGES
from ieim.studio.labels import STAGES as WORDS
from review import finding_texts, labels
from review.states import ReviewState


def test_it_has_words_for_every_code_stage_status_and_state() -> None:
    assert set(finding_texts.SENTENCES) == set(Code)
    assert set(WORDS) == {*STAGES, "reply", "person"}
    assert set(labels.STAGE_STATUSES) == set(StageStatus)
    assert set(labels.ITEM_STATES) == set(ReviewState)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["json.syntax"], "The model’s answer was not in the form it must have."),
        (
            ["json.syntax", "json.not_object"],
            "The model’s answer was not in the form it must have.",
        ),
        (
            ["reply.empty", "schema"],
            "The answer says nothing of what its sources say. (1 more reason)",
        ),
        (
            ["reply.empty", "schema", "new.code"],
            "The answer says nothing of what its sources say. (2 more reasons)",
        ),
        (["new.code"], "new.code"),
        ([], "A person has to look at this."),
    ],
)
def test_it_says_the_first_reason_and_how_many_more(codes: list[str], expected: str) -> None:
    assert finding_texts.summary(codes) == expected
