"""Whether a chosen service is about this message.

In a talk a model that is sure of its choice is believed. One that is not needs evidence: the
service shares some with the message, or it is the one that the talk was about. A message that
stands alone says itself what it is about: where the search is clear about another service, and the
chosen one is far behind it, no model is believed (docs/decisions/0040-did-you-mean.md).

The numbers are the search's, and stand in the request that the model was sent: so what is judged
again later is judged by the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from ieim.pipeline.findings import Code, Finding

SELECTED: Final = "/serviceSelection/serviceKey"
"""Where service_select_v1 names the service that it chose."""

LIKE_THE_BEST: Final = 0.6
"""What a service needs of the evidence that the best one of the whole release has."""

SURE: Final = Decimal("0.80")
"""From this score on a model is believed: in a talk, and in a language that nothing is in."""

CLEAR: Final = 0.7
"""And what it has where the search is clear about it."""

BEHIND: Final = 0.8
"""What a service that is far behind another one has at most of the other's evidence."""

AHEAD: Final = 0.5
"""So much more evidence the other one has where it is clear by that. These numbers are set on
questions over several catalogues (``benchmarks/bench_subject.py``)."""

FEWEST: Final = 3
"""Of so many candidates at least, one can be far behind."""

FURTHEST: Final = 5
"""A candidate of a worse rank is there because its topic was selected, not for the search's sake:
so the search says nothing against it."""


def check(
    agency: str,
    chosen: str,
    request: Mapping[str, Any],
    score: Decimal | float,
    *,
    path: str = SELECTED,
) -> Iterable[Finding]:
    """Yield the finding, at ``path``, for the key of an ``agency``'s service that is not about the
    message.

    ``request`` is the per-call JSON that the model answered, ``score`` how sure the model is. A
    candidate's ``own`` is its evidence by the message alone, which is its ``score`` where that is
    all there is; ``best_own`` the best of the release. Where several agencies are asked, a
    candidate counts by the part of the message that is its own.
    """
    slots = {(slot["agencyId"], slot["serviceKey"]): slot for slot in request["service_index"]}
    slot = slots.get((agency, chosen))
    if slot is None:
        yield Finding(Code.ROUTE_SUBJECT, path, "This service was not among the candidates.")
        return
    # A request of an older version has no best of the release.
    own, best = evidence(slot), request.get("best_own", math.inf)
    talk = request["chat_context_summary"]
    if talk:
        about = own >= LIKE_THE_BEST * best
        if score < SURE and not about and (agency, chosen) != about_before(talk):
            message = "Another service is nearer to this message, and the model is not sure."
            yield Finding(Code.ROUTE_SUBJECT, path, message)
    elif "meaning" in slot:  # words alone cannot tell in another language
        candidates = [each for each in slots.values() if each["agencyId"] == agency]
        most = max(map(evidence, candidates))
        if slot["score"] <= 0:
            message = "Nothing of the message is in this service."
            yield Finding(Code.ROUTE_SUBJECT, path, message)
        elif is_last(slot, candidates) and is_far_behind(own, most, best):
            message = "Another service is far nearer to this message."
            yield Finding(Code.ROUTE_SUBJECT, path, message)


def is_clear(own: float, best: float) -> bool:
    """Whether the search is clear that a message is about a service: ``own`` is its evidence,
    ``best`` the best of the release, both as :meth:`Shortlist.evidence` returns them."""
    return own > 0 and own >= CLEAR * best


def is_far_behind(own: float, most: float, best: float) -> bool:
    """Whether the search is clear about the candidate with the ``most`` evidence, and one with
    ``own`` is far behind it."""
    clear = is_clear(most, best) or most - own >= AHEAD
    return clear and own <= BEHIND * most


def is_last(slot: Mapping[str, Any], slots: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each other candidate that the search ranks up to :data:`FURTHEST`, of which there are
    enough, has more evidence; of equal ones the rank decides. Never one beyond."""
    ranked = [each for each in slots if each.get("rank", 0) <= FURTHEST]
    last = min(ranked, key=lambda each: (evidence(each), -each.get("rank", 0)), default=None)
    return len(ranked) >= FEWEST and slot is last


def evidence(slot: Mapping[str, Any]) -> float:
    """Return what a candidate shares with the message alone."""
    own: float = slot.get("own", slot["score"])
    return own


def about_before(talk: Iterable[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return agency and key of the service that the last answer of a talk was about."""
    answered = [(item.get("agency", ""), item["service"]) for item in talk if item.get("service")]
    return answered[-1] if answered else None
