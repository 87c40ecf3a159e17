"""What staff read: names of columns, of stages, and of the origins of replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from ieim.pipeline.topology import PERSON, REPLY

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

COLUMNS: Mapping[str, StrPromise] = {
    "agency": _("agency"),
    "applicability_summary": _("applicability summary"),
    "case": _("case"),
    "categories": _("categories"),
    "category": _("category"),
    "code": _("code"),
    "contact": _("contact"),
    "created_at": _("created at"),
    "created_by": _("created by"),
    "deadline_days": _("deadline in days"),
    "description": _("description"),
    "effect": _("effect"),
    "fees": _("fees"),
    "flag": _("flag"),
    "how_to_apply": _("how to apply"),
    "id": _("id"),
    "key": _("key"),
    "keywords": _("keywords"),
    "kind": _("kind"),
    "language": _("language"),
    "name": _("name"),
    "next_services": _("next services"),
    "note": _("note"),
    "number": _("number"),
    "origin": _("origin"),
    "overview": _("overview"),
    "path": _("path"),
    "position": _("position"),
    "processing_time": _("processing time"),
    "published_at": _("published at"),
    "published_by": _("published by"),
    "release": _("release"),
    "requirements": _("requirements"),
    "service": _("service"),
    "services": _("services"),
    "set": _("set"),
    "situation": _("situation"),
    "text": _("text"),
    "threshold": _("threshold"),
    "url": _("url"),
    "value": _("value"),
}
"""What the admin calls the columns of its tables."""
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
    "index": gettext_noop("Answered by the pipeline, in the words of the service list"),
    "guidance": gettext_noop("Answered by the pipeline, with a prepared text"),
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


def column_name(column: str) -> str:
    """Return what the admin calls a column, at the beginning of a line."""
    return capfirst(str(COLUMNS.get(column, column.replace("_", " "))))
