"""Plain values for the templates of the editors' pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from conversations.turns.languages import written_in
from ieim.knowledge import wording
from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table
from ieim.knowledge.headings import HEADINGS
from ieim.pipeline.knowledge import Agency as AgencyValue
from ieim.pipeline.knowledge import Release
from ieim.pipeline.knowledge import Service as ServiceValue
from ieim.pipeline.reply.cards import SECTIONS, read_on
from ieim.pipeline.reply.reply import render_service
from ieim.studio.checks import Remark, Severity
from ieim.studio.editor.addresses import edit_url
from ieim.studio.labels import (
    check_labels,
    column_label,
    language_label,
    table_label,
    value_label,
)
from ieim.studio.models import DRAFT_MODELS
from ieim.studio.pages.selectors import service_names
from ieim.studio.proposals.differences import Difference, Kind, marked
from ieim.studio.webpages.selectors import sources

Item = TypeVar("Item")

PAGE_SIZE = 25
MINE = "*mine"
"""The filter for all agencies of the user; no agency has this id."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a select."""

    value: str
    words: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class FilteredPage(Generic[Item]):
    """One page of a filtered list; ``query`` is the address's without the page, ending in "&"."""

    page: Page[Item]
    total: int
    query: str
    filtered: bool


def choices(entries: Iterable[tuple[str, str]], chosen: str) -> list[Choice]:
    """Return the options of a select; ``entries`` are values with their labels."""
    return [Choice(value, words, value == chosen) for value, words in entries]


def chosen(query: QueryDict, name: str, allowed: Iterable[str]) -> str:
    """Return the value of a filter in the address; "" if it is missing or not allowed."""
    value = query.get(name, "")
    return value if value in set(allowed) else ""


def filtered_page(
    items: Sequence[Item] | QuerySet[Any, Item],
    query: QueryDict,
    active: Mapping[str, str],
    *,
    total: int,
) -> FilteredPage[Item]:
    """Return the requested page of ``items``; ``active`` are its filters."""
    filters = {name: value for name, value in active.items() if value}
    page = Paginator(items, PAGE_SIZE).get_page(query.get("page"))
    text = urlencode(filters) + "&" if filters else ""
    return FilteredPage(page, total, text, bool(filters.keys() - {"from", "to"}))


def agency_choices(
    ids: Iterable[str], names: Mapping[str, str], scope: frozenset[str] | None
) -> list[tuple[str, str]]:
    """Return the entries of a select of agencies, ordered by name."""
    entries = [(id_, names.get(id_) or id_) for id_ in set(ids) if id_]
    entries.sort(key=lambda entry: (entry[1].casefold(), entry[0]))
    mine = [(MINE, gettext("My agencies"))] if scope else []
    return [("", gettext("All agencies")), *mine, *entries]


def of_agency(agency: str, selected: str, scope: frozenset[str] | None) -> bool:
    """Whether the filter ``selected`` includes the entries of ``agency``."""
    if not selected:
        return True
    return agency in (scope or ()) if selected == MINE else agency == selected


_KINDS = {
    "": gettext_noop("All changes"),
    Kind.ADDED: gettext_noop("Added"),
    Kind.CHANGED: gettext_noop("Changed"),
    Kind.REMOVED: gettext_noop("Removed"),
}


def difference_list(
    differences: Sequence[Difference],
    query: QueryDict,
    *,
    names: Mapping[str, str],
    scope: frozenset[str] | None,
    active: Mapping[str, str],
) -> dict[str, Any]:
    """Return one page of ``differences`` as the address filters them, and the filters.

    ``active`` has the other parameters of the address; ``names`` are the agencies' names by id.
    ``counts`` are of all that is not filtered out.
    """
    agencies = agency_choices((item.agency for item in differences), names, scope)
    agency = chosen(query, "agency", (value for value, _ in agencies))
    kind = chosen(query, "kind", _KINDS)
    tables: dict[str, str] = {
        "": gettext("All kinds of entry"),
        **{t: table_label(t) for t in TABLES},
    }
    selected_table = chosen(query, "table", tables)
    matches = [
        item
        for item in differences
        if of_agency(item.agency, agency, scope)
        and item.kind == (kind or item.kind)
        and item.table == (selected_table or item.table)
    ]
    filters = {**active, "agency": agency, "kind": kind, "table": selected_table}
    page = filtered_page(matches, query, filters, total=len(differences))
    urls = edit_urls(list(page.page), scope) if active.get("to") else {}
    services = service_names(item.service for item in page.page)
    pages = sources((item.entry for item in page.page), scope)
    return {
        "list": page,
        "rows": [
            _difference(item, names, urls, services)
            | {"source": pages.get((item.table, item.entry))}
            for item in page.page
        ],
        "counts": kind_counts(matches),
        "agencies": choices(agencies, agency),
        "kinds": choices(((value, gettext(text)) for value, text in _KINDS.items()), kind),
        "tables": choices(tables.items(), selected_table),
    }


def kind_counts(differences: Iterable[Difference]) -> dict[str, int]:
    counts = Counter(item.kind for item in differences)
    return {kind.value: counts[kind] for kind in Kind}


