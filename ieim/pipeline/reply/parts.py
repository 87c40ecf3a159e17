"""The parts of a message that nothing in its answer is about (DESIGN decision 21)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ieim.pipeline.gate.subject import LIKE_THE_BEST
from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.stages.base import Inputs

LEAST: Final = 2
"""A message that asks for one thing only has no part that could be left over."""


def uncovered(said: Reply, inputs: Inputs) -> Reply:
    """Return ``said`` with the parts of the message that none of its sources is about.

    By the search's evidence, as in ``route.subject``: a source is about a part when it has a share
    of what the release's best service has for that part alone. Spans are of the citizen's text as
    sent, because a model may have been given another.
    """
    if not said.sources:
        return said
    parts = inputs.shortlist.parts(inputs.text)
    if len(parts) < LEAST:
        return said
    services = inputs.context.release.services
    cited = [services[source.agency_id, source.service_key] for source in said.sources]
    left = []
    for part in parts:
        own, best = inputs.shortlist.evidence(inputs.text[part.start : part.end], cited)
        if max(own) < LIKE_THE_BEST * best or best <= 0:
            left.append(inputs.context.original(part.start, part.end))
    return replace(said, uncovered=tuple(left))
