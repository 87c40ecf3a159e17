"""What stands in for guidance that says more than the administration's texts (DESIGN decision 23).

The model's answer keeps its finding. In its place the stage has the administration's text of the
case that the message is, judged by the gate as any answer is: no person is needed, and the model is
not asked again.
"""

from __future__ import annotations

from dataclasses import replace

from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.reply import guidance
from ieim.pipeline.stages import judgement as judging
from ieim.pipeline.stages.base import Context

MENDED = frozenset({Code.REPLY_UNSUPPORTED, Code.REPLY_EMPTY})
"""Nothing else may be wrong with the answer."""


def standing_in(contract: Contract, judgement: Judgement, context: Context) -> Judgement | None:
    """Return the judgement of what stands in for an answer that was judged; None where nothing
    does, because it passed, or is wrong in another way, or no model was asked."""
    codes = {finding.code for finding in judgement.findings}
    told = guidance.sent(context.request)
    if contract.stage.id != judging.STAGE.id or not codes or codes - MENDED or told is None:
        return None
    whole = {**(judgement.output or {}), "assistantReply": told.text}
    answer = ModelAnswer(raw=dumps(whole))
    # Attempt 1: what was mended is not the model's to tell.
    made = gate.judge(contract, answer, replace(context, attempt=1))
    return made if made.passed else None
