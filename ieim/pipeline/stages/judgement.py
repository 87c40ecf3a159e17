"""judgement_v1: is this turn an inquiry, and if not, what helps the citizen on?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ieim.pipeline.findings import Finding
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.reply import Reply, render_guidance
from ieim.pipeline.stages.base import Context, Inputs, Output, Stage


def _build_input(inputs: Inputs) -> dict[str, Any]:
    # A message that continues about a service is not off-topic, whatever its words alone are.
    case = guidance.UNCLEAR if inputs.again else inputs.shortlist.case(inputs.text)
    inquiry = inputs.shortlist.likeness(inputs.text, in_a_talk=bool(inputs.history))
    # A likely inquiry needs only the text that would be shown if it were none.
    likely = inquiry is not None and inquiry.is_likely
    only = {case, guidance.UNCLEAR} if likely else None
    release, contacts = inputs.context.release, inputs.contacts
    slots = {"guidance": guidance.slot(release, inputs.languages, case, only, contacts=contacts)}
    if likely and not inputs.reads_hints:
        # To a language model a case beside a plain question reads as a verdict.
        del slots["guidance"]["case"]
    if inquiry is None or not inputs.reads_hints:
        return slots
    return slots | {
        "likeness": {name: round(value, 2) for name, value in inquiry._asdict().items()}
    }


def _semantics(output: Output, context: Context) -> Iterable[Finding]:
    if not output["judgements"]["inquiry"]:
        reply: str = output["assistantReply"]
        yield from guidance.check(reply, context.release, context.request, path="/assistantReply")


def _legal_next(output: Output, _context: Context) -> str:
    return "agency_detect_v1" if output["judgements"]["inquiry"] else "session_end"


def _state_slice(output: Output) -> dict[str, Any]:
    return {"judgement_v1": {"inquiry": output["judgements"]["inquiry"]}}


def _reply(outputs: Mapping[str, Output], context: Context) -> Reply:
    retelling = context.retelling
    return render_guidance(
        retelling.text if retelling else outputs["judgement_v1"]["assistantReply"]
    )


def _guess(inputs: Inputs) -> Output | None:
    """Return the output for what the search takes for an inquiry. Nothing is asked ahead of any
    other message: a greeting costs one call."""
    likely = inputs.shortlist.takes_for_inquiry(inputs.text, in_a_talk=bool(inputs.history))
    return {"judgements": {"inquiry": True}} if likely else None


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
