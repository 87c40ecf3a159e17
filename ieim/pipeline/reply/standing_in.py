"""What stands in for free text that says more than its sources (DESIGN decisions 22 and 23).

The model's answer keeps its findings. In its place the stage has the administration's own words,
judged by the gate as any answer is: no person is needed.

- Of guidance it is the text of the case that the message is, and the model is not asked again.
- Of an answer over several agencies it is what to do first at each, as the cited services say it.
  The choice of the services has passed, and the cards below are the release's own; so it stands in
  once the last attempt has shown that the model finds no words of its own for them.
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
from ieim.pipeline.reply import cards, guidance
from ieim.pipeline.stages import judgement as judging
from ieim.pipeline.stages import multi_agency_answer as answering
from ieim.pipeline.stages.base import MAX_ATTEMPTS, Context

MENDED = {
    judging.STAGE.id: frozenset({Code.REPLY_UNSUPPORTED, Code.REPLY_EMPTY}),
    answering.STAGE.id: frozenset({Code.REPLY_UNSUPPORTED}),
}
"""By contract: nothing else may be wrong with the answer. An invented fact is: a person sees it."""


def standing_in(contract: Contract, judgement: Judgement, context: Context) -> Judgement | None:
    """Return the judgement of what stands in for an answer that was judged; None where nothing
    does, because it passed, or is wrong in another way, or no model was asked."""
    codes = {finding.code for finding in judgement.findings}
    mended = MENDED.get(contract.stage.id, frozenset())
    if judgement.output is None or context.request is None or not codes or codes - mended:
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
    if contract.stage.id == judging.STAGE.id:
        told = guidance.sent(context.request)
        if told is not None:
            yield told.text
    elif context.attempt >= MAX_ATTEMPTS and judgement.output is not None:
        cited = answering.cited_services(judgement.output, context)
        yield cards.first_things(cited, context.release)
