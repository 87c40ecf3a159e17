"""``settings.IEIM_MODEL``: which model is asked, how, and within which bounds.

Nothing here raises: problems are noted on the :class:`~ieim.config.environment.env.Env` and told
together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from ieim.config.environment.env import Env

_CONTRACTS = Path(__file__).resolve().parents[2] / "pipeline" / "contracts"
_RESPONSE_FORMATS = ("json_schema", "json_object_schema", "json_object", "none")
_MAX_TOKENS_FIELDS = ("max_tokens", "max_completion_tokens")
_OVERRIDES: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "temperature": (int, float),
    "max_output_tokens": (int,),
    "max_input_tokens": (int,),
    "response_format": (str,),
    "max_tokens_field": (str,),
    "send_temperature": (bool,),
}
_OPTIONS = {"response_format": _RESPONSE_FORMATS, "max_tokens_field": _MAX_TOKENS_FIELDS}

_RANGES = {"temperature": (0, 2), "max_output_tokens": (1, 10**6), "max_input_tokens": (1, 10**12)}


class ModelOverride(TypedDict, total=False):
    """What one stage does differently."""

    model: str
    temperature: float
    max_output_tokens: int
    max_input_tokens: int
    response_format: str
    max_tokens_field: str
    send_temperature: bool


class ModelSettings(TypedDict):
    """``settings.IEIM_MODEL``.

    ``BASE_URL`` is empty for the offline engine; ``AHEAD`` says whether the likeliest next stages
    are asked beside the present one, ``CALLS`` how many calls of all processes the server gets at
    once, None for no limit; ``DEADLINE`` is in seconds, for one call in all; ``STORE`` is None
    where nothing is said of it; ``OVERRIDES`` are by stage id; ``BUDGET`` counts tokens of an
    ``input``, a ``session`` and a ``day``, None for no limit. ``LANGUAGES`` are ISO 639;
    ``KEY_PATTERNS`` are by key type.
    """

    BASE_URL: str
    API_KEY: str
    NAME: str
    TEMPERATURE: float
    DEADLINE: float
    RESPONSE_FORMAT: str
    MAX_TOKENS_FIELD: str
    SEND_TEMPERATURE: bool
    STORE: bool | None
    CACHE_KEY: bool
    AHEAD: bool
    CALLS: int | None
    OVERRIDES: dict[str, ModelOverride]
    BUDGET: dict[str, int | None]
    LANGUAGES: list[str]
    KEY_PATTERNS: Mapping[str, Sequence[re.Pattern[str]]]


def model(env: Env) -> ModelSettings:
    """The model to ask, and how."""
    base_url = env.text("IEIM_MODEL_BASE_URL")
    if base_url and not base_url.startswith(("http://", "https://")):
        env.problem(
            "IEIM_MODEL_BASE_URL",
            "is not a web address. Set it to one such as https://models.example.org/v1, "
            "or leave it out for the offline engine.",
        )
    return {
        "BASE_URL": base_url,
        "API_KEY": env.text("IEIM_MODEL_API_KEY"),
        "NAME": env.required(
            "IEIM_MODEL_NAME",
            "IEIM_MODEL_BASE_URL is set, so set it to the name of a model of that server.",
            when=bool(base_url),
        ),
        "TEMPERATURE": env.number("IEIM_MODEL_TEMPERATURE", 0.2, low=0, high=2),
        "DEADLINE": env.number("IEIM_MODEL_DEADLINE", 30, low=0.1, high=600),
        "RESPONSE_FORMAT": env.choice(
            "IEIM_MODEL_RESPONSE_FORMAT", _RESPONSE_FORMATS, "json_schema"
        ),
        "MAX_TOKENS_FIELD": env.choice(
            "IEIM_MODEL_MAX_TOKENS_FIELD", _MAX_TOKENS_FIELDS, "max_tokens"
        ),
        "SEND_TEMPERATURE": env.flag("IEIM_MODEL_SEND_TEMPERATURE", default=True),
        "STORE": _store(env),
        "CACHE_KEY": env.flag("IEIM_MODEL_CACHE_KEY", default=False),
        # In process an answer takes milliseconds: there is nothing to gain.
        "AHEAD": env.flag("IEIM_MODEL_AHEAD", default=True) and bool(base_url),
        "CALLS": int(env.number("IEIM_MODEL_CALLS", 0, low=0, high=10_000)) or None,
        "OVERRIDES": _overrides(env),
        "BUDGET": {
            "input": _tokens(env, "IEIM_BUDGET_INPUT", 64_000),
            "session": _tokens(env, "IEIM_BUDGET_SESSION", 5_000_000),
            "day": _tokens(env, "IEIM_BUDGET_DAY", 0),
        },
        "LANGUAGES": _languages(env),
        "KEY_PATTERNS": _key_patterns(env),
    }


def _languages(env: Env) -> list[str]:
    """The codes that messages in the languages of answers are told by."""
    name = "IEIM_LANGUAGES"
    if not env.names(name):
        return ["en"]
    from ieim.pipeline.message import language  # reads the detector's model: slow

    codes = [language.told_as(code) for code in env.names(name)]
    for code in codes:
        if code not in language.known():
            env.problem(
                name,
                f"names {code!r}, which is no language that messages can be told to be in. "
                "Use codes of ISO 639, separated by commas: en, fr",
            )
    return list(dict.fromkeys(codes))


def _store(env: Env) -> bool | None:
    """Whether the provider is told to keep what it is asked; None where it is told nothing."""
    if not env.text("IEIM_MODEL_STORE"):
        return None
    return env.flag("IEIM_MODEL_STORE", default=False)


class EmbeddingsSettings(TypedDict):
    """``settings.IEIM_EMBEDDINGS``: ``KIND`` is ``embedded``, ``openai`` or ``none``; the others
    are of ``openai``. ``DEADLINE`` is in seconds, for all that one question needs."""

    KIND: str
    BASE_URL: str
    API_KEY: str
    MODEL: str
    DEADLINE: float
    QUERY_PREFIX: str
    DOCUMENT_PREFIX: str


def embeddings(env: Env) -> EmbeddingsSettings:
    """What turns texts into vectors, for the search by meaning."""
    kind = env.choice("IEIM_EMBEDDINGS", ("embedded", "openai", "none"), "embedded")
    hint = "IEIM_EMBEDDINGS is openai, so set it to"
    served = kind == "openai"
    base_url = env.required(
        "IEIM_EMBEDDINGS_BASE_URL", f"{hint} the server's address, up to /embeddings.", when=served
    )
    if base_url and not base_url.startswith(("http://", "https://")):
        env.problem(
            "IEIM_EMBEDDINGS_BASE_URL",
            "is not a web address. Set it to one such as https://models.example.org/v1.",
        )
    return {
        "KIND": kind,
        "BASE_URL": base_url,
        "API_KEY": env.text("IEIM_EMBEDDINGS_API_KEY"),
        "MODEL": env.required(
            "IEIM_EMBEDDINGS_MODEL", f"{hint} the name of a model of that server.", when=served
        ),
        "DEADLINE": env.number("IEIM_EMBEDDINGS_DEADLINE", 2, low=0.1, high=30),
        # A prefix is taken as it is written, but for white space around it: one space follows it.
        "QUERY_PREFIX": _prefix(env, "IEIM_EMBEDDINGS_QUERY_PREFIX"),
        "DOCUMENT_PREFIX": _prefix(env, "IEIM_EMBEDDINGS_DOCUMENT_PREFIX"),
    }


def _prefix(env: Env, name: str) -> str:
    value = env.text(name)
    return f"{value} " if value else ""


def _key_patterns(env: Env) -> Mapping[str, Sequence[re.Pattern[str]]]:
    raw = env.table("IEIM_KEY_PATTERNS")
    if not raw:
        return {}
    from ieim.pipeline.personal.keys import (
        compile_patterns,  # telephone and number tables: slow to read
    )

    try:
        return compile_patterns(raw)
    except ValueError as error:
        env.problem("IEIM_KEY_PATTERNS", f"cannot be used: {error}")
        return {}


def _tokens(env: Env, name: str, default: int) -> int | None:
    """A number of tokens; 0 is no limit."""
    return int(env.number(name, default, low=0, high=10**12)) or None


def _overrides(env: Env) -> dict[str, ModelOverride]:
    name = "IEIM_MODEL_OVERRIDES"
    overrides = env.table(name)
    # Each contract is a file named by its id; importing the core to learn the ids would be slow.
    stages = sorted(path.name.partition(".")[0] for path in _CONTRACTS.glob("*.schema.json"))
    for stage, values in overrides.items():
        if stage not in stages:
            env.problem(name, f"names {stage!r}. Use these: {', '.join(stages)}.")
        elif not isinstance(values, dict) or not values.keys() <= _OVERRIDES.keys():
            env.problem(name, f"for {stage} may only hold these: {', '.join(_OVERRIDES)}.")
        else:
            for key, value in values.items():
                kinds, options = _OVERRIDES[key], _OPTIONS.get(key)
                # To Python true is a number: it is taken only where a flag is wanted.
                fits = isinstance(value, kinds) and isinstance(value, bool) == (bool in kinds)
                if fits and options and value not in options:
                    wanted = f"one of: {', '.join(options)}"
                    env.problem(name, f"for {stage} has a {key} {value!r}. Set it to {wanted}.")
                elif fits and key in _RANGES and not _RANGES[key][0] <= value <= _RANGES[key][1]:
                    wanted = "a number from {} to {}".format(*_RANGES[key])
                    env.problem(name, f"for {stage} has a {key} {value!r}. Set it to {wanted}.")
                elif not fits:
                    env.problem(name, f"for {stage} has a {key} of the wrong type: {value!r}.")
    return overrides
