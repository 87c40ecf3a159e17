"""The search by meaning of releases: their vectors are made outside the turns, and kept by text.

A turn only reads what there is. Words answer where a vector of its release is missing, and until
messages are read by meaning too.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import math
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from django.conf import settings
from django.db import transaction

from ieim.audit.canonical import JSONValue
from ieim.audit.models import VECTORS_CHAIN
from ieim.audit.services import lock_head, record
from ieim.knowledge.audited import VECTOR
from ieim.knowledge.models import Vector
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import EmbedderUnavailable, Matrix, Shortlist
from ieim.search import Search, index_for
from ieim.search import kinds as reading
from ieim.search.caching import Cache
from ieim.search.embedders import CheckedEmbedder, build_embedder
from ieim.search.kinds import Kinds
from ieim.search.ranking import texts_of

BATCH: Final = 64
"""Texts whose vectors are made and stored at once."""

AGAIN: Final = 10.0
"""Seconds after which vectors that were missing are looked for again."""

_CACHE_SIZE = 16
"""Indexes (one a release and language) kept in a process; they share their words' index."""

_READ = 500
"""Vectors of one query: SQLite takes only so many parameters."""

_MADE: Final = "knowledge.vectors_made"

logger = logging.getLogger(__name__)


@dataclass
class _Slot:
    """``index`` is None where vectors were missing when they were looked for, if ever."""

    index: Search | None = None
    looked: float = -math.inf


_slots: Cache[tuple[str, str, str], _Slot] = Cache(_CACHE_SIZE)
_kinds: WeakKeyDictionary[CheckedEmbedder, Kinds] = WeakKeyDictionary()
_training = threading.Lock()


@cache
def configured_embedder() -> CheckedEmbedder | None:
    """Return the deployment's embedder, built once a process; None for none."""
    return build_embedder(settings.IEIM_EMBEDDINGS)


def shortlist_for(release: Release) -> Search:
    """Return the search over ``release``: by words and meaning where its vectors are kept and
    messages are read.

    What is missing is not made here; it is looked for again after :data:`AGAIN` seconds, because
    another process may have made it.
    """
    embedder = configured_embedder()
    if embedder is None:
        return index_for(release)
    slot = _slot(release, embedder)
    if slot.index is None and time.monotonic() - slot.looked >= AGAIN:
        _look(release, embedder)
    return slot.index or index_for(release)


def prepare(release: Release) -> None:
    """Make and keep the vectors that ``release`` still misses, in the calling thread.

    Where the embedder is gone nothing happens: words answer, and a later call tries again.
    Processes that prepare the same release at once share the work.
    """
    embedder = configured_embedder()
    if embedder is None:
        return
    if embedder.is_unavailable or _slot(release, embedder).index is not None:
        return
    with contextlib.suppress(EmbedderUnavailable):  # the embedder has logged why
        _make(embedder, {_digest(text): text for text in texts_of(release)})
        _look(release, embedder)


def prepare_reading() -> None:
    """Let messages be read by meaning, in the calling thread.

    What the examples teach is shipped for the embedded model; with any other embedder the first
    process trains with them and keeps the result. Where the embedder is gone nothing happens, and a
    later call tries again.
    """
    embedder = configured_embedder()
    if embedder is None or embedder.is_unavailable:
        return
    with _training, contextlib.suppress(EmbedderUnavailable):  # the embedder has logged why
        if _reading(embedder) is None:
            kinds = reading.train(lambda texts: stored_vectors(embedder, texts), embedder.id)
            store_model(embedder.id, _reading_name(), kinds.to_bytes())
            _kinds[embedder] = kinds
            logger.info("Messages are read by meaning, with %s", embedder.id)


def prepared_shortlist(release: Release) -> Search:
    """Return the search over ``release`` once its vectors are made: for drafts and evaluations,
    where somebody waits anyway."""
    prepare_reading()
    prepare(release)
    return shortlist_for(release)


def temporary_shortlist(release: Release) -> Shortlist:
    """Return the search over a release that no database has; its vectors are kept nowhere."""
    embedder = configured_embedder()
    if embedder is None:
        return index_for(release)
    slot = _slot(release, embedder)
    if slot.index is None:
        try:
            kinds = _shipped(embedder) or reading.train(embedder.documents, embedder.id)
            vectors = embedder.documents(texts_of(release))
        except EmbedderUnavailable:
            return index_for(release)
        _remember(release, embedder, vectors, kinds)
    return slot.index or index_for(release)


def stored_vectors(embedder: CheckedEmbedder, texts: Sequence[str]) -> Matrix:
    """Return one row for each of ``texts``, in their order; what is missing is made and kept.

    Raises :class:`EmbedderUnavailable`.
    """
    digests = [_digest(text) for text in texts]
    _make(embedder, dict(zip(digests, texts, strict=True)))
    rows = _stored_vectors(embedder.id, digests)
    if rows is None:
        raise EmbedderUnavailable("The vectors that are kept do not belong together.")
    return rows


