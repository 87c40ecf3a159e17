"""From settings to a model."""

from __future__ import annotations

from typing import Any

import pytest

from ieim.llm.factory import build_model
from ieim.llm.offline import OfflineModel
from ieim.llm.openai_client import OpenAIModel
from tests.llm.requested import request

CONFIG: dict[str, Any] = {
    "BASE_URL": "",
    "API_KEY": "k",
    "NAME": "ieim-offline",
    "TEMPERATURE": 0.2,
    "DEADLINE": 30.0,
    "RESPONSE_FORMAT": "json_schema",
    "MAX_TOKENS_FIELD": "max_tokens",
    "SEND_TEMPERATURE": True,
    "STORE": True,
    "CACHE_KEY": False,
    "OVERRIDES": {},
    "HAS_PROXY": False,
}


def test_it_takes_the_offline_engine_when_no_server_is_set() -> None:
    assert isinstance(build_model(CONFIG), OfflineModel)


def test_it_takes_the_server_that_is_set(offline_endpoint: str) -> None:
    model = build_model({**CONFIG, "BASE_URL": offline_endpoint})
    assert isinstance(model, OpenAIModel)
    assert model.name == "ieim-offline"
    assert model.complete(request(), deadline=5).finish_reason == "stop"


@pytest.mark.parametrize(
    ("change", "variable"),
    [
        ({"NAME": ""}, "IEIM_MODEL_NAME"),
        ({"RESPONSE_FORMAT": "xml"}, "IEIM_MODEL_RESPONSE_FORMAT"),
        ({"BASE_URL": "localhost:1"}, "IEIM_MODEL_BASE_URL"),
        ({"API_KEY": "a b"}, "IEIM_MODEL_API_KEY"),
    ],
)
def test_it_says_which_variable_cannot_work(change: dict[str, Any], variable: str) -> None:
    with pytest.raises(ValueError, match=variable):
        build_model({**CONFIG, "BASE_URL": "http://127.0.0.1:1/v1", **change})