def remark_list(
    remarks: Sequence[Remark], query: QueryDict, *, release: Release, scope: frozenset[str] | None
) -> dict[str, Any]:
    """Return one page of ``remarks`` about ``release`` as the address filters them."""
    names = agency_names(release)
    agencies = agency_choices((remark.agency for remark in remarks), names, scope)
    agency = chosen(query, "agency", (value for value, _ in agencies))
    of_agencies = [remark for remark in remarks if of_agency(remark.agency, agency, scope)]
    counts = Counter(remark.code for remark in of_agencies)
    codes = [("", gettext("All checks"))]
    codes += [(c, f"{text} ({counts[c]})") for c, text in check_labels().items() if counts[c]]
    code = chosen(query, "code", (value for value, _ in codes))
    matches = [remark for remark in of_agencies if remark.code == (code or remark.code)]
    filters = {"agency": agency, "code": code}
    page = filtered_page(matches, query, filters, total=len(remarks))
    urls = edit_urls(list(page.page), scope)
    errors = sum(remark.severity is Severity.ERROR for remark in remarks)
    return {
        "list": page,
        "rows": [
            {
                "remark": remark,
                "error": remark.severity is Severity.ERROR,
                "what": table_label(remark.table),
                "name": _entry_name(remark, release),
                "agency": _agency_name(remark.table, remark.agency, names),
                # Where the entry is edited; "" for users who may not.
                "url": urls.get((remark.table, remark.entry), ""),
            }
            for remark in page.page
        ],
        "errors": errors,
        "warnings": len(remarks) - errors,
        "agencies": choices(agencies, agency),
        "codes": choices(codes, code),
    }


def remark_groups(remarks: Sequence[Remark]) -> list[tuple[str, list[Remark]]]:
    """Return the remarks by the label of their check, in the order of the checks."""
    groups = ((text, [r for r in remarks if r.code == c]) for c, text in check_labels().items())
    return [(text, members) for text, members in groups if members]


def edit_urls(
    items: Sequence[Remark] | Sequence[Difference], scope: frozenset[str] | None
) -> dict[tuple[Table, str], str]:
    """Return the addresses at which the entries of ``items`` within ``scope`` are edited."""
    in_scope = [item for item in items if scope is None or item.agency in scope]
    urls: dict[tuple[Table, str], str] = {}
    for table in {item.table for item in in_scope}:
        model, columns = DRAFT_MODELS[table], IDENTITY[table]
        agency_by_entry = {i.entry: i.agency for i in in_scope if i.table == table}
        rows: QuerySet[Any] = model._default_manager.all()
        if "agency" in columns:
            # A situation's question has no agency.
            rows = rows.filter(Q(agency__in=set(agency_by_entry.values())) | Q(agency=None))
        if "key" in columns:
            keys = {entry.removeprefix(f"{agency} ") for entry, agency in agency_by_entry.items()}
            rows = rows.filter(key__in=keys)
        for pk, *identity in rows.values_list("pk", *columns):
            if (name := " ".join(filter(None, identity))) in agency_by_entry:
                page = f"admin:studio_{model._meta.model_name}_change"
                urls[table, name] = edit_url(table, identity) or reverse(page, args=[pk])
    return urls


def answer(service: ServiceValue, agency: AgencyValue) -> dict[str, Any]:
    """Return a service as citizens see it."""
    with suppress(ValueError):  # what somebody types may not be readable yet: its field says so
        service, _ = wording.fill(service, agency, written_in(), frozenset())
    placeholders = {f"service_{name}": f"{{service_{name}}}" for name in SECTIONS}
    reply = render_service(
        placeholders, service=service, agency=agency, category_value=None, entities={}
    )
    day = None
    with suppress(ValueError):  # likewise
        day = read_on(service, reply.sources[0].url)
    return {
        "title": reply.title,
        "lead": reply.lead,
        "facts": [
            {
                "heading": HEADINGS[section.field],
                "items": section.items,
                "ordered": section.field == "how_to_apply",
            }
            for section in reply.sections
        ],
        "source": reply.sources[0],
        "read_on": day,
    }


def agency_names(*releases: Release | None) -> dict[str, str]:
    """Return the agencies' names by id; a later release overrides an earlier one."""
    return {
        agency.id: agency.name
        for release in releases
        if release is not None
        for agency in release.agencies.values()
    }


def _entry_name(remark: Remark, release: Release) -> str:
    """Return the name of a remark's entry; "" if it is unknown."""
    key = (remark.agency, remark.entry.removeprefix(f"{remark.agency} "))
    match remark.table:
        case "services" if key in release.services:
            return release.services[key].name
        case "dictionary" if key in release.categories:
            return release.categories[key].value
        case "agencies" if remark.entry in release.agencies:
            return release.agencies[remark.entry].name
    return ""


def _agency_name(table: Table, agency: str, names: Mapping[str, str]) -> str:
    """Return the agency's name for an entry; "" for an agency itself."""
    return "" if table == "agencies" else names.get(agency) or agency


def _difference(
    difference: Difference,
    names: Mapping[str, str],
    urls: Mapping[tuple[Table, str], str],
    services: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    language = language_label(difference.language) if difference.language else ""
    fields = []
    for field in difference.fields:
        texts = (value_label(field.column, text) for text in (field.before, field.after))
        before, after = marked(*texts)
        fields.append({"name": column_label(field.column), "before": before, "after": after})
    words = difference.entry.split(" ")
    return {
        "kind": difference.kind,
        "happened": gettext(_KINDS[difference.kind]),
        "value": f"{difference.table} {difference.entry}",
        "what": table_label(difference.table),
        # A translation without a name is called by its language.
        "name": language if difference.name == difference.language else difference.name,
        "language": language,
        # Its language is said in words.
        "entry": " ".join(word for word in words if word != difference.language),
        "service": services.get((difference.agency, difference.service), difference.service),
        "agency": _agency_name(difference.table, difference.agency, names),
        "fields": fields,
        "url": urls.get((difference.table, difference.entry), ""),
    }
