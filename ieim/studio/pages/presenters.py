"""What the pages show, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from ieim.knowledge.bundles.rows import IDENTITY, TABLES, Table
from ieim.knowledge.headings import HEADINGS
from ieim.pipeline.knowledge import Agency as AgencyValue
from ieim.pipeline.knowledge import Release
from ieim.pipeline.knowledge import Service as ServiceValue
from ieim.pipeline.reply.cards import SECTIONS
from ieim.pipeline.reply.reply import render_service
from ieim.studio.checks import Remark, Severity
from ieim.studio.models import DRAFT_MODELS
from ieim.studio.pages import labels
from ieim.studio.proposals.differences import Difference, Kind, marked

Item = TypeVar("Item")

PAGE = 25
MINE = "*mine"
"""The choice of all agencies of the user; no agency has this id."""


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    words: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Listed(Generic[Item]):
    """One page of a filtered list. ``query`` is the address's, without the page, "&" at its end."""

    page: Page[Item]
    total: int
    query: str
    filtered: bool


def choices(entries: Iterable[tuple[str, str]], chosen: str) -> list[Choice]:
    """Return the choices of a select; ``entries`` are values with their labels."""
    return [Choice(value, words, value == chosen) for value, words in entries]


def chosen(query: QueryDict, name: str, allowed: Iterable[str]) -> str:
    """Return the value of a filter, "" for none and for one that there is not."""
    value = query.get(name, "")
    return value if value in set(allowed) else ""


def listed(
    items: Sequence[Item] | QuerySet[Any, Item],
    query: QueryDict,
    active: Mapping[str, str],
    *,
    total: int,
) -> Listed[Item]:
    """Return the page of ``items`` that the address asks for; ``active`` are its filters."""
    on = {name: value for name, value in active.items() if value}
    pages = Paginator(items, PAGE)
    text = urlencode(on) + "&" if on else ""
    return Listed(pages.get_page(query.get("page")), total, text, bool(on.keys() - {"from", "to"}))


def agency_choices(
    ids: Iterable[str], names: Mapping[str, str], scope: frozenset[str] | None
) -> list[tuple[str, str]]:
    """Return the entries of a select of agencies: those of ``ids``, by name."""
    there = [(names.get(id_) or id_, id_) for id_ in set(ids) if id_]
    there.sort(key=lambda entry: (entry[0].casefold(), entry[1]))
    mine = [(MINE, gettext("My agencies"))] if scope else []
    return [("", gettext("All agencies")), *mine, *((id_, name) for name, id_ in there)]


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
    found: Sequence[Difference],
    query: QueryDict,
    *,
    names: Mapping[str, str],
    scope: frozenset[str] | None,
    active: Mapping[str, str],
) -> dict[str, Any]:
    """Return one page of ``found`` as the address filters it, and its filters.

    ``active`` is what else its query has; ``names`` are the agencies' names by id. ``counts`` are
    of all that is not filtered out.
    """
    agencies = agency_choices((each.agency for each in found), names, scope)
    agency = chosen(query, "agency", (value for value, _ in agencies))
    kind = chosen(query, "kind", _KINDS)
    tables: dict[str, str] = {"": gettext("All kinds of entry")}
    tables.update((table, labels.table(table)) for table in TABLES)
    selected_table = chosen(query, "table", tables)
    shown = [
        each
        for each in found
        if of_agency(each.agency, agency, scope)
        and each.kind == (kind or each.kind)
        and each.table == (selected_table or each.table)
    ]
    filters = {**active, "agency": agency, "kind": kind, "table": selected_table}
    page = listed(shown, query, filters, total=len(found))
    return {
        "list": page,
        "rows": [_difference(each, names) for each in page.page.object_list],
        "counts": counted(shown),
        "agencies": choices(agencies, agency),
        "kinds": choices(((value, gettext(text)) for value, text in _KINDS.items()), kind),
        "tables": choices(tables.items(), selected_table),
    }


def counted(found: Iterable[Difference]) -> dict[str, int]:
    counts = Counter(each.kind for each in found)
    return {kind.value: counts[kind] for kind in Kind}


