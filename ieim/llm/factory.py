"""The model that a deployment has configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ieim.llm.offline import OfflineModel
from ieim.llm.openai_client import OpenAIModel
from ieim.llm.takes import FORMATS, Takes, configured
from ieim.pipeline.ports import Model


def build_model(config: Mapping[str, Any], takes: Takes | None = None) -> Model:
    """Return the model of ``settings.IEIM_MODEL``: the offline engine when ``BASE_URL`` is empty.

    Read are ``BASE_URL``, ``API_KEY``, ``NAME``, ``OVERRIDES`` and what the server takes
    (:data:`ieim.llm.takes.SETTINGS`), unless ``takes`` says otherwise; ``TEMPERATURE``,
    ``DEADLINE`` and what overrides them belong to the runner. Build it once a process, after any
    fork. Raises ValueError, with what to set, for a value that cannot work.
    """
    if not config["BASE_URL"]:
        return OfflineModel()
    if not config["NAME"]:
        raise ValueError("Set IEIM_MODEL_NAME to the model that the server should use.")
    if config["RESPONSE_FORMAT"] not in FORMATS:
        raise ValueError(f"Set IEIM_MODEL_RESPONSE_FORMAT to one of {', '.join(FORMATS)}.")
    return OpenAIModel(
        config["BASE_URL"],
        config["API_KEY"],
        config["NAME"],
        takes=takes or configured(config),
        overrides=config["OVERRIDES"],
    )
