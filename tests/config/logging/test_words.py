"""No line of a production log holds a citizen's word, whatever goes wrong."""

from __future__ import annotations

import asyncio
import io
import logging
import logging.config
from collections.abc import Iterator
from typing import Any

import pytest
from celery import shared_task
from django.conf import settings
from django.db import DataError, IntegrityError, transaction
from django.test import Client

from conversations.models import Turn
from conversations.turns import services
from ieim.config import logs
from ieim.pipeline.ports import ModelUnavailable
from ieim.pipeline.runner import Runner
from tests.fixtures import VISA, Ask
from tests.model_server import scripted_model

CANARY = "Quetzalcoatlus"
TEXT = f"{VISA} My name is {CANARY} and my child has measles."


@pytest.fixture(params=("text", "json"))
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What production writes, with every line that can be asked for."""
    logging.config.dictConfig(logs.configuration("DEBUG", request.param, words=False))
    written = io.StringIO()
    (handler,) = (h for h in logging.getLogger().handlers if type(h) is logging.StreamHandler)
    handler.setStream(written)
    try:
        yield written
    finally:
        logging.config.dictConfig(settings.LOGGING)
        for name in logs.OURS:
            logging.getLogger(name).setLevel(logging.NOTSET)


def log_text(log: io.StringIO, *words: str) -> str:
    """Return all that was written: these words, and nothing of the citizen's."""
    output = log.getvalue()
    for word in words:
        assert word in output
    for word in (CANARY, "measles", "tourist visa"):
        assert word not in output
    return output


@shared_task(name="tests.fails")
def failing(words: str) -> None:
    raise ValueError(words)


class Raises:
    name = "raises"
    reads = False

    def __init__(self, error: Exception) -> None:
        self.error = error

    def complete(self, *_arguments: Any, **_options: Any) -> Any:
        raise self.error


@pytest.mark.both_databases
def test_of_a_turn_and_of_what_a_model_does_wrong(log: io.StringIO, ask: Ask) -> None:
    with scripted_model({"agency_detect_v1": [TEXT, f'{{"{CANARY}": 1}}']}) as (model, _):
        turn = ask(TEXT, model=model)
    assert turn.state == "needs_review"
    log_text(log, f"turn {turn.pk}: needs_review after", f"{turn.session_id}")
    turn = ask(TEXT, model=Raises(ModelUnavailable("The model server fails.")))
    assert turn.state == "awaiting_model"
    log_text(log, "the model is unavailable: The model server fails.")
    ask(TEXT, model=Raises(KeyError(TEXT)))
    log_text(log, "the run failed", "builtins.KeyError: (its words", "in complete")


@pytest.mark.both_databases
def test_of_a_row_that_the_database_refuses(
    log: io.StringIO, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def store_twice(self: Runner, message: Any, store: Any) -> Any:
        turn = Turn.objects.get(pk=store.turn.pk)
        with transaction.atomic():
            turn.pk = None
            turn.save(force_insert=True)

    monkeypatch.setattr(Runner, "run", store_twice)
    ask(TEXT)
    log_text(log, "the run failed", "IntegrityError: (its words")


@pytest.mark.both_databases
def test_of_a_request_and_of_a_task_that_fail(
    log: io.StringIO, published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_arguments: Any) -> Any:
        raise ValueError(TEXT)

    monkeypatch.setattr(services, "receive", fails)
    client = Client(raise_request_exception=False)
    assert client.post("/ask/", {"text": TEXT}).status_code == 500
    log_text(log, "Internal Server Error: ask/", "ValueError")

    failing.apply(args=(TEXT,))
    log_text(log, "tests.fails", "raised unexpected")

    async def forgotten() -> None:
        async def lost() -> None:
            raise ValueError(TEXT)

        asyncio.get_running_loop().call_exception_handler(
            {"message": "Task exception was never retrieved", "exception": await _raised(lost)}
        )

    asyncio.run(forgotten())
    log_text(log, "never retrieved")


async def _raised(work: Any) -> BaseException:
    try:
        await work()
    except ValueError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "is_logged"),
    [
        (ValueError(TEXT), False),
        (IntegrityError(f"violates\nDETAIL: Failing row contains ({TEXT})"), False),
        (DataError(TEXT), False),
        (ExceptionGroup(TEXT, [ValueError(TEXT)]), False),
        (OSError(28, "No space left on device"), True),
        (ModelUnavailable("The model server fails."), True),
    ],
)
def test_an_exception_keeps_its_type_and_its_lines(
    log: io.StringIO, error: Exception, *, is_logged: bool
) -> None:
    try:
        try:
            raise RuntimeError(TEXT) from LookupError(TEXT)
        except RuntimeError:
            raise error from None
    except Exception as caught:
        logging.getLogger("ieim.x").exception("failed: %s, %r", caught, caught)
        logging.getLogger("ieim.x").warning("and %s", caught)
    whole = log_text(log, type(error).__name__, "test_an_exception_keeps_its_type_and_its_lines")
    assert (str(error) in whole) == is_logged


def test_development_keeps_the_words_of_exceptions() -> None:
    handler = logs.configuration("INFO", "text", words=True)["handlers"]["stderr"]
    assert handler["filters"] == ["routes", "outages", "ids"]