def remark_list(
    found: Sequence[Remark],
    query: QueryDict,
    *,
    release: Release,
    scope: frozenset[str] | None,
) -> dict[str, Any]:
    """Return one page of ``found``, remarks about ``release``, as the address filters it."""
    names = agency_names(release)
    agencies = agency_choices((each.agency for each in found), names, scope)
    agency = chosen(query, "agency", (value for value, _ in agencies))
    mine = [each for each in found if of_agency(each.agency, agency, scope)]
    counts = Counter(each.code for each in mine)
    codes = [("", gettext("All checks"))]
    codes += [(code, f"{text} ({counts[code]})") for code, text in labels.checks().items()]
    codes = [(code, text) for code, text in codes if not code or counts[code]]
    code = chosen(query, "code", (value for value, _ in codes))
    shown = [each for each in mine if each.code == (code or each.code)]
    page = listed(shown, query, {"agency": agency, "code": code}, total=len(found))
    remarks = list(page.page.object_list)
    where = edit_urls(remarks, scope)
    errors = sum(each.severity is Severity.ERROR for each in found)
    return {
        "list": page,
        "rows": [
            {
                "remark": each,
                "error": each.severity is Severity.ERROR,
                "what": labels.table(each.table),
                "name": _called(each, release),
                "agency": _agency_name(each.table, each.agency, names),
                # Where the entry is edited, "" for who may not.
                "url": where.get((each.table, each.entry), ""),
            }
            for each in remarks
        ],
        "errors": errors,
        "warnings": len(found) - errors,
        "agencies": choices(agencies, agency),
        "codes": choices(codes, code),
    }


def remark_groups(remarks: Sequence[Remark]) -> list[tuple[str, list[Remark]]]:
    """Return the remarks by check, each with its words, in the order of the checks."""
    groups = ((text, [e for e in remarks if e.code == c]) for c, text in labels.checks().items())
    return [(text, found) for text, found in groups if found]


def edit_urls(
    remarks: Sequence[Remark], scope: frozenset[str] | None
) -> dict[tuple[Table, str], str]:
    """Return where the entries of ``remarks`` are edited, without those outside ``scope``."""
    mine = [each for each in remarks if scope is None or each.agency in scope]
    urls: dict[tuple[Table, str], str] = {}
    for table in {each.table for each in mine}:
        model, columns = DRAFT_MODELS[table], IDENTITY[table]
        agency_by_entry = {each.entry: each.agency for each in mine if each.table == table}
        rows: QuerySet[Any] = model._default_manager.all()
        if "agency" in columns:
            # Of a situation's question it is NULL.
            rows = rows.filter(Q(agency__in=set(agency_by_entry.values())) | Q(agency=None))
        if "key" in columns:
            keys = {entry.removeprefix(f"{agency} ") for entry, agency in agency_by_entry.items()}
            rows = rows.filter(key__in=keys)
        for pk, *identity in rows.values_list("pk", *columns):
            if (name := " ".join(filter(None, identity))) in agency_by_entry:
                page = f"admin:studio_{model._meta.model_name}_change"
                urls[table, name] = reverse(page, args=[pk])
    return urls


def answer(service: ServiceValue, agency: AgencyValue) -> dict[str, Any]:
    """Return a service as citizens see it, in the parts of an answer."""
    placeholders = {f"service_{name}": f"{{service_{name}}}" for name in SECTIONS}
    reply = render_service(
        placeholders, service=service, agency=agency, category_value=None, entities={}
    )
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
    }


def agency_names(*releases: Release | None) -> dict[str, str]:
    """Return the agencies' names by id; of one that several have the last one's."""
    return {
        agency.id: agency.name
        for release in releases
        if release is not None
        for agency in release.agencies.values()
    }


def _called(remark: Remark, release: Release) -> str:
    """Return what people call the entry of a remark, "" where that is not known."""
    key = (remark.agency, remark.entry.removeprefix(f"{remark.agency} "))
    if remark.table == "services" and key in release.services:
        return release.services[key].name
    if remark.table == "dictionary" and key in release.categories:
        return release.categories[key].value
    if remark.table == "agencies" and remark.entry in release.agencies:
        return release.agencies[remark.entry].name
    return ""


def _agency_name(table: Table, agency: str, names: Mapping[str, str]) -> str:
    """Return the agency's name next to an entry, "" next to an agency itself."""
    return "" if table == "agencies" else names.get(agency) or agency


def _difference(difference: Difference, names: Mapping[str, str]) -> dict[str, Any]:
    fields = []
    for each in difference.fields:
        before, after = marked(each.before, each.after)
        fields.append({"name": labels.column(each.column), "before": before, "after": after})
    return {
        "kind": difference.kind,
        "happened": gettext(_KINDS[difference.kind]),
        "what": labels.table(difference.table),
        "name": difference.name,
        "entry": difference.entry,
        "agency": _agency_name(difference.table, difference.agency, names),
        "fields": fields,
    }
