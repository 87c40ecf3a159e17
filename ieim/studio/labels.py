"""Labels for stages and for the origins of replies, for editors and caseworkers."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext, gettext_noop

from ieim.pipeline.topology import PERSON, REPLY

STAGES: Mapping[str, str] = {
    "judgement_v1": gettext_noop("Is it a question for us?"),
    "agency_detect_v1": gettext_noop("Which agency?"),
    "category_select_v1": gettext_noop("Which topic?"),
    "semantic_analysis_v1": gettext_noop("Which topics at each agency?"),
    "service_select_v1": gettext_noop("Which service?"),
    "multi_agency_service_answer_v1": gettext_noop("One answer from several agencies"),
    "classify": gettext_noop("Intent, product and urgency"),
    "extract": gettext_noop("Facts in the message"),
    "identity_assist": gettext_noop("Numbers and names that identify"),
    REPLY: gettext_noop("The reply as a whole"),
    PERSON: gettext_noop("A person"),
}

_ORIGINS: Mapping[str, str] = {
    "model": gettext_noop("Answered by the pipeline"),
    "retold": gettext_noop("Answered by the pipeline, in the words of the service list"),
    "model_approved": gettext_noop("Answered by the pipeline, approved by a person"),
    "citizen_choice": gettext_noop("Chosen by the citizen"),
    "staff_override": gettext_noop("Answered by the pipeline, corrected by a person"),
    "staff": gettext_noop("Written by a person"),
}


def origin_label(origin: str) -> str:
    """Return who wrote a reply."""
    return gettext(_ORIGINS[origin])


def stage_label(stage: str) -> str:
    """Return the label of a stage; its id where it has none."""
    label = STAGES.get(stage)
    return gettext(label) if label else stage
