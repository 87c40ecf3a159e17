"""What a stage's answer says, in a caseworker's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext, gettext_noop

from conversations.models import Stage
from ieim.pipeline import contract as contracts
from ieim.pipeline import policy
from ieim.pipeline.canonical import shown_score
from ieim.pipeline.knowledge import Release
from ieim.pipeline.reply.fallback import shown_text
from ieim.pipeline.stages.triage import label_elements
from ieim.pipeline.topology import STAGES
from review.labels import agency_name, label_name, service_name

Output = Mapping[str, Any]

FOUND_BY: Mapping[str, str] = {
    "rule": gettext_noop("found by a rule"),
    "meaning": gettext_noop("found by its meaning"),
    "hint": gettext_noop("may be meant, by its meaning"),
    "faint": gettext_noop("may be meant, by its meaning: the model saw no danger"),
    "unsure": gettext_noop("may be meant: the model was not sure"),
    "refusal": gettext_noop("may be meant: the model would not read the message"),
}
"""What found a label that no model gave."""

LABEL_WORDS: Mapping[str, str] = {
    "intents": gettext_noop("Wants to"),
    "product_lines": gettext_noop("About"),
    "urgencies": gettext_noop("Urgency"),
    "risk_flags": gettext_noop("Risk"),
    "entity_types": gettext_noop("Fact"),
    "key_types": gettext_noop("Number"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that an answer says: a heading, what, and a remark (both may be empty)."""

    heading: str
    what: str
    remark: str = ""


def statements(contract: str, output: Any, release: Release) -> tuple[Statement, ...]:
    """Return what ``output`` says; nothing for an answer that has not the contract's shape."""
    if not isinstance(output, Mapping) or not contracts.load(contract).validator.is_valid(output):
        return ()
    return tuple(_SAYS[contract](output, release))


def found_by(source: str) -> str:
    """Return what found a label, in words; empty for a model."""
    return gettext(FOUND_BY[source]) if source in FOUND_BY else ""


def confidence(sure: Decimal | float, release: Release, label_set: str, code: str) -> str:
    """Return how sure a model was of a label, in words, and whether its threshold wants more."""
    words = gettext("confidence {number}").format(number=shown_score(sure))
    if policy.is_unsure(release.labels.get(label_set, {}).get(code), sure):
        return gettext("unsure, {confidence}").format(confidence=words)
    return words


def _judgement(output: Output, _release: Release) -> Iterator[Statement]:
    if output["judgements"]["inquiry"]:
        yield Statement("", gettext("Yes, a question for a public service"))
    else:
        yield Statement("", gettext("No, not a question for a public service"))
        yield Statement(gettext("It would say"), str(output["assistantReply"] or ""))


def _agencies(output: Output, release: Release) -> Iterator[Statement]:
    for agency in output["judgements"]["agencyDetected"]:
        remark = "" if agency in release.agencies else gettext("not in the service index")
        yield Statement("", agency_name(release, agency), remark)
    if not output["judgements"]["agencyDetected"]:
        yield Statement("", gettext("No agency"))


def _topics(candidates: Mapping[str, Any]) -> str:
    return ", ".join(f"{c['value']} ({shown_score(c['score'])})" for c in candidates.values())


def _category(output: Output, _release: Release) -> Iterator[Statement]:
    yield Statement("", _topics(output["categorySelection"]["candidates"]))


def _semantic(output: Output, release: Release) -> Iterator[Statement]:
    analysis = output["semanticAnalysis"]
    for entry in analysis["agencies"]:
        name = agency_name(release, entry["agencyId"])
        topics = _topics(entry["categorySelection"]["candidates"])
        yield Statement(name, topics or gettext("nothing fits: not answered"))
    yield Statement(
        gettext("Answers first"), agency_name(release, analysis["primaryAgency"]["agencyId"])
    )


def _service(output: Output, _release: Release) -> Iterator[Statement]:
    selection = output["serviceSelection"]
    yield Statement(
        "",
        selection["name"] or selection["serviceKey"],
        gettext("score {number}").format(number=shown_score(selection["score"])),
    )


def _answer(output: Output, release: Release) -> Iterator[Statement]:
    yield Statement(gettext("It would say"), output["assistantReply"])
    for source in output["sourcesUsed"]:
        key, agency = source["serviceKey"], source["agencyId"]
        listed = (agency, key) in release.services
        remark = agency_name(release, agency) if listed else gettext("not in the service index")
        yield Statement(gettext("Source"), service_name(release, agency, key), remark)


