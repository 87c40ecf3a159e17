"""Fallbacks: the administration's words in place of a model's free text.

No word that a model writes of its own reaches a citizen, unless the administration has chosen so.
Of guidance they read the administration's text, over several agencies the services of the index
alone. Where such a text fails its checks twice and nothing else is wrong with the answer, the same
stands in its place: the stage is a fallback then. Its output is the model's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ieim.pipeline import results
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate, grounding
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.personal.keys import Patterns
from ieim.pipeline.reply import guidance
from ieim.pipeline.results import Result
from ieim.pipeline.stages import judgement as judging
from ieim.pipeline.stages import multi_agency_answer as answering
from ieim.pipeline.stages.base import MAX_ATTEMPTS, Context

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
    :func:`ieim.pipeline.results.build`, or ``{"text"}``: what is shown in place of a free text,
    empty where nothing is. With ``own_words``, where the administration shows a model's own words,
    they are shown as far as they pass every check.
    """
    text = _shown(contract, judgement, context, own_words=own_words)
    if text is None:
        return judgement, results.build(contract.id, judgement, context, risks, key_patterns)
    passed = judgement if judgement.passed else gate.accepted(contract, judgement)
    return passed, {"text": text}


def shown_text(result: Mapping[str, Any] | None) -> str | None:
    """Return what the ``result`` of a stage that ends the flow shows in place of its free text;
    None for that text itself."""
    return None if not result else str(result["text"])


def _shown(
    contract: Contract, judgement: Judgement, context: Context, *, own_words: bool
) -> str | None:
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
        return guidance.chosen(reply, request)
    if contract.stage.id == answering.STAGE.id and (stops or not own_words):
        return ""
    return None
