"""The circuit breaker: a server that is down is left alone until one call finds it back."""

from __future__ import annotations

import pytest

from ieim.llm.factory import FAILURES, BreakerModel
from ieim.llm.offline import OfflineModel
from ieim.pipeline.ports import Cause, Message, ModelAnswer, ModelRequest, ModelUnavailable
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
    reads_hints = True

    def __init__(self) -> None:
        self.up = True
        self.calls = 0
        self.now = 0.0

    def complete(self, request: ModelRequest, *, deadline: float) -> ModelAnswer:
        self.calls += 1
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
    said = fail(model, 20)
    assert server.calls == FAILURES
    assert (said.passing, said.retry_after) == (False, OPEN_SECONDS)
    assert (said.cause, said.status) == (Cause.SERVER, 503)


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
