"""Policy: what becomes of an outcome that passed the gate, or stopped at it.

Policy never makes an answer better or worse: it asks the citizen back, or for a second look by a
person. Its findings are waivable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from ieim.pipeline import choosing
from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.gate.subject import CLEAR, SURE
from ieim.pipeline.knowledge import Label
from ieim.pipeline.message import language as languages
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.ports import Query, Ranking
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.reply import Reply, in_language, outside
from ieim.pipeline.stages.base import OUTSIDE, Context, Inputs, Output
from ieim.pipeline.stages.triage import CLASSIFY, label_elements
from ieim.pipeline.topology import REPLY
from ieim.pipeline.work import Abstained, Answered, Held, NeedsReview, Outcome, Stopped, Turn

LabelSets = Mapping[str, Mapping[str, Label]]


def stopped(
    stage: str, result: Stopped, inputs: Inputs, *, language: str
) -> Abstained | Answered | NeedsReview:
    """Return what becomes of a turn whose stage stopped.

    After an abstention the citizen is asked back where there is something to offer, and told so in
    their ``language`` where no service is about the message; else a person gets it.
    """
    if result.abstained:
        if _is_outside(result.output, inputs):
            release = inputs.context.release
            return Answered(in_language(outside(release), language, release))
        asking = choosing.ask_back(stage, result.findings, result.output, inputs)
        if asking is not None:
            return asking
    return NeedsReview(stage, result.findings)


def apply(
    outcome: Answered | Abstained,
    turn: Turn,
    inputs: Inputs,
    classified: Output | None,
    answered: Collection[str],
) -> Outcome:
    """Return ``outcome``, or that a person sees it first, or that the citizen is asked back.

    ``classified`` is the answer of classify, None where it did not run or pass; ``answered`` are
    the languages that the deployment answers in, beside those of the release.
    """
    release = inputs.context.release
    holds = decide(turn.risks, classified, release.labels)
    readable = release.languages.union(answered)
    reply = None if isinstance(outcome, Abstained) else outcome.reply
    if reply is not None and reply.kind in ("guidance", "outside"):
        readable |= {turn.language} & guidance.languages(release)
    foreign = language(turn.text, readable)
    if isinstance(outcome, Abstained):
        # Who may be in danger is not asked to choose from a list.
        if turn.in_danger or any(hold.code is Code.POLICY_RISK for hold in holds):
            hold = beneath_help_lines() if turn.in_danger else []
            return NeedsReview(outcome.stage, (*hold, *outcome.findings))
        return replace(outcome, findings=(*outcome.findings, *foreign))
    if foreign and (model_is_sure(inputs.context) or _search_is_sure(outcome.reply, inputs)):
        foreign = []
    if foreign and not (holds or turn.decided or turn.in_danger):
        asking = _alternatives(outcome.reply, foreign, inputs)
        if asking is not None:
            return asking
    says_nothing = turn.in_danger and _says_nothing_in_danger(outcome.reply, inputs)
    if says_nothing and not (holds or turn.decided):
        holds = beneath_help_lines()
    holds += foreign
    return Held(outcome.reply, tuple(holds)) if holds else outcome


def _is_outside(output: Output | None, inputs: Inputs) -> bool:
    """Whether no service is about a message at which a stage abstained with this ``output``.

    Where a service was named for sure, something of that is meant, and so it is where the search
    finds several requests. A model that read all agencies and named none knows, unless the search
    is sure of a service.
    """
    answer = output or {}
    named = Decimal(answer.get("serviceSelection", {}).get("score", 0)) >= SURE
    if named or inputs.requests:
        return False
    if choosing.near_situations(inputs):
        return False  # an event can be near that no service is about
    none = answer.get("judgements", {}).get("agencyDetected") == []
    return inputs.ranking.outside >= OUTSIDE or (none and inputs.ranking.first < CLEAR)


def _says_nothing_in_danger(reply: Reply, inputs: Inputs) -> bool:
    """Whether ``reply`` says nothing to somebody in danger who waits for a person.

    Such is any guidance ("yes" is no thanks then), that no service is about it, and what only goes
    on with the talk's service where the message by itself finds another.
    """
    if reply.kind in ("guidance", "outside"):
        return True
    alone = inputs.shortlist.rank(Query(inputs.text))
    return bool(reply.still_about) and not _is_first(reply, alone)


def _is_first(reply: Reply, ranking: Ranking) -> bool:
    """Whether ``reply`` is made from the service that is ranked first."""
    best = [(service.item.agency, service.item.key) for service in ranking.services(limit=1)]
    return best == [(source.agency_id, source.service_key) for source in reply.sources[:1]]


def model_is_sure(context: Context) -> bool:
    """Whether the model, or whoever decided in its place, is sure of the service selected."""
    score = context.cached("service_select_v1", "serviceSelection", "score")
    return score is not None and Decimal(score) >= SURE


def _search_is_sure(reply: Reply, inputs: Inputs) -> bool:
    """Whether the search is sure that the message is about the service that ``reply`` is made from.
    Words alone cannot tell in another language."""
    ranking = inputs.ranking
    return ranking.by_meaning and ranking.first >= CLEAR and _is_first(reply, ranking)


def _alternatives(reply: Reply, foreign: Sequence[Finding], inputs: Inputs) -> Abstained | None:
    """Return what a citizen in whose language nothing is can be asked instead of given ``reply``.

    None where words alone ranked: they tell little of a language that no entry is in.
    """
    if not reply.sources or not inputs.ranking.by_meaning:
        return None
    named = {
        "sourcesUsed": [
            {"agencyId": source.agency_id, "serviceKey": source.service_key}
            for source in reply.sources
        ]
    }
    return choosing.ask_back(REPLY, foreign, named, inputs)


def has_thresholds(labels: LabelSets) -> bool:
    """Whether any label of ``labels`` sets a threshold."""
    return any(label.threshold is not None for codes in labels.values() for label in codes.values())


def decide(risks: Sequence[Risk], classified: Output | None, labels: LabelSets) -> list[Finding]:
    """Return why a reply that passed its gates waits for a person; it may go out for none.

    ``classified`` is the answer of classify, None where there is none. What the screen found holds,
    whatever a model says of it; a weak sign does where the model sees the same.
    """
    holding = holds(CLASSIFY.id, classified, labels) if classified is not None else []
    return [*risk.holds(risks, labels.get("risk_flags", {})), *holding]


def beneath_help_lines() -> list[Finding]:
    """Return the hold for a reply beneath help lines that says nothing to somebody in danger: that
    it is not clear what they need, or how long the visa takes that they asked about before."""
    message = "Help lines stand at the message, and there is nothing else to tell."
    return [Finding(Code.POLICY_RISK, "", message)]


def language(text: str, supported: Collection[str]) -> list[Finding]:
    """Return the hold for a message that is clearly in none of the ``supported`` languages."""
    other = languages.unsupported(text, supported)
    if other is None:
        return []
    return [Finding(Code.POLICY_LANGUAGE, "", f"The message seems to be in the language {other}.")]


def holds(contract: str, output: Output, labels: LabelSets) -> list[Finding]:
    """Return the holds for a triage answer that passed the gate: none but for the risk flags of
    classify that the model is sure of. How sure it is of any other label holds nothing."""
    if contract != CLASSIFY.id:
        return []
    flags = labels.get("risk_flags", {})
    return [
        Finding(
            Code.POLICY_RISK,
            pointer(*path, "label"),
            f"The risk flag {element['label']} asks for a person.",
        )
        for path, label_set, element in label_elements(output)
        if label_set == "risk_flags"
        and element["label"] in flags
        and flags[element["label"]].holds
        and element["confidence"] >= risk.UNSURE
    ]


def is_unsure(label: Label | None, confidence: object) -> bool:
    """Whether a label was given with less confidence than its own threshold; not where either is
    missing."""
    if label is None or label.threshold is None or confidence is None:
        return False
    return Decimal(str(confidence)) < label.threshold
