"""The embedder that a deployment has configured; one file an adapter."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ieim.pipeline.ports import Embedder
from ieim.search.embedders.careful import CarefulEmbedder


def build_embedder(config: Mapping[str, Any]) -> CarefulEmbedder | None:
    """Return the embedder of ``settings.IEIM_EMBEDDINGS``; None for the kind ``none``.

    Read are ``KIND`` and, for ``openai``, ``BASE_URL``, ``API_KEY``, ``MODEL``, ``DEADLINE``,
    ``QUERY_PREFIX`` and ``DOCUMENT_PREFIX``. Nothing is loaded or asked before it is used: a model
    that is not there makes it unavailable, not the start. Build it once a process, after any fork.
    Raises ValueError, with what to set, for a value that cannot work.
    """
    if config["KIND"] == "none":
        return None
    embedder: Embedder
    if config["KIND"] == "openai":
        from ieim.search.embedders.openai_compatible import OpenAIEmbedder  # the client is slow

        embedder = OpenAIEmbedder(
            config["BASE_URL"],
            config["API_KEY"],
            config["MODEL"],
            deadline=config["DEADLINE"],
            query_prefix=config["QUERY_PREFIX"],
            document_prefix=config["DOCUMENT_PREFIX"],
        )
    else:
        from ieim.search.embedders.embedded import EmbeddedEmbedder

        embedder = EmbeddedEmbedder()
    return CarefulEmbedder(embedder, clock=time.monotonic)
