"""Decided cases whose messages are similar to that of an item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet

from conversations.turns import languages
from ieim.knowledge.vectors import configured_embedder, shortlist_for
from ieim.people.models import User
from ieim.people.reading import record_listed
from ieim.pipeline.personal.redaction import prepare
from ieim.pipeline.ports import EmbedderUnavailable, Matrix, Query
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.topology import AWAITED
from ieim.search.embedders import CheckedEmbedder
from review import reading
from review.deciding.signing import PROPOSALS
from review.models import Decision, ReviewItem
from review.replies.models import MessageVector
from review.scope import sets_with, visible
from review.states import ReviewState

SHOWN = 2
CANDIDATES = 1000
"""Decided items that are compared, the newest: their vectors are read, not their texts."""
MADE_AT_ONCE = 100
"""Vectors that one look makes, the newest first; the others wait for the next one."""
CHUNK, LOOKED_AT = 50, 200
"""Replies that are read at once, and at most, the nearest first."""
NEAR = 0.7
"""The cosine from which messages are similar where the reply to one names no service. Where it
does, the search says more: of two messages with one first service 8 in 10 are about the same, of
those with a cosine of 0.5 or more 3 in 10 (1,182 questions about 99 services)."""


@dataclass(frozen=True, slots=True)
class SimilarCase:
    """A decided item, the citizen's ``message``, the reply that was ``sent``, and its decision."""

    item: ReviewItem
    message: str
    sent: str
    decision: Decision


def similar_cases(item: ReviewItem, user: User) -> list[SimilarCase]:
    """Return the most similar decided items of an item's agencies, or of none, that a user may see,
    with what was sent; none without an embedder. Their reading is recorded.

    What was sent is of the service that the search finds first for the item's message, or of none.
    """
    cases = list(islice(filter(None, map(_case, _nearest(item, user))), SHOWN))
    record_listed(reading.LISTED, "items", (case.item.pk for case in cases), user)
    return cases


def reusable_text(pk: UUID, user: User) -> str:
    """Return what was sent of a case, to be used again: a gap that blocks sending stands where it
    repeats personal data of its own citizen. Raises ``ReviewItem.DoesNotExist``."""
    case = _case(visible(user).filter(state=ReviewState.DECIDED).values_list("pk").get(pk=pk)[0])
    if case is None:
        raise ReviewItem.DoesNotExist(str(pk))
    record_listed(reading.LISTED, "items", [pk], user)
    redacted, text = prepare(case.message), case.sent
    for segment in redacted.segments:
        text = text.replace(redacted.restore(segment.placeholder), f"{{{segment.kind.lower()}}}")
    return text


def _nearest(item: ReviewItem, user: User) -> Iterator[UUID]:
    embedder = configured_embedder()
    if embedder is None or embedder.is_unavailable:
        return
    rows = visible(user).filter(state=ReviewState.DECIDED, stage__in=AWAITED)
    if item.agency_ids:
        # What stopped before an agency was found, and was answered in words, has none.
        of_agencies = Q(agencies__in=sets_with(item.agency_ids)) | Q(agencies=None)
        rows = rows.filter(of_agencies)
    # The keys first: else each database sorts all decided items with their vectors.
    keys = rows.exclude(turn=item.turn_id).order_by("-decided_at").values("pk")[:CANDIDATES]
    newest = ReviewItem.objects.filter(pk__in=keys).order_by("-decided_at")
    try:
        own, vectors = _vectors(embedder, item, newest)
    except EmbedderUnavailable:
        return
    if not vectors:
        return
    ranking = shortlist_for(languages.release_of(item.turn)).rank(Query(item.turn.text))
    first = {(hit.item.agency, hit.item.key) for hit in ranking.services(limit=1)}
    nearness = dict(zip(vectors, np.stack([*vectors.values()]) @ own, strict=True))
    ids = sorted(nearness, key=lambda pk: -nearness[pk])[:LOOKED_AT]
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        rows = ReviewItem.objects.filter(pk__in=chunk, turn__reply__isnull=False)
        bodies = dict(rows.values_list("pk", "turn__reply__body"))
        for pk in filter(bodies.get, chunk):
            sources = Reply.from_dict(bodies[pk]).sources
            services = {(source.agency_id, source.service_key) for source in sources}
            if first & services or (not services and nearness[pk] >= NEAR):
                yield pk


def _vectors(
    embedder: CheckedEmbedder, item: ReviewItem, others: QuerySet[ReviewItem]
) -> tuple[Matrix, dict[UUID, Matrix]]:
    """Return the vector of an item and those of others; what is missing is made and stored."""
    rows = list(others.values_list("pk", "vector__embedder", "vector__value"))
    values = {pk: bytes(value) for pk, embedder_id, value in rows if embedder_id == embedder.id}
    missing = [pk for pk, *_ in rows if pk not in values][:MADE_AT_ONCE]
    made = dict(ReviewItem.objects.filter(pk__in=missing).values_list("pk", "turn__text"))
    own, *new = embedder.queries([item.turn.text, *made.values()])
    stored = [
        MessageVector(item_id=pk, embedder=embedder.id, value=row.astype("<f2").tobytes())
        for pk, row in zip(made, new, strict=True)
    ]
    MessageVector.objects.bulk_create(
        stored,
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["embedder", "value"],
    )
    values |= {vector.item_id: bytes(vector.value) for vector in stored}
    return own, {pk: np.frombuffer(v, "<f2").astype(np.float32) for pk, v in values.items()}


def _case(pk: UUID) -> SimilarCase | None:
    """Return an item as a case; None where nothing was sent."""
    item = ReviewItem.objects.select_related("turn__session", "turn__reply").get(pk=pk)
    decisions = item.decisions.filter(action__in=PROPOSALS).select_related("actor")
    decision = decisions.order_by("created_at", "id").last()
    if decision is None or not hasattr(item.turn, "reply"):
        return None
    sent = Reply.from_dict(item.turn.reply.body).as_text()
    return SimilarCase(item, item.turn.text, sent, decision)
