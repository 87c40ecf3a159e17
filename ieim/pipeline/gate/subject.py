"""Whether a chosen service is about this message.

In a talk a model that is sure of its choice is believed. One that is not needs evidence: the
service shares some with the message, or it is the one that the talk was about. The numbers are the
search's, and stand in the request that the model was sent: so what is judged again later is judged
by the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from ieim.pipeline.findings import Code, Finding

SELECTED: Final = "/serviceSelection/serviceKey"
"""Where service_select_v1 names the service that it chose."""

LIKE_THE_BEST: Final = 0.6
"""What a service needs of the evidence that the best one of the whole release has."""

SURE: Final = Decimal("0.80")
"""From this score on a model is believed in a talk."""


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
    candidate's ``own`` is its evidence by the message alone, ``best_own`` the best of the release.
    Without a talk they are not there, and the candidate's ``score`` says it. Where several agencies
    are asked, a candidate counts by the part of the message that is its own.
    """
    slots = {(slot["agencyId"], slot["serviceKey"]): slot for slot in request["service_index"]}
    slot = slots.get((agency, chosen))
    if slot is None:
        yield Finding(Code.ROUTE_SUBJECT, path, "This service was not among the candidates.")
        return
    talk = request["chat_context_summary"]
    if not talk:
        if "meaning" in slot and slot["score"] <= 0:
            yield Finding(Code.ROUTE_SUBJECT, path, "Nothing of the message is in this service.")
        return
    about = slot.get("own", 0.0) >= LIKE_THE_BEST * request.get("best_own", 0.0)
    if score < SURE and not about and (agency, chosen) != about_before(talk):
        yield Finding(
            Code.ROUTE_SUBJECT,
            path,
            "Another service is nearer to this message, and the model is not sure of this one.",
        )


def about_before(talk: Iterable[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return agency and key of the service that the last answer of a talk was about."""
    answered = [(item.get("agency", ""), item["service"]) for item in talk if item.get("service")]
    return answered[-1] if answered else None
