"""The search by meaning of releases: their vectors are made beside the turns, and kept by text.

A turn only reads what there is: where a vector of its release is missing, words answer. So they do
until messages are read by meaning too: something is the nearest to any letters, and nobody would
say that they ask for nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import random
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from django.conf import settings

from ieim.knowledge.models import Vector
from ieim.pipeline.knowledge import Release
from ieim.pipeline.ports import EmbedderUnavailable, Matrix, Shortlist
from ieim.search import FusedIndex, index_for
from ieim.search.embedders import build_embedder
from ieim.search.embedders.careful import CarefulEmbedder
from ieim.search.fusing import texts_of
from ieim.search.inquiry import Aspects, Cases, Reading, aspects, case_of, examples

BATCH: Final = 64
"""Texts whose vectors are made and stored at once."""

AGAIN: Final = 10.0

UNREAD: Final = 120.0
"""Seconds that words rank, where there are vectors, until messages are read by meaning as well. It
is for the first start of a site; a process without a follower is never taught, and goes on without.
"""

_KEPT = 16
"""Indexes (one a release and language) kept in a process; they share their words' index."""

_READ = 500
"""Vectors of one query: SQLite takes only so many parameters."""

logger = logging.getLogger(__name__)


@dataclass
class _Slot:
    """``index`` is None where vectors were missing when they were looked for."""

    index: FusedIndex | None
    looked: float
    used: float


_slots: OrderedDict[tuple[str, str, str], _Slot] = OrderedDict()
_slots_lock = threading.Lock()
_readings: WeakKeyDictionary[CarefulEmbedder, Reading] = WeakKeyDictionary()
_teaching = threading.Lock()


@cache
def configured_embedder() -> CarefulEmbedder | None:
    """Return the deployment's embedder, built once a process; None for none."""
    return build_embedder(settings.IEIM_EMBEDDINGS)


def shortlist_for(release: Release) -> Shortlist:
    """Return the search over ``release``: by words and meaning where its vectors are kept and
    messages are read.

    What is missing is not made here; it is looked for again after :data:`AGAIN` seconds, because
    another process may have made it.
    """
    embedder = configured_embedder()
    if embedder is None:
        return index_for(release)
    slot = _slot(release, embedder)
    if slot is None or (slot.index is None and time.monotonic() - slot.looked >= AGAIN):
        found = _kept(embedder.id, [_digest(text) for text in texts_of(release)])
        slot = _remember(release, embedder, found)
    if slot.index is None:
        return index_for(release)
    if embedder not in _readings and time.monotonic() - slot.looked < UNREAD:
        return index_for(release)
    return slot.index


def prepare(release: Release) -> None:
    """Make and keep the vectors that ``release`` still misses, in the calling thread.

    Where the embedder is gone nothing happens: words answer, and a later call tries again.
    Processes that prepare the same release at once share the work.
    """
    embedder = configured_embedder()
    if embedder is None:
        return
    slot = _slot(release, embedder)
    if embedder.away or (slot is not None and slot.index is not None):
        return
    texts = {_digest(text): text for text in texts_of(release)}
    try:
        _make(embedder, texts)
    except EmbedderUnavailable:
        return  # the embedder has logged why
    _remember(release, embedder, _kept(embedder.id, [_digest(text) for text in texts_of(release)]))


def made_for(release: Release) -> Shortlist:
    """Return the search over ``release`` once its vectors are made: for drafts and evaluations,
    where somebody waits anyway."""
    prepare(release)
    teach()
    return shortlist_for(release)


def unkept_for(release: Release) -> Shortlist:
    """Return the search over a release that no database knows; its vectors are kept nowhere."""
    embedder = configured_embedder()
    slot = None if embedder is None else _slot(release, embedder)
    try:
        if embedder is not None:
            _teach(embedder, embedder.documents)
        if embedder is not None and (slot is None or slot.index is None):
            slot = _remember(release, embedder, embedder.documents(texts_of(release)))
    except EmbedderUnavailable:
        pass
    return index_for(release) if slot is None or slot.index is None else slot.index


