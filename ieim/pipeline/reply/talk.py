"""Whether a reply goes on with what the talk was about."""

from __future__ import annotations

from dataclasses import replace

from ieim.pipeline.reply.reply import Reply
from ieim.pipeline.stages.base import Inputs


def going_on(said: Reply, inputs: Inputs) -> Reply:
    """Return ``said`` with the name of the service that it is still about, where it goes on.

    It goes on when its first source is the service of the last answer that had one, and the message
    has not left the talk (:attr:`Inputs.new_subject`).
    """
    told = [(item.get("agency"), item["service"]) for item in inputs.history if item.get("service")]
    if not told or not said.sources:
        return said
    source = said.sources[0]
    if (source.agency_id, source.service_key) != told[-1] or inputs.new_subject:
        return said
    return replace(said, still_about=source.service_name)
