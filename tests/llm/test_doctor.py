"""``manage.py doctor`` over real servers that take one thing and refuse another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.management import CommandError, call_command

from ieim.llm import sample
from ieim.llm.offline import OfflineModel
from ieim.llm.server import REFUSALS, offline_app, running_server
from ieim.pipeline import contract as contracts
from ieim.pipeline.gate.gate import judge
from ieim.pipeline.topology import STAGES
from tests.llm.raw_server import chat, http, raw_server, saying


@contextmanager
def server(*refuse: str, fault: str = "") -> Iterator[str]:
    with running_server(offline_app(refuse=refuse, fault=fault)) as base_url:
        yield base_url


def examined(settings: Any, base_url: str, **changes: Any) -> tuple[str, int]:
    """Return what the doctor says, without the figures' spaces, and its exit code."""
    own = {"BASE_URL": base_url, "NAME": "ieim-offline", "DEADLINE": 5.0}
    settings.IEIM_MODEL = {**configured.IEIM_MODEL, **own, **changes}
    out, code = StringIO(), 0
    try:
        call_command("doctor", "model", stdout=out)
    except SystemExit as end:
        code = int(str(end.code))
    return " ".join(out.getvalue().split()), code


@pytest.mark.parametrize("contract", STAGES)
def test_its_question_has_an_answer_that_passes_the_gate(contract: str) -> None:
    """What the table says of a contract is about the model, not about the question."""
    request, context = sample.request_for(contract, temperature=0.0, max_output_tokens=2048)
    answer = OfflineModel().complete(request, deadline=1)
    assert judge(contracts.load(contract), answer, context).findings == ()


def test_a_server_that_takes_everything_needs_nothing_set(settings: Any) -> None:
    with server() as base_url:
        result, code = examined(settings, base_url)
    assert code == 0
    assert "The settings fit this server." in result
    assert result.count("passes the gate") == len(STAGES)
    assert "together" in result


@pytest.mark.parametrize(
    ("refuse", "advised"),
    [
        (["temperature"], {"SEND_TEMPERATURE=false"}),
        (["max-tokens"], {"MAX_TOKENS_FIELD=max_completion_tokens"}),
        (
            ["temperature", "max-tokens"],
            {"SEND_TEMPERATURE=false", "MAX_TOKENS_FIELD=max_completion_tokens"},
        ),
        (["json-schema"], {"RESPONSE_FORMAT=json_object_schema"}),
        (["json-schema", "schema-beside"], {"RESPONSE_FORMAT=json_object"}),
        (["json-schema", "json-object", "temperature"], {"RESPONSE_FORMAT=none"}),
        (["conditions"], set()),
        (["lengths"], set()),
    ],
)
def test_it_says_what_to_set_for_a_server_that_refuses(
    settings: Any, refuse: list[str], advised: set[str]
) -> None:
    with server(*refuse) as base_url:
        result, code = examined(settings, base_url)
    assert all(f"Set IEIM_MODEL_{line}" in result for line in advised)
    assert code == (1 if advised else 0)
    assert result.count("passes the gate") == len(STAGES)


def test_its_advice_is_enough(settings: Any) -> None:
    with server("temperature", "max-tokens", "json-schema", "store", "cache-key") as base_url:
        result, code = examined(settings, base_url, STORE=True, CACHE_KEY=True)
        assert code == 1
        assert "Set IEIM_MODEL_STORE= " in result
        assert "Set IEIM_MODEL_CACHE_KEY=false" in result
        mended: dict[str, Any] = {
            "STORE": None,
            "CACHE_KEY": False,
            "SEND_TEMPERATURE": False,
            "MAX_TOKENS_FIELD": "max_completion_tokens",
            "RESPONSE_FORMAT": "json_object_schema",
        }
        result, code = examined(settings, base_url, **mended)
    assert code == 0, result


def test_every_refusal_is_of_a_request_that_the_settings_can_make(
    settings: Any,
) -> None:
    for name in REFUSALS.keys() - {"conditions"}:
        with server(name) as base_url:
            result, _ = examined(settings, base_url)
        assert "refuses it" in result or name == "lengths", name


def test_it_warns_where_citizens_words_are_kept(settings: Any) -> None:
    with server() as base_url:
        result, code = examined(settings, base_url, STORE=True)
    assert (code, "keep what citizens write" in result) == (0, True)


def test_it_says_what_an_answer_lacks(settings: Any) -> None:
    with server(fault="fenced") as base_url:
        result, code = examined(settings, base_url)
    assert code == 1
    assert "wrong shape; json.syntax" in result
    assert "In no response format" in result


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": "<think>\nHm.\n</think>\n\n{}"}, "thinks aloud before its JSON"),
        ({"content": "Hm.\n</think>\n{}"}, "thinks aloud before its JSON"),
        ({"content": "[THINK]Hm.[/THINK]{}"}, "thinks aloud before its JSON"),
        ({"content": None, "reasoning_content": "{}"}, "its content is empty"),
        ({"content": "", "reasoning": "{}"}, "its content is empty"),
        (
            {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": {}}]},
            "calls a tool",
        ),
    ],
)
def test_it_says_why_an_answer_has_no_shape(
    settings: Any, message: dict[str, Any], said: str
) -> None:
    with raw_server(saying(http(chat(message=message)))) as raw:
        result, code = examined(settings, raw.base_url)
    assert said in result
    assert ("The settings fit" in result, code) == (False, 1)


def test_it_says_that_the_context_is_too_short(settings: Any) -> None:
    body = b'{"error": {"message": "maximum context length is 512 tokens", "code": 400}}'
    with raw_server(saying(http(body, status="400 X"))) as raw:
        result, code = examined(settings, raw.base_url)
    assert "start its server with a longer one" in result
    assert ("The settings fit" in result, code) == (False, 1)


def test_it_shows_what_a_prefix_cache_had(settings: Any) -> None:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 512},
    }
    body = json.dumps({**json.loads(chat("{}")), "usage": usage}).encode()
    with raw_server(saying(http(body))) as raw:
        result, code = examined(settings, raw.base_url)
    assert "judgement_v1 900 7 512" in result
    assert code == 1


def test_without_a_server_it_asks_the_offline_engine(settings: Any) -> None:
    result, code = examined(settings, "")
    assert code == 0
    assert "the offline engine answers" in result
    assert result.count("passes the gate") == len(STAGES)


@pytest.mark.parametrize("changes", [{"NAME": "no such model"}, {"BASE_URL": "http://127.0.0.1:1"}])
def test_it_says_so_when_no_answer_can_be_had(settings: Any, changes: dict[str, Any]) -> None:
    with server() as base_url, pytest.raises(CommandError, match=r"IEIM_MODEL_(NAME|BASE_URL)"):
        examined(settings, base_url, **changes)


def test_a_server_that_fails_at_everything_is_no_server(settings: Any) -> None:
    with server(fault="error") as base_url, pytest.raises(CommandError, match="refuses or fails"):
        examined(settings, base_url)