def kept_for(embedder: CarefulEmbedder, texts: Sequence[str]) -> Matrix:
    """Return one row for each of ``texts``, in their order; what is missing is made and kept.

    Raises :class:`EmbedderUnavailable`.
    """
    digests = [_digest(text) for text in texts]
    _make(embedder, dict(zip(digests, texts, strict=True)))
    rows = _kept(embedder.id, digests)
    if rows is None:
        raise EmbedderUnavailable("The vectors that are kept do not belong together.")
    return rows


def teach() -> None:
    """Teach what messages are, in the calling thread, once a process and embedder.

    The examples' vectors are kept: only the first process makes them (10 s with the embedded
    model). Where the embedder is gone nothing happens, and a later call tries again.
    """
    embedder = configured_embedder()
    if embedder is None or embedder.away:
        return
    with contextlib.suppress(EmbedderUnavailable):  # the embedder has logged why
        _teach(embedder, lambda texts: kept_for(embedder, texts))


def _teach(embedder: CarefulEmbedder, vectors_of: Callable[[Sequence[str]], Matrix]) -> None:
    with _teaching:
        if embedder in _readings:
            return
        known = examples()
        asks = aspects()
        rows = vectors_of([*(text for text, _ in known), *(text for text, _ in asks)])
        messages, questions = rows[: len(known)], rows[len(known) :]
        _readings[embedder] = Reading(
            messages,
            [kind for _, kind in known],
            Aspects(questions, [name for _, name in asks], messages),
            Cases(messages, [case_of(text) for text, _ in known]),
        )
        logger.info("Messages are read by meaning, with %s", embedder.id)


def forget_unused(*, before: float) -> None:
    """Drop what nobody has asked for since ``before``, a time of ``monotonic``."""
    with _slots_lock:
        for key in [key for key, slot in _slots.items() if slot.used < before]:
            del _slots[key]


def _slot(release: Release, embedder: CarefulEmbedder) -> _Slot | None:
    with _slots_lock:
        slot = _slots.get((release.sha256, release.language, embedder.id))
        if slot is not None:
            slot.used = time.monotonic()
        return slot


def _remember(release: Release, embedder: CarefulEmbedder, vectors: Matrix | None) -> _Slot:
    index = None
    if vectors is not None:
        words = index_for(release)
        index = FusedIndex(words, release, vectors, embedder, lambda: _readings.get(embedder))
    now = time.monotonic()
    slot = _Slot(index, now, now)
    with _slots_lock:
        _slots[release.sha256, release.language, embedder.id] = slot
        while len(_slots) > _KEPT:
            _slots.popitem(last=False)
    return slot


def _make(embedder: CarefulEmbedder, texts: Mapping[str, str]) -> None:
    """Store the vector of every one of ``texts`` (by digest) that has none."""
    missing = sorted(texts.keys() - _stored(embedder.id, list(texts)))
    # Each process in an order of its own, and none does what another has stored meanwhile.
    random.shuffle(missing)
    for batch in _batches(missing, BATCH):
        digests = sorted(set(batch) - _stored(embedder.id, batch))
        vectors = embedder.documents([texts[digest] for digest in digests])
        Vector.objects.bulk_create(
            (
                Vector(embedder=embedder.id, sha256=digest, value=row.astype("<f4").tobytes())
                for digest, row in zip(digests, vectors, strict=True)
            ),
            ignore_conflicts=True,
        )
    if missing:
        logger.info("%s vectors were made with %s", len(missing), embedder.id)


def _kept(embedder: str, digests: Sequence[str]) -> Matrix | None:
    """Return one row for each of ``digests``, None where any is missing."""
    rows: dict[str, Matrix] = {}
    for batch in _batches(list(dict.fromkeys(digests)), _READ):
        found = Vector.objects.filter(embedder=embedder, sha256__in=batch)
        for digest, value in found.values_list("sha256", "value"):
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
