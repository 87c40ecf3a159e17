"""judgement_v1: is this turn an inquiry, and if not, what helps the citizen on?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ieim.pipeline.findings import Finding
from ieim.pipeline.knowledge import CASES
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.reply import Reply, render_guidance
from ieim.pipeline.stages.base import Context, Inputs, Output, Stage


def _build_input(inputs: Inputs) -> dict[str, Any]:
    kinds = inputs.kinds
    case = max(CASES, key=lambda name: (kinds.get(name, 0.0), name == guidance.UNCLEAR))
    # A likely inquiry needs only the text that would be shown if it were none.
    only = {case, guidance.UNCLEAR} if inputs.is_likely_inquiry else None
    release, contacts = inputs.context.release, inputs.contacts
    return {"guidance": guidance.slot(release, inputs.languages, case, only, contacts=contacts)}


def _semantics(output: Output, context: Context) -> Iterable[Finding]:
    if not output["judgements"]["inquiry"]:
        reply: str = output["assistantReply"]
        yield from guidance.check(reply, context.release, context.request, path="/assistantReply")


def _legal_next(output: Output, _context: Context) -> str:
    return "agency_detect_v1" if output["judgements"]["inquiry"] else "session_end"


def _state_slice(output: Output) -> dict[str, Any]:
    return {"judgement_v1": {"inquiry": output["judgements"]["inquiry"]}}


def _reply(outputs: Mapping[str, Output], context: Context) -> Reply:
    text = context.shown_text
    return render_guidance(outputs["judgement_v1"]["assistantReply"] if text is None else text)


def _guess(inputs: Inputs) -> Output | None:
    """Return the output for what the search takes for an inquiry. Nothing is asked ahead of any
    other message: a greeting costs one call."""
    return {"judgements": {"inquiry": True}} if inputs.is_likely_inquiry else None


STAGE = Stage(
    id="judgement_v1",
    build_input=_build_input,
    state_slice=_state_slice,
    legal_next=_legal_next,
    has_session=False,
    semantics=_semantics,
    reply=_reply,
    guess=_guess,
)
