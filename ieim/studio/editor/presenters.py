"""Plain values for the templates of an entry's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.urls import reverse
from django.utils.translation import gettext

from conversations.chat.wording import ANSWER_HEADINGS
from ieim.knowledge.bundles.rows import IDENTITY, Table
from ieim.knowledge.bundles.situations import parts
from ieim.pipeline.knowledge import Agency as AgencyValue
from ieim.pipeline.knowledge import Service as ServiceValue
from ieim.studio.drafts import cached as drafts
from ieim.studio.drafts.entries import column_values
from ieim.studio.drafts.history import made, readable, shown
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.drafts.translations import kind_of, owner_of
from ieim.studio.editor.addresses import edit_url
from ieim.studio.editor.forms import DraftForm, ServiceLines
from ieim.studio.editor.merging import Merge
from ieim.studio.labels import column_label, language_label
from ieim.studio.models import Agency, Change, DraftEntry, Service, Translation
from ieim.studio.pages.presenters import answer
from ieim.studio.proposals.differences import marked
from ieim.studio.translating.selectors import Text, target_languages

CHANGES = 20
"""Changes of the history that a page shows."""
_CLASSES: Mapping[type[forms.Widget], str] = {
    forms.Textarea: "govuk-textarea",
    forms.Select: "govuk-select",
}


def field_views(
    form: DraftForm,
    merge: Merge,
    warnings: Mapping[str, Sequence[str]],
    originals: Mapping[str, Text],
) -> list[dict[str, Any]]:
    """Return what the template shows of each field; a stored entry's id is in the heading."""
    views = []
    for bound in form.visible_fields():
        if bound.field.disabled:
            continue
        widget = bound.field.widget
        attrs: dict[str, Any] = {
            "class": next((c for t, c in _CLASSES.items() if isinstance(widget, t)), "govuk-input"),
            "aria-describedby": f"{bound.auto_id}-hint {bound.auto_id}-notes",
        }
        if isinstance(widget, forms.Textarea):
            value = shown(bound.field.prepare_value(bound.value()))
            attrs["rows"] = min(12, max(2, value.count("\n") + 1 + len(value) // 70))
        if isinstance(widget, forms.Textarea | forms.TextInput):
            attrs["dir"] = "auto"
        is_group = isinstance(widget, forms.CheckboxSelectMultiple)
        html = "" if is_group else bound.as_widget(attrs=attrs)
        if bound.field.show_hidden_initial:
            html += bound.as_hidden(only_initial=True)
        views.append(
            {
                "bound": bound,
                "group": is_group,
                "html": html,
                "warnings": warnings.get(bound.name, ()),
                "original": originals.get(bound.name),
                "picks": bound.field.names().values()
                if isinstance(bound.field, ServiceLines)
                else (),
                "open": bound.name in merge.open,
                "theirs": shown(merge.open.get(bound.name)),
            }
        )
    return views


def card(table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of these columns as citizens see it, without what they do not read."""
    if table == "services":
        columns = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        filled = {name: v for name, v in columns.items() if v and name != "position"}
        blank = {"agency": "", "key": "", "name": gettext("Without a name yet")}
        service = ServiceValue(**{**blank, **filled})  # type: ignore[arg-type]  # as the form has them, lists as tuples
        agency = Agency.objects.filter(pk=values["agency"]).first()
        value = AgencyValue(**column_values(agency)) if agency else AgencyValue("", "")
        return {"reply": answer(service, value)}
    if table == "agencies":
        facts = [
            (ANSWER_HEADINGS[f"agency_{n}"], values[n]) for n in ("name", "path", "description")
        ]
        return {"facts": [(heading, text) for heading, text in facts if text]}
    if table == "dictionary" and values["value"]:
        return {"facts": [(ANSWER_HEADINGS["category_value"], values["value"])]}
    if table == "situations":
        rows = Service.objects.values_list("agency", "key", "name")
        names = {f"{agency}/{key}": name for agency, key, name in rows}
        steps = [parts(line) for line in values["services"] or ()]
        return {"steps": [(names.get(ref, ref), condition) for ref, condition in steps]}
    return {}


def history(table: Table, identity: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the newest changes of an entry, with their texts in runs of words (``marked``)."""
    name = entry_name(table, identity)
    changes = Change.objects.select_related("by").filter(table=table, entry=name)[:CHANGES]
    return [
        {
            "change": change,
            "made": made(change),
            "fields": [
                (column_label(column), *marked(before, after))
                for column, before, after in readable(change.fields)
                if before or after
            ],
        }
        for change in changes
    ]


def related(entry: DraftEntry, *, may_edit: bool) -> list[tuple[str, str]]:
    """Return ``(text, address)`` of what belongs to a stored entry."""
    table, links = entry.table, []
    agency = entry if isinstance(entry, Agency) else getattr(entry, "agency", None)
    if agency is not None and table in ("agencies", "dictionary"):
        query = urlencode({"agency": agency.pk})
        links.append((gettext("Categories of the agency"), f"{reverse('dictionary:home')}?{query}"))
    level = {"dictionary": "category", "agencies": "agency"}.get(table, table.removesuffix("s"))
    key = IDENTITY[table][-1]
    if isinstance(entry, Agency):
        query = urlencode({"agency": entry.pk})
        links.append((gettext("Its services"), f"{reverse('knowledge:services')}?{query}"))
        if may_edit:
            links.append((gettext("Add a service"), f"{reverse('editor:new_service')}?{query}"))
            links.append((gettext("Add a category"), f"{reverse('editor:new_category')}?{query}"))
    elif isinstance(entry, Translation):
        agency_id, category, service = owner_of(entry)
        tables: dict[str, tuple[Table, list[str]]] = {
            "agency": ("agencies", [agency_id]),
            "category": ("dictionary", [agency_id, category]),
            "service": ("services", [agency_id, service]),
            "situation": ("situations", [service]),
        }
        links.append((gettext("The original"), edit_url(*tables[kind_of(owner_of(entry))])))
    elif agency is not None:
        links.append((agency.name, edit_url("agencies", [agency.pk])))
    if table != "translations":
        owner = {"agency": "" if agency is None else agency.pk, level: getattr(entry, key)}
        names = [owner.get(name, "") for name in IDENTITY["translations"][1:]]
        text = gettext("Translation: {language}")
        for code in target_languages(drafts.draft().bundle) if may_edit else ():
            address = edit_url("translations", [code, *names])
            links.append((text.format(language=language_label(code)), address))
        if not may_edit:
            links.append((gettext("Translations"), reverse("translating:translations")))
    if isinstance(entry, Service) and may_edit:
        query = urlencode({"agency": entry.agency_id, "key": entry.key})
        links.append((gettext("Owner and review date"), f"{reverse('fresh:entry')}?{query}"))
        query = urlencode({"agency": entry.agency_id, "service": entry.key})
        links.append((gettext("Let the model draft"), f"{reverse('drafting:home')}?{query}"))
    return links