def stored_model(embedder: str, name: str) -> bytes | None:
    """Return what was trained with an embedder's vectors and kept under ``name``."""
    rows = Vector.objects.filter(embedder=embedder, sha256=_digest(name))
    value = rows.values_list("value", flat=True).first()
    return None if value is None else bytes(value)


def store_model(
    embedder: str, name: str, data: bytes, *, kind: str = _MADE, **details: JSONValue
) -> None:
    """Keep what was trained, with an audit event of this ``kind`` and with these ``details``; what
    another process has kept meanwhile stays."""
    _store(embedder, {_digest(name): data}, kind=kind, **details)


def _reading(embedder: CheckedEmbedder) -> Kinds | None:
    """Return what reads messages with an embedder, None where nothing is shipped or kept."""
    kinds = _kinds.get(embedder) or _shipped(embedder)
    if kinds is None and (stored := stored_model(embedder.id, _reading_name())) is not None:
        kinds = Kinds.from_bytes(stored)
    if kinds is not None:
        _kinds[embedder] = kinds
    return kinds


def _shipped(embedder: CheckedEmbedder) -> Kinds | None:
    shipped = reading.shipped()
    return shipped if shipped.embedder == embedder.id else None


@cache
def _reading_name() -> str:
    return f"kinds {reading.examples_digest()}"


forget_unused = _slots.forget_unused


def _slot(release: Release, embedder: CheckedEmbedder) -> _Slot:
    return _slots.get((release.sha256, release.language, embedder.id), _Slot)


def _look(release: Release, embedder: CheckedEmbedder) -> None:
    """Cache the index of the stored vectors, or the fact that some are missing."""
    vectors = _stored_vectors(embedder.id, [_digest(text) for text in texts_of(release)])
    _remember(release, embedder, vectors, _reading(embedder))


def _remember(
    release: Release, embedder: CheckedEmbedder, vectors: Matrix | None, kinds: Kinds | None
) -> None:
    slot = _slot(release, embedder)
    if vectors is not None and kinds is not None:
        slot.index = Search(release, vectors, embedder, kinds)
    slot.looked = time.monotonic()


def _make(embedder: CheckedEmbedder, texts: Mapping[str, str]) -> None:
    """Store the vector of every one of ``texts`` (by digest) that has none."""
    missing = sorted(texts.keys() - _stored(embedder.id, list(texts)))
    # Each process in an order of its own, and none does what another has stored meanwhile.
    random.shuffle(missing)
    for batch in _batches(missing, BATCH):
        digests = sorted(set(batch) - _stored(embedder.id, batch))
        vectors = embedder.documents([texts[digest] for digest in digests])
        values = (row.astype("<f4").tobytes() for row in vectors)
        _store(embedder.id, dict(zip(digests, values, strict=True)))
    if missing:
        logger.info("%s vectors were made with %s", len(missing), embedder.id)


@transaction.atomic
def _store(
    embedder: str, values: Mapping[str, bytes], *, kind: str = _MADE, **details: JSONValue
) -> None:
    """Store values by digest, with their audit event; what is there stays as it is."""
    lock_head(VECTORS_CHAIN)
    missing = sorted(values.keys() - _stored(embedder, list(values)))
    rows = [Vector(embedder=embedder, sha256=key, value=values[key]) for key in missing]
    if rows:
        stored = map(VECTOR.row, Vector.objects.bulk_create(rows))
        payload: dict[str, JSONValue] = {"embedder": embedder, "vectors": len(rows), **details}
        record(
            chain=VECTORS_CHAIN,
            kind=kind,
            payload=payload,
            actor="system",
            rows=list(stored),
        )


def _stored_vectors(embedder: str, digests: Sequence[str]) -> Matrix | None:
    """Return one row for each of ``digests``, None where any is missing."""
    rows: dict[str, Matrix] = {}
    for batch in _batches(list(dict.fromkeys(digests)), _READ):
        stored = Vector.objects.filter(embedder=embedder, sha256__in=batch)
        for digest, value in stored.values_list("sha256", "value"):
            rows[digest] = np.frombuffer(bytes(value), dtype="<f4").astype(np.float32)
    if any(digest not in rows for digest in digests):
        return None
    if len({len(row) for row in rows.values()}) > 1:
        logger.error(
            "The vectors kept for %s have several widths; words alone rank. Give the model another "
            "name, or delete its rows of knowledge_vector.",
            embedder,
        )
        return None
    return np.stack([rows[d] for d in digests]) if digests else np.empty((0, 0), dtype=np.float32)


def _stored(embedder: str, digests: Sequence[str]) -> set[str]:
    return {
        digest
        for batch in _batches(digests, _READ)
        for digest in Vector.objects.filter(embedder=embedder, sha256__in=batch).values_list(
            "sha256", flat=True
        )
    }


def _batches(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
