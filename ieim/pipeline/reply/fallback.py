"""Fallbacks: the administration's words in place of a model's free text.

No word that a model writes of its own reaches a citizen, unless the administration has chosen so.
Of guidance they read the administration's text, of an answer over several agencies what is retold
of it. An analysis that twice gives scores under 0.50 beside others goes on without those. Each
passes the gate as any answer does; the attempt keeps what the model wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code, Finding
from ieim.pipeline.gate import gate, grounding
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.retelling import Retelling, first_steps, retell
from ieim.pipeline.stages import judgement as judging
from ieim.pipeline.stages import multi_agency_answer as answering
from ieim.pipeline.stages import semantic_analysis as analysing
from ieim.pipeline.stages.base import MAX_ATTEMPTS, Context, Output

_IN_WORDS = frozenset({Code.REPLY_EMPTY, Code.REPLY_UNGROUNDED, Code.SOURCES_MISSING})
"""Findings, at the text itself, that stop nothing where other words are shown."""


class Fallback(NamedTuple):
    """What decides of a stage in place of its answer's own judgement.

    ``retelling`` is what is shown of an answer over several agencies, which is stored as the model
    gave it; None where the output itself has the other text.
    """

    judgement: Judgement
    retelling: Retelling | None = None


def fallback_result(
    contract: Contract, judgement: Judgement, context: Context, *, own_words: bool = False
) -> Fallback | None:
    """Return what takes the place of a model's free text.

    None where there is none, where the answer is wrong in any way that a second attempt may mend (a
    blank guidance needs none), or is no answer of a model's. With ``own_words``, where the
    administration shows a model's own words, also where they pass every check.
    """
    output, request = judgement.output, context.request
    if output is None or request is None:
        return None
    stops = [finding for finding in judgement.findings if finding.stops]
    codes = {finding.code for finding in stops}
    if contract.stage.id == judging.STAGE.id:
        if codes <= {Code.REPLY_EMPTY}:
            return _guidance(contract, output, request, context, own_words)
    elif contract.stage.id == answering.STAGE.id and (stops or not own_words):
        return _several(contract, output, stops, context)
    elif contract.stage.id == analysing.STAGE.id and codes == {Code.SCORE_MINIMUM}:
        return _without_unsure(contract, output, context)
    return None


def _without_unsure(contract: Contract, output: Output, context: Context) -> Fallback | None:
    """Return an analysis without the candidates under 0.50, where others are left: a model that
    gives them twice, honestly, has said that they are to be left out."""
    if context.attempt < MAX_ATTEMPTS:
        return None
    analysis = output["semanticAnalysis"]
    agencies = [
        {**entry, "categorySelection": {"candidates": _sure(entry["categorySelection"])}}
        for entry in analysis["agencies"]
    ]
    left = {**output, "semanticAnalysis": {**analysis, "agencies": agencies}}
    made = gate.judge(contract, ModelAnswer(raw=dumps(left)), replace(context, attempt=1))
    return Fallback(made) if made.passed else None


def _sure(selection: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: candidate
        for key, candidate in selection["candidates"].items()
        if Decimal(candidate["score"]) >= gate.MINIMUM_SCORE
    }


def _guidance(
    contract: Contract,
    output: Output,
    request: Mapping[str, object],
    context: Context,
    own_words: bool,
) -> Fallback | None:
    if output["judgements"]["inquiry"]:
        return None
    reply: str = output["assistantReply"]
    texts = guidance.every_text(context.release)
    if own_words and not grounding.check(reply, [], context.release, texts=texts):
        return None
    made = _judged(contract, output, guidance.chosen(reply, request), context)
    return Fallback(made) if made.passed else None


def _several(
    contract: Contract, output: Output, stops: list[Finding], context: Context
) -> Fallback | None:
    if any(each.code not in _IN_WORDS or each.path != grounding.REPLY for each in stops):
        return None
    cited = answering.cited_services(output, context)
    retold = retell(output["assistantReply"], cited, context.release)
    tries = [retold, Retelling(first_steps(cited, context.release), ())]
    if any(each.code is Code.REPLY_EMPTY for each in stops):
        if context.attempt < MAX_ATTEMPTS:
            return None
    elif stops and not retold.passages:
        return None  # all that it says is nowhere
    for retelling in tries:
        if _judged(contract, output, retelling.text, context).passed:
            stored = gate.with_two_decimals(output)
            passed = Judgement((), (), stored, contract.stage.state_slice(stored))
            return Fallback(passed, retelling)
    return None


def _judged(contract: Contract, output: Output, text: str, context: Context) -> Judgement:
    answer = ModelAnswer(raw=dumps({**output, "assistantReply": text}))
    # Attempt 1: only what a model writes at its second attempt has to say what it fixed.
    return gate.judge(contract, answer, replace(context, attempt=1))
