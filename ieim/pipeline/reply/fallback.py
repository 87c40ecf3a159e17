"""Fallbacks: the administration's words in place of a model's free text.

No word that a model writes of its own reaches a citizen, unless the administration has chosen so.
Of guidance they read the administration's text, of an answer over several agencies what is retold
of it. Where such a text fails its checks twice and nothing else is wrong with the answer, the same
words answer in its place: the stage is a fallback then. Its output is the model's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ieim.pipeline import results
from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate, grounding
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.keys import Patterns
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.retelling import Retelling, first_steps, retell
from ieim.pipeline.results import Result
from ieim.pipeline.stages import judgement as judging
from ieim.pipeline.stages import multi_agency_answer as answering
from ieim.pipeline.stages.base import MAX_ATTEMPTS, Context, Output

_IN_WORDS = frozenset({Code.REPLY_EMPTY, Code.REPLY_UNGROUNDED, Code.SOURCES_MISSING})
"""Findings, at the text itself, that other words can answer for."""


def settle(
    contract: Contract,
    judgement: Judgement,
    context: Context,
    *,
    risks: Sequence[Risk],
    key_patterns: Patterns,
    own_words: bool = False,
) -> tuple[Judgement, Result | None]:
    """Return what becomes of a judged answer, and its result.

    A judgement with findings and a ``state_merge`` is a fallback. The result is that of
    :func:`ieim.pipeline.results.build`, or what is shown in place of a free text. With
    ``own_words``, where the administration shows a model's own words, they are shown as far as
    they pass every check.
    """
    stand_in = _stand_in(contract, judgement, context, own_words=own_words)
    if stand_in is None:
        return judgement, results.build(contract.id, judgement, context, risks, key_patterns)
    return judgement if judgement.passed else gate.accepted(contract, judgement), stand_in.as_dict()


def _stand_in(
    contract: Contract, judgement: Judgement, context: Context, *, own_words: bool
) -> Retelling | None:
    """Return what is shown in place of a free text; None where there is none or it stands, where
    the answer may be mended yet or has another fault, and for a person's answer."""
    output, request = judgement.output, context.request
    stops = [finding for finding in judgement.findings if finding.stops]
    in_words = all(stop.code in _IN_WORDS and stop.path == grounding.REPLY for stop in stops)
    if output is None or request is None or not in_words:
        return None
    if stops and context.attempt < MAX_ATTEMPTS:
        return None
    if contract.stage.id == judging.STAGE.id and not output["judgements"]["inquiry"]:
        reply: str = output["assistantReply"]
        texts = guidance.every_text(context.release)
        if own_words and not grounding.check(reply, [], context.release, texts=texts):
            return None
        return Retelling(guidance.chosen(reply, request), ())
    if contract.stage.id == answering.STAGE.id and (stops or not own_words):
        return _several(contract, output, context)
    return None


def _several(contract: Contract, output: Output, context: Context) -> Retelling:
    """Return what is retold of a text, or else what to do first at each of its sources."""
    cited = answering.cited_services(output, context)
    retold = retell(output["assistantReply"], cited, context.release)
    # Attempt 1: only what a model writes at its second attempt has to say what it fixed.
    again = ModelAnswer(raw=dumps({**output, "assistantReply": retold.text}))
    if gate.judge(contract, again, replace(context, attempt=1)).passed:
        return retold
    return Retelling(first_steps(cited, context.release), ())
