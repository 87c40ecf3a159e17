"""A model that is sure of the wrong service: whole turns over the demo."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ieim.llm.offline import OfflineModel
from ieim.pipeline.findings import Code
from ieim.pipeline.ports import ModelAnswer, ModelRequest, Shortlist
from ieim.pipeline.runner import Runner
from ieim.pipeline.work import Abstained, Answered, Outcome, Turn
from ieim.search import fuse
from tests.embedders import Ideas
from tests.llm.offline.turns import release
from tests.pipeline.build import TODAY
from tests.pipeline.drive import MemoryStore

EXTEND = "I want to stay longer, how do I extend my tourist visa?"


class Sure(OfflineModel):
    """The offline engine, but for the service: the candidate at ``place``, for sure."""

    reads_hints = False

    def __init__(self, place: int) -> None:
        self.place = place
        self.offered: list[str] = []

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        answer = json.loads(super().complete(request, deadline=deadline).raw)
        if "serviceSelection" in answer:
            slots = json.loads(request.messages[2].content)["service_index"]
            self.offered = [slot["serviceKey"] for slot in slots]
            chosen = {key: slots[self.place][key] for key in ("serviceKey", "name", "path")}
            answer["serviceSelection"] |= chosen | {"score": 0.99}
        return ModelAnswer(json.dumps(answer))


@cache
def shortlist() -> Shortlist:
    return fuse(release(), Ideas())


def run(model: Sure, history: Sequence[Mapping[str, Any]] = ()) -> Outcome:
    runner = Runner(
        model,
        shortlist(),
        release(),
        clock=lambda: 0.0,
        pause=lambda _seconds: None,
        backoff=lambda _number: 0.0,
    )
    turn = Turn("turn", "session", EXTEND, history, today=TODAY)
    return runner.run(turn, MemoryStore())


def test_the_last_candidate_and_the_clear_one_are_both_offered_first() -> None:
    model = Sure(-1)
    outcome = run(model)
    assert isinstance(outcome, Abstained)
    assert [finding.code for finding in outcome.findings] == [Code.ROUTE_SUBJECT]
    first = {service.key for service in outcome.offered[:2]}
    assert first == {model.offered[-1], "immigration.extend-tourist-visa"}


def test_the_clear_one_is_answered() -> None:
    outcome = run(Sure(0))
    assert isinstance(outcome, Answered)
    assert outcome.reply.sources[0].service_key == "immigration.extend-tourist-visa"


def test_a_sure_model_is_believed_in_a_talk() -> None:
    talk = [
        {"role": "user", "text": "Hello, I have a question about my stay."},
        {"role": "assistant", "text": "Hello. What do you need?"},
    ]
    assert isinstance(run(Sure(-1), talk), Answered)
