"""Policy: what is held for a person although it passed the gate.

Policy never makes an answer worse or better; it only asks for a second look. Its findings are
waivable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ieim.pipeline.findings import Code, Finding, pointer
from ieim.pipeline.knowledge import Label
from ieim.pipeline.message import language as languages
from ieim.pipeline.message import risk
from ieim.pipeline.message.risk import Risk
from ieim.pipeline.stages.base import Output
from ieim.pipeline.stages.triage import label_elements

LabelSets = Mapping[str, Mapping[str, Label]]


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
    """Return the hold for what would stand beneath help lines and tells nobody in danger anything:
    that it is not clear what they need, or how long the visa takes that they asked about before."""
    told = "Help lines stand at the message, and there is nothing else to tell."
    return [Finding(Code.POLICY_RISK, "", told)]


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