def _classify(output: Output, release: Release) -> Iterator[Statement]:
    for _, label_set, element in label_elements(output):
        name = label_name(release, label_set, element["label"])
        sure = confidence(element["confidence"], release, label_set, element["label"])
        yield Statement(gettext(LABEL_WORDS[label_set]), name, sure)


def _extract(output: Output, release: Release) -> Iterator[Statement]:
    for entity in output["entities"]:
        kind = label_name(release, "entity_types", entity["entity_type"])
        yield Statement(kind, entity["value_redacted"])
    if not output["entities"]:
        yield Statement("", gettext("No facts"))


def _identity(output: Output, release: Release) -> Iterator[Statement]:
    for key in output["keys"]:
        yield Statement(label_name(release, "key_types", key["key_type"]), key["key_value"])
    if not output["keys"]:
        yield Statement("", gettext("No numbers or names"))


_SAYS = {
    "judgement_v1": _judgement,
    "agency_detect_v1": _agencies,
    "category_select_v1": _category,
    "semantic_analysis_v1": _semantic,
    "service_select_v1": _service,
    "multi_agency_service_answer_v1": _answer,
    "classify": _classify,
    "extract": _extract,
    "identity_assist": _identity,
}


KEY_STATUSES: Mapping[str, str] = {
    "valid": gettext_noop("valid"),
    "invalid": gettext_noop("not valid"),
    "unverified": gettext_noop("not verified"),
}
REMARKS: Mapping[str, str] = {
    "valid": gettext_noop("valid"),
    "invalid": gettext_noop("not valid: do not rely on it"),
    "unverified": gettext_noop("not verified: do not rely on it"),
}


def shown_statements(stage: Stage) -> tuple[Statement, ...]:
    """Return what the citizen reads in place of a model's free text; nothing where they read it."""
    text = None if STAGES[stage.contract].reply is None else shown_text(stage.result)
    if text is None:
        return ()
    services = gettext("The services that it names, as they stand in the service list")
    return (Statement(gettext("The citizen reads"), text or services),)


def triage_statements(stage: Stage, release: Release) -> tuple[Statement, ...]:
    """Return what a stage of triage found out; nothing before its answer passed the gate.

    Urgency comes first, then what is wanted, the topic and the risks; keys say whether they hold.
    """
    if not stage.result or stage.contract not in _BUILDERS:
        return ()
    return tuple(_BUILDERS[stage.contract](stage.result, release))


def _triage_labels(result: Mapping[str, Any], release: Release) -> Iterator[Statement]:
    labels = [
        ("urgencies", [result["urgency"]]),
        ("intents", result["intents"]),
        ("product_lines", [result["product_line"]]),
        ("risk_flags", result["risk_flags"]),
    ]
    for label_set, elements in labels:
        for element in elements:
            name = label_name(release, label_set, element["label"])
            primary = label_set == "intents" and element["label"] == result["primary_intent"]
            remark = found_by(element["source"])
            if element["confidence"] is not None and not remark:
                remark = confidence(element["confidence"], release, label_set, element["label"])
            if primary and len(result["intents"]) > 1:
                remark = gettext("the main one, {remark}").format(remark=remark)
            yield Statement(gettext(LABEL_WORDS[label_set]), name, remark)


def _triage_facts(result: Mapping[str, Any], release: Release) -> Iterator[Statement]:
    for entity in result["entities"]:
        kind = label_name(release, "entity_types", entity["entity_type"])
        sure = confidence(entity["confidence"], release, "entity_types", entity["entity_type"])
        yield Statement(kind, entity["value_redacted"], sure)


def _triage_keys(result: Mapping[str, Any], release: Release) -> Iterator[Statement]:
    for key in result["keys"]:
        kind = label_name(release, "key_types", key["key_type"])
        remark = gettext(REMARKS[key["status"]])
        if key["check"]:
            remark = gettext("{remark}; checked as {kind}").format(remark=remark, kind=key["check"])
        yield Statement(kind, key["key_value"], remark)


_BUILDERS = {"classify": _triage_labels, "extract": _triage_facts, "identity_assist": _triage_keys}
