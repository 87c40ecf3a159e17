"""The embedder port over any OpenAI-compatible server: ``POST {base_url}/embeddings``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpcore
import httpx
import numpy as np
import openai

from ieim.pipeline.ports import EmbedderUnavailable, Matrix
from ieim.search.transport import BodyTooLargeError, DeadlineTransport, seconds_left, total_deadline

BATCH = 8
"""Texts of one call: a server's vectors are long numbers, and an answer's size is capped."""

_DOCUMENT_DEADLINE = 30.0
"""Seconds for a batch of the knowledge's texts: nobody waits for these."""

_LATE = "The embedding server gave no whole answer before the deadline."
_NO_VECTORS = (
    "The embedding server answered with something that is not one vector for each text. Check that "
    "IEIM_EMBEDDINGS_BASE_URL ends where /embeddings begins, usually in /v1."
)
_BROKEN = (
    "The connection to the embedding server failed. Check IEIM_EMBEDDINGS_BASE_URL and that it "
    "runs."
)


class OpenAIEmbedder:
    """An embedding model behind an OpenAI-compatible server; one instance serves all threads.

    Create it after a fork. ``deadline`` is in seconds, for all that one question needs. The
    prefixes are put before each text, for models that want them (``query: ``). The client never
    retries. Raises ValueError for a ``base_url`` that is no http address and for a key that could
    not stand in a header.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        deadline: float,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError("IEIM_EMBEDDINGS_BASE_URL has to begin with http:// or https://.")
        if not re.fullmatch(r"[\x21-\x7e]*", api_key):
            raise ValueError("IEIM_EMBEDDINGS_API_KEY holds a space or a character outside ASCII.")
        self._model = model
        self._deadline = deadline
        self._query_prefix, self._document_prefix = query_prefix, document_prefix
        client = openai.OpenAI(
            base_url=base_url,
            # A server that wants no key takes any; an empty one would be no legal header.
            api_key=api_key or "none",
            max_retries=0,
            http_client=httpx.Client(transport=DeadlineTransport()),
        )
        self._embeddings = client.embeddings

    @property
    def id(self) -> str:
        """The model's name; where prefixes are set, they are part of what it is."""
        prefixes = [f"{p!r}" for p in (self._query_prefix, self._document_prefix) if p]
        return re.sub(r"\s", "_", "+".join((f"openai/{self._model}", *prefixes)))[:100]

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        rows = [self._vectors(self._document_prefix, b, _DOCUMENT_DEADLINE) for b in batches]
        return np.concatenate(rows) if rows else np.empty((0, 0), dtype=np.float32)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of a citizen; a question is one call."""
        return self._vectors(self._query_prefix, texts, self._deadline)

    def _vectors(self, prefix: str, texts: Sequence[str], deadline: float) -> Matrix:
        # Raised outside the except clauses: the errors behind it may quote headers or the body.
        with total_deadline(deadline):
            try:
                answer = self._embeddings.create(
                    model=self._model,
                    input=[prefix + text.encode("utf-8", "replace").decode() for text in texts],
                    encoding_format="float",
                    timeout=seconds_left(),
                    # The cap counts bytes as they come: none may be unpacked into more.
                    extra_headers={"Accept-Encoding": "identity"},
                )
                rows = sorted(answer.data, key=lambda each: each.index)
                if [each.index for each in rows] == list(range(len(texts))):
                    return np.array([each.embedding for each in rows], dtype=np.float32)
                failure = _NO_VECTORS
            except openai.APIStatusError as error:
                status = error.response.status_code
                failure = (
                    f"The embedding server answered with status {status}. Check "
                    "IEIM_EMBEDDINGS_API_KEY and IEIM_EMBEDDINGS_MODEL."
                )
            except (
                openai.APIConnectionError,
                httpcore.NetworkError,
                httpcore.ProtocolError,
            ) as error:
                failure = _of_connection(error)
            except httpcore.TimeoutException:
                failure = _LATE
            except (
                openai.APIError,
                BodyTooLargeError,
                # What the client makes of a body of another shape.
                AttributeError,
                TypeError,
                ValueError,
            ):
                failure = _NO_VECTORS
        raise EmbedderUnavailable(failure)


def _of_connection(error: Exception) -> str:
    cause = error.__cause__
    if isinstance(error, openai.APITimeoutError) or isinstance(cause, httpcore.TimeoutException):
        return _LATE
    return _NO_VECTORS if isinstance(cause, BodyTooLargeError) else _BROKEN
