"""What stands in for a model's free text: the administration's own (DESIGN decisions 22 and 23).

The model's answer keeps its findings. In its place the stage has the administration's own words,
judged by the gate as any answer is: no person is needed.

The model is not asked again.

- Of guidance that says more than it may, it is the text of the case that the message is.
- Of every answer over several agencies it is the sentences of the cited services that the model's
  text was made from. The choice of the services has passed; no word of the model's is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.retelling import retold
from ieim.pipeline.stages import judgement as judging
from ieim.pipeline.stages import multi_agency_answer as answering
from ieim.pipeline.stages.base import Context

MENDED = {
    judging.STAGE.id: frozenset({Code.REPLY_UNSUPPORTED, Code.REPLY_EMPTY}),
    answering.STAGE.id: frozenset({Code.REPLY_UNSUPPORTED}),
}
"""By contract: nothing else may be wrong with the answer. An invented fact is: a person sees it."""


def standing_in(contract: Contract, judgement: Judgement, context: Context) -> Judgement | None:
    """Return the judgement of what stands in for an answer that was judged; None where nothing
    does, because its own words may be shown, or it is wrong in another way, or no model was asked.
    """
    codes = {finding.code for finding in judgement.findings}
    mended = MENDED.get(contract.stage.id, frozenset())
    if judgement.output is None or context.request is None or codes - mended:
        return None
    for text in _texts(contract, judgement, context):
        answer = ModelAnswer(raw=dumps({**judgement.output, "assistantReply": text}))
        # Attempt 1: what was mended is not the model's to tell.
        made = gate.judge(contract, answer, replace(context, attempt=1))
        if made.passed:
            return made
    return None


def _texts(contract: Contract, judgement: Judgement, context: Context) -> Iterator[str]:
    """Yield what may stand in, the best first."""
    if contract.stage.id == judging.STAGE.id and judgement.findings:
        told = guidance.sent(context.request)
        if told is not None:
            yield told.text
    elif contract.stage.id == answering.STAGE.id and judgement.output is not None:
        cited = answering.cited_services(judgement.output, context)
        text = judgement.output["assistantReply"]
        yield retold(text, cited, context.release, question=context.user_prompt)
        yield retold("", cited, context.release, question="")
