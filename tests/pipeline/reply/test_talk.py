"""Whether a reply goes on with the talk's service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import Query
from ieim.pipeline.reply.cards import Source
from ieim.pipeline.reply.marks import mark_continuation
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.stages.base import Context, Inputs
from tests.pipeline.build import TODAY
from tests.pipeline.searching import FakeSearch

VISA = Source("immigration", "Immigration Office", "extend", "Extend a tourist visa", "")
OTHER = Source("immigration", "Immigration Office", "lose", "Report a lost visa", "")
HERS = {"role": "user", "text": "I want to extend my visa"}
TOLD = {"role": "assistant", "text": "Fill in.", "agency": "immigration", "service": "extend"}
HELLO = {"role": "assistant", "text": "You are welcome."}
TEXT = "and how much does it cost?"


def inputs(history: Sequence[Mapping[str, Any]]) -> Inputs:
    context = Context(1, TEXT, {}, cast(Release, None))
    return Inputs(TEXT, history, context, FakeSearch(), {}, today=TODAY, query=Query(TEXT))


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
    result = mark_continuation(said(*sources), inputs(history))
    assert result.still_about == still_about
    assert ("still_about" in result.as_dict()) is bool(still_about)
    assert Reply.from_dict(result.as_dict()) == result
