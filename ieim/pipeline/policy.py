"""Policy: what becomes of an outcome that passed the gate, or stopped at it.

Policy never makes an answer better or worse: it asks the citizen back, or for a second look by a
person. Its findings are waivable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ieim.pipeline import choosing
from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Label, Service
from ieim.pipeline.message import language as languages
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.ports import Ranked
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.reply import LEAST_PARTS, Reply
from ieim.pipeline.stages.base import Inputs, Output
from ieim.pipeline.stages.triage import label_elements
from ieim.pipeline.topology import REPLY
from ieim.pipeline.work import Abstained, Answered, Held, NeedsReview, Outcome, Stopped, Turn

LabelSets = Mapping[str, Mapping[str, Label]]


def stopped(stage: str, result: Stopped, inputs: Inputs) -> Abstained | NeedsReview:
    """Return what becomes of a turn whose stage stopped: after an abstention the citizen is asked
    back where there is something to offer, else a person gets it."""
    if result.abstained:
        matching = [each.item for each in _matching(inputs)]
        asking = choosing.ask_back(stage, result.findings, matching, result.output, inputs)
        if asking is not None:
            return asking
    return NeedsReview(stage, result.findings)


def apply(
    outcome: Answered | Abstained,
    turn: Turn,
    inputs: Inputs,
    triaged: Mapping[str, Output],
    answered: Collection[str],
) -> Outcome:
    """Return ``outcome``, or that a person sees it first, or that the citizen is asked back.

    ``triaged`` are the triage answers that passed, by contract; ``answered`` are the
    languages that the deployment answers in, beside those of the release.
    """
    release = inputs.context.release
    holds = decide(turn.risks, triaged, release.labels)
    readable = release.languages.union(answered)
    reply = None if isinstance(outcome, Abstained) else outcome.reply
    if reply is not None and reply.kind == "guidance":
        readable |= {turn.language} & guidance.languages(release)
    foreign = language(turn.text, readable)
    if isinstance(outcome, Abstained):
        # Who may be in danger is not asked to choose from a list.
        if turn.in_danger or any(hold.code is Code.POLICY_RISK for hold in holds):
            hold = beneath_help_lines() if turn.in_danger else []
            return NeedsReview(outcome.stage, (*hold, *outcome.findings))
        return replace(outcome, findings=(*outcome.findings, *foreign))
    if foreign and not (holds or turn.decided or turn.in_danger):
        asking = _alternatives(outcome.reply, foreign, inputs)
        if asking is not None:
            return asking
    if not (holds or turn.decided) and _says_nothing_in_danger(outcome.reply, turn, inputs):
        holds = beneath_help_lines()
    holds += foreign
    return Held(outcome.reply, tuple(holds)) if holds else outcome


def _says_nothing_in_danger(reply: Reply, turn: Turn, inputs: Inputs) -> bool:
    """Whether help lines are shown above ``reply``, which says nothing to somebody in danger.

    Such is guidance that nothing can be done with the message, and any while somebody in danger
    waits for a person ("yes" is no thanks then); and what only goes on with the talk's service
    where the message has a sign of its own or they wait, and finds another by itself.
    """
    release = inputs.context.release
    signs = bool(risk.shown(turn.risks, release.labels.get("risk_flags", {})))
    if reply.kind == "guidance":
        case = guidance.UNCLEAR if turn.again else inputs.shortlist.case(turn.text)
        return turn.in_danger or ((signs or turn.helped) and case in guidance.NO_HELP)
    if not (reply.still_about and (signs or turn.in_danger)):
        return False
    source = reply.sources[0]
    about = release.services[source.agency_id, source.service_key]
    (evidence,), best = inputs.shortlist.evidence(inputs.text, [about])
    return evidence < best


def _alternatives(reply: Reply, foreign: Sequence[Finding], inputs: Inputs) -> Abstained | None:
    """Return what a citizen in whose language nothing is can be asked instead of given ``reply``.

    None where words alone ranked: they tell little of a language that no entry is in.
    """
    matching = _matching(inputs)
    if not reply.sources or not matching or any(each.meaning is None for each in matching):
        return None
    services = inputs.context.release.services
    cited = [services[each.agency_id, each.service_key] for each in reply.sources]
    ranked = [*cited, *(each.item for each in matching)]
    return choosing.ask_back(REPLY, foreign, ranked, None, inputs)


def _matching(inputs: Inputs) -> list[Ranked[Service]]:
    """Return the services that match the message, best first; those of several requests in
    turns."""
    parts = inputs.shortlist.parts(inputs.text)
    queries = [inputs.text[part.start : part.end] for part in parts]
    if len(parts) < LEAST_PARTS:
        # Where nobody can tell whether the talk goes on: what either would lead to, in turns.
        queries = [inputs.text, inputs.query] if 0 < inputs.goes_on < 1 else [inputs.query]
    limit = inputs.limits["services"]
    found = [inputs.shortlist.services(query, agencies=None, limit=limit) for query in queries]
    return [each for several in zip(*found, strict=True) for each in several if each.score > 0]


def has_thresholds(labels: LabelSets) -> bool:
    """Whether any label of ``labels`` sets a threshold."""
    return any(label.threshold is not None for codes in labels.values() for label in codes.values())


def decide(
    risks: Sequence[Risk], triaged: Mapping[str, Output], labels: LabelSets
) -> list[Finding]:
    """Return why a reply that passed its gates waits for a person; it may go out for none.

    ``triaged`` are the triage answers that passed, by contract. What the screen found holds,
    whatever a model says of it; a weak sign does where the model sees the same.
    """
    return [
        *risk.holds(risks, labels.get("risk_flags", {})),
        *(each for name, output in triaged.items() for each in holds(name, output, labels)),
    ]


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
    """Return the holds for a triage answer that passed the gate; none for other contracts."""
    return list(_holds(contract, output, labels))


def _holds(contract: str, output: Output, labels: LabelSets) -> Iterable[Finding]:
    if contract == "classify":
        for path, label_set, element in label_elements(output):
            label = labels.get(label_set, {}).get(element["label"])
            yield from _confidence(label, element, pointer(*path, "confidence"))
            if label is not None and label_set == "risk_flags" and label.holds:
                yield Finding(
                    Code.POLICY_RISK,
                    pointer(*path, "label"),
                    f"The risk flag {label.code} asks for a person.",
                )
    elif contract == "extract":
        types = labels.get("entity_types", {})
        for i, entity in enumerate(output["entities"]):
            where = pointer("entities", i, "confidence")
            yield from _confidence(types.get(entity["entity_type"]), entity, where)


def _confidence(label: Label | None, element: Mapping[str, Any], path: str) -> Iterable[Finding]:
    if label is None or label.threshold is None:
        return
    if Decimal(element["confidence"]) < label.threshold:
        yield Finding(
            Code.POLICY_CONFIDENCE,
            path,
            f"The confidence is below {label.threshold}, the threshold of {label.code}.",
        )
