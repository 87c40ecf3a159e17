"""Labels that staff read: of tables, columns, checks, stages, and origins of replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.text import capfirst
from django.utils.translation import get_language_info, gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from conversations import page_languages
from ieim.knowledge.bundles.rows import Table
from ieim.knowledge.headings import HEADINGS
from ieim.pipeline.topology import PERSON, REPLY

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

COLUMNS: Mapping[str, StrPromise] = {
    "agency": _("agency"),
    "amounts": _("amounts"),
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
    "hours": _("opening hours"),
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
    "places": _("places"),
    "position": _("position"),
    "processing_days": _("processing days"),
    "processing_time": _("processing time"),
    "published_at": _("published at"),
    "published_by": _("published by"),
    "read_on": _("read on"),
    "release": _("release"),
    "requirements": _("requirements"),
    "service": _("service"),
    "services": _("services"),
    "set": _("set"),
    "situation": _("situation"),
    "stale": _("texts that are out of date"),
    "text": _("text"),
    "threshold": _("threshold"),
    "url": _("url"),
    "value": _("value"),
}
"""Names of columns in the admin."""
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

_TABLES: Mapping[Table, str] = {
    "agencies": gettext_noop("Agency"),
    "dictionary": gettext_noop("Category"),
    "services": gettext_noop("Service"),
    "labels": gettext_noop("Label"),
    "translations": gettext_noop("Translation"),
    "help_lines": gettext_noop("Help line"),
    "risk_examples": gettext_noop("Example of a risk flag"),
    "texts": gettext_noop("Text to what is no question"),
    "situations": gettext_noop("Situation"),
    "questions": gettext_noop("Example question"),
}

_PAGE_COLUMNS: Mapping[str, str] = {
    "conditions": gettext_noop("Conditions"),
    "path": gettext_noop("Page or place"),
    "url": gettext_noop("Link"),
    "value": gettext_noop("Category"),
}
"""Columns with another label on the editors' pages than in the admin; see HEADINGS, too."""

_CHECKS: Mapping[str, str] = {
    "draft.empty": gettext_noop("Nothing to publish"),
    "entry.invalid": gettext_noop("Entries that break a rule"),
    "reference.dangling": gettext_noop("References to what is not there"),
    "category.unreached": gettext_noop("Services that no category reaches"),
    "category.empty": gettext_noop("Categories without a service"),
    "category.wordless": gettext_noop("Categories without words"),
    "overview.empty": gettext_noop("Services without an overview"),
    "question.golden": gettext_noop("Example questions that are golden questions too"),
    "question.shared": gettext_noop("Questions of a situation that a service has too"),
    "situation.empty": gettext_noop("Situations without services"),
    "situation.unasked": gettext_noop("Situations without questions"),
    "service.outranked": gettext_noop("Services whose name leads to another one"),
    "service.duplicate": gettext_noop("Services that are hard to tell apart"),
    "keyword.shared": gettext_noop("Keywords that several categories have"),
    "category.outranked": gettext_noop("Categories whose words lead to another one"),
    "link.form": gettext_noop("Links that do not open or are not encrypted"),
    "text.markup": gettext_noop("Texts with markup in them"),
    "link.duplicate": gettext_noop("Links that several services have"),
    "translation.stale": gettext_noop("Translations whose original has changed"),
    "translation.figures": gettext_noop(
        "Translations and help lines with other figures than the original"
    ),
    "text.missing": gettext_noop(
        "What is said to a message that is no question, missing in a language"
    ),
    "budget.terms": gettext_noop("Entries that are too long for the token budget"),
}


def origin_label(origin: str) -> str:
    """Return who wrote a reply."""
    return gettext(_ORIGINS[origin])


def language_label(code: str) -> str:
    """Return the name of a language by its code; the code itself where it has none."""
    page = page_languages.find(code)
    try:
        return str(get_language_info(page.code if page else code)["name_translated"])
    except KeyError:
        return code or gettext("not known")


def stage_label(stage: str) -> str:
    """Return the label of a stage; its id where it has none."""
    label = STAGES.get(stage)
    return gettext(label) if label else stage


def column_name(column: str) -> str:
    """Return what the admin calls a column, at the beginning of a line."""
    return capfirst(str(COLUMNS.get(column, column.replace("_", " "))))


def column_label(column: str) -> str:
    """Return what the editors' pages call a column: the heading that citizens read, if any."""
    if column in HEADINGS:
        return str(HEADINGS[column])
    return gettext(_PAGE_COLUMNS[column]) if column in _PAGE_COLUMNS else column_name(column)


def value_label(column: str, text: str) -> str:
    """Return the text of a column as people read it: a language and fields by their names."""
    if column == "stale":
        return "\n".join(map(column_label, text.splitlines()))
    return language_label(text) if text and column == "language" else text


def table_label(table: Table) -> str:
    """Return what an entry of a table is called."""
    return gettext(_TABLES[table])


def check_labels() -> Mapping[str, str]:
    """Return the labels of the checks by code, in the order of the checks."""
    return {code: gettext(text) for code, text in _CHECKS.items()}
