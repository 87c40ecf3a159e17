"""Whether a reply goes on with the talk's service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import pytest

from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Shortlist
from ieim.pipeline.reply.cards import Source
from ieim.pipeline.reply.reply import Reply, mark_continuation
from ieim.pipeline.stages.base import Context, Inputs
from tests.pipeline.build import TODAY

VISA = Source("immigration", "Immigration Office", "extend", "Extend a tourist visa", "")
OTHER = Source("immigration", "Immigration Office", "lose", "Report a lost visa", "")
HERS = {"role": "user", "text": "I want to extend my visa"}
TOLD = {"role": "assistant", "text": "Fill in.", "agency": "immigration", "service": "extend"}
HELLO = {"role": "assistant", "text": "You are welcome."}


class Leaving:
    """A search that says whether a message leaves its talk, and notes that it was asked."""

    def __init__(self, leaves: bool) -> None:
        self.leaves = leaves
        self.asked: list[str] = []

    def goes_on(self, query: str) -> float:
        self.asked.append(query)
        return 0.0 if self.leaves else 1.0


def inputs(history: Sequence[Mapping[str, Any]], search: Leaving, score: str = "0.79") -> Inputs:
    text = "and how much does it cost?"
    state = {"service_select_v1": {"serviceSelection": {"score": Decimal(score)}}}
    context = Context(1, text, state, cast(Release, None))
    return Inputs(text, history, context, cast(Shortlist, search), {}, today=TODAY)


def said(*sources: Source) -> Reply:
    kind: Any = "service" if len(sources) == 1 else "answer"
    return Reply(kind, sources[0].service_name if sources else "", "", (), (), sources)


@pytest.mark.parametrize(
    ("history", "sources", "still_about"),
    [
        ([HERS, TOLD], [VISA], VISA.service_name),
        ([HERS, TOLD, HERS, HELLO], [VISA], VISA.service_name),
        ([HERS, TOLD], [VISA, OTHER], VISA.service_name),
        ([HERS, TOLD], [OTHER], ""),
        ([HERS, TOLD], [OTHER, VISA], ""),
        ([HERS, TOLD, HERS, {**TOLD, "service": "lose"}], [VISA], ""),
        ([HERS, {**TOLD, "agency": "passports"}], [VISA], ""),
        ([HERS, HELLO], [VISA], ""),
        ([HERS, TOLD], [], ""),
        ([], [VISA], ""),
    ],
)
def test_it_goes_on_with_the_service_of_the_last_answer(
    history: list[dict[str, str]], sources: list[Source], still_about: str
) -> None:
    reply = said(*sources)
    found = mark_continuation(reply, inputs(history, Leaving(leaves=False)))
    assert found.still_about == still_about
    assert mark_continuation(reply, inputs(history, Leaving(leaves=True))) == reply


def test_a_sure_model_says_by_its_choice_that_it_goes_on() -> None:
    sure = inputs([HERS, TOLD], Leaving(leaves=True), score="0.80")
    assert mark_continuation(said(VISA), sure).still_about == VISA.service_name
    assert mark_continuation(said(OTHER), sure).still_about == ""


def test_it_searches_only_where_that_can_matter() -> None:
    search = Leaving(leaves=False)
    mark_continuation(said(OTHER), inputs([HERS, TOLD], search))
    assert search.asked == []


def test_a_reply_that_goes_on_with_nothing_is_stored_as_ever() -> None:
    reply = said(VISA)
    assert "still_about" not in reply.as_dict()
    assert Reply.from_dict(reply.as_dict()) == reply
    on = mark_continuation(reply, inputs([HERS, TOLD], Leaving(leaves=False)))
    assert Reply.from_dict(on.as_dict()) == on
