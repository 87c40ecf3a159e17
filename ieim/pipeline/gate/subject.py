"""Whether a chosen service is about this message.

It shares evidence with the message, or the message goes on with what the talk was about. Both are
numbers of the search, and stand in the request that the model was sent: so what is judged again
later is judged by the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ieim.pipeline.findings import Code, Finding

SELECTED: Final = "/serviceSelection/serviceKey"
"""Where service_select_v1 names the service that it chose."""

LIKE_THE_BEST: Final = 0.6
"""What a service needs of the evidence that the best one of the whole release has."""

AGAIN: Final = 0.95
"""And the service that the talk was about before, where the message has left it."""

SURE: Final = 1.0
"""How surely a message has to go on where it has nothing of the service itself."""


def check(
    agency: str, chosen: str, request: Mapping[str, Any], *, path: str = SELECTED
) -> Iterable[Finding]:
    """Yield the finding, at ``path``, for the key of an ``agency``'s service that is not about the
    message.

    ``request`` is the per-call JSON that the model answered. A candidate's ``own`` is its evidence
    by the message alone, ``best_own`` the best of the release, ``goes_on`` (0 to 1) how surely the
    message goes on with the talk. Without a talk they are not there, and ``score`` says it. Where
    several agencies are asked, a candidate counts by the part of the message that is its own.
    """
    slots = {(slot["agencyId"], slot["serviceKey"]): slot for slot in request["service_index"]}
    slot = slots.get((agency, chosen))
    if slot is None:
        yield Finding(Code.ROUTE_SUBJECT, path, "This service was not among the candidates.")
        return
    if "goes_on" not in request:
        if "meaning" in slot and slot["score"] <= 0:
            yield Finding(Code.ROUTE_SUBJECT, path, "Nothing of the message is in this service.")
        return
    answered = [item for item in request["chat_context_summary"] if item.get("service")]
    again = bool(answered) and answered[-1]["service"] == chosen
    enough = AGAIN if again else LIKE_THE_BEST
    about = slot.get("own", 0.0) >= enough * request.get("best_own", 0.0)
    # Who corrects an answer, or narrows a question, mostly says some of its words again.
    doubted = again and 0 < request["goes_on"] < SURE
    if (doubted or not about) and request["goes_on"] < SURE:
        yield Finding(
            Code.ROUTE_SUBJECT,
            path,
            "Another service is nearer to this message, and it may not go on with the talk.",
        )
