"""Reads: the entries that a page may be about, and the page after it."""

from __future__ import annotations

from collections.abc import Mapping

from ieim.knowledge.vectors import prepared_shortlist
from ieim.pipeline.ports import Query
from ieim.studio.drafts import cached as drafts
from ieim.studio.models import Agency, Category, Service, WebPage

MOST = 3
_WORDS = 600
"""Code points of a page that the search is asked with."""


def entry_of(page: WebPage) -> Agency | Service | None:
    """Return the entry that a page was taken into, None where it is there no more."""
    if page.table == "agencies":
        return Agency.objects.filter(pk=page.key).first()
    return Service.objects.filter(agency=page.agency, key=page.key).first()


def entries(page: WebPage, kind: str, name: str) -> tuple[Mapping[str, Agency | Service], str, int]:
    """Return the entries of its agency that a page may be about, by their keys, the nearest first,
    the key of the one that it is about by its ``name`` or address, or was taken into, "" for none,
    and how many are near. Of a page that is taken, that one alone."""
    if page.state == WebPage.State.TAKEN:
        taken = entry_of(page)
        return ({page.key: taken}, page.key, 1) if taken else ({}, "", 0)
    folded = name.casefold()
    if kind == "agency":
        agency = Agency.objects.filter(pk=page.agency).first()
        is_same = agency and (folded == agency.name.casefold() or page.key == agency.pk)
        return {agency.pk: agency} if agency else {}, page.agency if is_same else "", 1
    rows = {row.key: row for row in Service.objects.filter(agency=page.agency).order_by("name")}
    differs = {
        key: (key != page.key, row.name.casefold() != folded, row.url != page.address)
        for key, row in rows.items()
    }
    same = sorted((k for k in rows if not all(differs[k])), key=differs.__getitem__)
    keys = [*same]
    if len(rows) > len(same):
        search = prepared_shortlist(drafts.draft().release)
        ranking = search.rank(Query(f"{name}\n{page.text}"[:_WORDS]))
        hits = ranking.services(agencies=[page.agency], limit=MOST)
        keys += [hit.item.key for hit in hits]
    near = [key for key in dict.fromkeys(keys) if key in rows][: max(MOST, len(same))]
    ordered = {key: rows[key] for key in [*near, *rows]}
    return ordered, same[0] if same else "", len(near)


def categories(page: WebPage, near: Mapping[str, Agency | Service]) -> tuple[list[str], str]:
    """Return the names of the categories of a page's agency, and of the one that a page without one
    most likely belongs to: that of the nearest entry, or of the one that was taken last; "" for
    none, or where the draft has one."""
    rows = Category.objects.filter(agency=page.agency).order_by("position", "key")
    names = dict(rows.values_list("key", "value"))
    taken = WebPage.objects.filter(agency=page.agency, table="services").exclude(entry="")
    last = taken.order_by("-pk").first()
    likely = [*near.values(), *filter(None, [last and entry_of(last)])]
    keys = [key for row in likely if isinstance(row, Service) for key in row.categories]
    has_own = bool(page.draft.get("categories"))
    likeliest = "" if has_own else next((names[key] for key in keys if key in names), "")
    return [*names.values()], likeliest


def following(page: WebPage) -> WebPage | None:
    """Return the next page of its agency that is drafted, from the first on after the last."""
    rows = WebPage.objects.filter(agency=page.agency, state=WebPage.State.DRAFTED)
    rows = rows.exclude(pk=page.pk).only("pk")
    return rows.filter(pk__gt=page.pk).first() or rows.first()
