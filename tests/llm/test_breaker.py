"""The circuit breaker: a server that is down is left alone until one call finds it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ieim.llm.factory import FAILURES, BreakerModel
from ieim.llm.offline import OfflineModel
from ieim.pipeline.ports import (
    REJECTED,
    Cause,
    Message,
    ModelAnswer,
    ModelRequest,
    ModelUnavailable,
)
from ieim.search.breaker import OPEN_SECONDS

REQUEST = ModelRequest(
    contract="judgement_v1",
    attempt=1,
    messages=(Message("system", ""), Message("system", ""), Message("user", "{}")),
    temperature=0.0,
    max_output_tokens=10,
)


class Server:
    """A model that is up or down."""

    name = OfflineModel().name
    reads = False

    def __init__(self) -> None:
        self.up = True
        self.calls = 0
        self.now = 0.0
        self.refused: set[str] = set()

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.calls += 1
        if request.turn in self.refused:
            raise ModelUnavailable("bad", status=400, passing=False, is_request_specific=True)
        if not self.up:
            raise ModelUnavailable("down", status=503)
        return ModelAnswer("{}")


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def model(server: Server) -> BreakerModel:
    return BreakerModel(server, clock=lambda: server.now)


def fail(model: BreakerModel, times: int = 1) -> ModelUnavailable:
    for _ in range(times):
        with pytest.raises(ModelUnavailable) as raised:
            model.complete(REQUEST, deadline=1)
    return raised.value


def test_it_lets_a_working_model_through(model: BreakerModel, server: Server) -> None:
    assert model.complete(REQUEST, deadline=1).raw == "{}"
    assert model.name == server.name


def test_it_opens_after_failures_in_a_row(model: BreakerModel, server: Server) -> None:
    server.up = False
    fail(model, FAILURES)
    result = fail(model, 20)
    assert server.calls == FAILURES
    assert (result.passing, result.retry_after) == (False, OPEN_SECONDS)
    assert (result.cause, result.status) == (Cause.SERVER, 503)


def test_it_counts_only_failures_in_a_row(model: BreakerModel, server: Server) -> None:
    for _ in range(3):
        server.up = False
        fail(model, FAILURES - 1)
        server.up = True
        model.complete(REQUEST, deadline=1)
    assert server.calls == 3 * FAILURES


def test_it_sends_one_probe_and_closes_when_it_is_answered(
    model: BreakerModel, server: Server
) -> None:
    server.up = False
    fail(model, FAILURES)
    server.now += OPEN_SECONDS
    fail(model)
    assert server.calls == FAILURES + 1
    fail(model)
    assert server.calls == FAILURES + 1
    server.up = True
    server.now += OPEN_SECONDS
    model.complete(REQUEST, deadline=1)
    model.complete(REQUEST, deadline=1)
    assert server.calls == FAILURES + 3


def test_a_turn_that_is_not_taken_stops_no_other(model: BreakerModel, server: Server) -> None:
    server.refused = {"a"}
    for _ in range(3 * FAILURES):
        answer = model.complete(replace(REQUEST, turn="a"), deadline=1)
        assert (answer.raw, answer.finish_reason) == ("", REJECTED)
    assert not model.is_open
    assert model.complete(replace(REQUEST, turn="b"), deadline=1).raw == "{}"


def test_a_contract_that_is_never_taken_is_no_fault_of_the_turns(
    model: BreakerModel, server: Server
) -> None:
    *turns, last = [str(number) for number in range(FAILURES)]
    server.refused = {*turns, last}
    for turn in turns:
        assert model.complete(replace(REQUEST, turn=turn), deadline=1).finish_reason == REJECTED
        # Another contract has other settings, and is answered.
        assert model.complete(replace(REQUEST, contract="classify"), deadline=1).raw == "{}"
    with pytest.raises(ModelUnavailable):
        model.complete(replace(REQUEST, turn=last), deadline=1)


def test_several_turns_in_a_row_that_are_not_taken_are_the_servers_fault(
    model: BreakerModel, server: Server
) -> None:
    turns = [str(number) for number in range(FAILURES)]
    server.refused = set(turns)
    for turn in turns[:-1]:
        assert model.complete(replace(REQUEST, turn=turn), deadline=1).finish_reason == REJECTED
    for turn in [turns[-1], *turns]:
        with pytest.raises(ModelUnavailable) as raised:
            model.complete(replace(REQUEST, turn=turn), deadline=1)
        assert (raised.value.cause, raised.value.status) == (Cause.REQUEST, 400)
    # It answers at once: there is nothing that others would wait for.
    assert model.complete(replace(REQUEST, turn="another"), deadline=1).raw == "{}"
    assert model.complete(replace(REQUEST, turn=turns[0]), deadline=1).finish_reason == REJECTED
