"""judgement_v1: is this turn an inquiry, and if not, what helps the citizen on?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ieim.pipeline.findings import Finding
from ieim.pipeline.reply import guidance
from ieim.pipeline.stages.base import Context, Inputs, Output, Stage


def _build_input(inputs: Inputs) -> dict[str, Any]:
    # What went on with a service was no off-topic message, whatever its words alone are like.
    case = guidance.UNCLEAR if inputs.again else inputs.shortlist.case(inputs.text)
    asked = inputs.shortlist.asked(inputs.text, in_a_talk=bool(inputs.history))
    # What reads like an inquiry needs no text but the one that would be shown were it none.
    only = {case, guidance.UNCLEAR} if asked is not None and asked.like >= asked.least else None
    told = {"guidance": guidance.slot(inputs.context.release, inputs.languages, case, only)}
    if asked is None:
        return told
    return told | {"likeness": {name: round(value, 2) for name, value in asked._asdict().items()}}


def _semantics(output: Output, context: Context) -> Iterable[Finding]:
    if not output["judgements"]["inquiry"]:
        reply: str = output["assistantReply"]
        yield from guidance.check(reply, context.release, context.request, path="/assistantReply")


def _legal_next(output: Output, _context: Context) -> str:
    return "agency_detect_v1" if output["judgements"]["inquiry"] else "session_end"


def _state_slice(output: Output) -> dict[str, Any]:
    return {"judgement_v1": {"inquiry": output["judgements"]["inquiry"]}}


STAGE = Stage(
    id="judgement_v1",
    build_input=_build_input,
    state_slice=_state_slice,
    legal_next=_legal_next,
    has_session=False,
    semantics=_semantics,
)
