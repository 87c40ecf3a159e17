"""The model that a deployment has configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ieim.llm.offline import OfflineModel
from ieim.llm.openai_client import FORMATS, OpenAIModel
from ieim.pipeline.ports import Model


def build_model(config: Mapping[str, Any]) -> Model:
    """Return the model of ``settings.IEIM_MODEL``: the offline engine when ``BASE_URL`` is empty.

    Read are ``BASE_URL``, ``API_KEY``, ``NAME``, ``RESPONSE_FORMAT``, ``STORE`` and ``OVERRIDES``;
    ``TEMPERATURE``, ``DEADLINE`` and what overrides them belong to the runner. Build it once a
    process, after any fork. Raises ValueError, with what to set, for a value that cannot work.
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
        response_format=config["RESPONSE_FORMAT"],
        store=config["STORE"],
        overrides=config["OVERRIDES"],
    )
