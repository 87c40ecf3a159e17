"""Whether a chosen service is about this message.

In a talk a model that is sure of its choice is believed. One that is not needs a service that the
search ranks first or second, or the one that the talk was about. A message that stands alone says
itself what it is about: where the search is sure of another service, and the chosen one is far
behind it, no model is believed (docs/decisions/0040-did-you-mean.md).

All that is needed stands in the request that the model was sent: so what is judged again later is
judged by the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from ieim.pipeline.findings import Code, Finding

SELECTED: Final = "/serviceSelection/serviceKey"
"""Where service_select_v1 names the service that it chose."""

SURE: Final = Decimal("0.80")
"""From this score on a model is believed: in a talk, and in a language that nothing is in."""

CLEAR: Final = 0.80
"""From this probability of its first service on the search is believed."""

BEHIND: Final = 3
"""From this rank among its agency's services on a service is behind."""


def check(
    agency: str,
    chosen: str,
    request: Mapping[str, Any],
    score: Decimal | float | None = None,
    *,
    path: str = SELECTED,
) -> Iterable[Finding]:
    """Yield the finding, at ``path``, for the key of an ``agency``'s service that is not about the
    message.

    ``request`` is the per-call JSON that the model answered, ``score`` how sure the model is. None
    where several agencies are asked: the ranking of the message says little of each then.
    """
    slots = {(slot["agencyId"], slot["serviceKey"]): slot for slot in request["service_index"]}
    slot = slots.get((agency, chosen))
    if slot is None:
        yield Finding(Code.ROUTE_SUBJECT, path, "This service was not among the candidates.")
        return
    # A request of an older version has no ranking.
    if score is None or "ranking" not in request or slot["rank"] < BEHIND:
        return
    if talk := request["chat_context_summary"]:
        if score < SURE and (agency, chosen) != about_before(talk):
            message = "Another service is nearer to this message, and the model is not sure."
            yield Finding(Code.ROUTE_SUBJECT, path, message)
    elif request["ranking"]["first"] >= CLEAR:
        message = "Another service is far nearer to this message."
        yield Finding(Code.ROUTE_SUBJECT, path, message)


def about_before(talk: Iterable[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return agency and key of the service that the last answer of a talk was about."""
    answered = [(item.get("agency", ""), item["service"]) for item in talk if item.get("service")]
    return answered[-1] if answered else None
