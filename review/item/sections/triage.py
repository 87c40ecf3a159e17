"""Triage of a message in a caseworker's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

from conversations.models import Stage
from ieim.pipeline.knowledge import Release
from review.item.sections.said import LABEL_WORDS, Said, confidence, found_by, label_name

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


def triage(stage: Stage, release: Release) -> tuple[Said, ...]:
    """Return what a stage of triage found out; nothing before its answer passed the gate.

    Urgency comes first, then what is wanted, the topic and the risks; keys say whether they hold.
    """
    if not stage.result:
        return ()
    return tuple(_BUILDERS[stage.contract](stage.result, release))


def _classify(result: Mapping[str, Any], release: Release) -> Iterator[Said]:
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
                remark = confidence(element["confidence"])
            if primary and len(result["intents"]) > 1:
                remark = gettext("the main one, {remark}").format(remark=remark)
            yield Said(gettext(LABEL_WORDS[label_set]), name, remark)


def _extract(result: Mapping[str, Any], release: Release) -> Iterator[Said]:
    for entity in result["entities"]:
        kind = label_name(release, "entity_types", entity["entity_type"])
        yield Said(kind, entity["value_redacted"], confidence(entity["confidence"]))


def _identity(result: Mapping[str, Any], release: Release) -> Iterator[Said]:
    for key in result["keys"]:
        kind = label_name(release, "key_types", key["key_type"])
        remark = gettext(REMARKS[key["status"]])
        if key["check"]:
            remark = gettext("{remark}; checked as {kind}").format(remark=remark, kind=key["check"])
        yield Said(kind, key["key_value"], remark)


_BUILDERS = {"classify": _classify, "extract": _extract, "identity_assist": _identity}
