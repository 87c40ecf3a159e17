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


def entries(page: WebPage, kind: str, name: str) -> tuple[Mapping[str, Agency | Service], str]:
    """Return the entries of its agency that a page may be about, by their keys, and the key of the
    one that it is about by its ``name`` or address, or was taken into; "" for none."""
    if kind == "agency":
        agency = Agency.objects.filter(pk=page.agency).first()
        is_same = agency and (name.casefold() == agency.name.casefold() or page.entry == agency.pk)
        return {agency.pk: agency} if agency else {}, page.agency if is_same else ""
    rows = {row.key: row for row in Service.objects.filter(agency=page.agency)}
    taken = page.entry.removeprefix(f"{page.agency} ")
    same = [key for key, row in rows.items() if row.name.casefold() == name.casefold()]
    same += [key for key, row in rows.items() if row.url and row.url == page.address]
    same = [key for key in dict.fromkeys([taken, *same]) if key in rows]
    keys = same
    if len(rows) > len(same):
        search = prepared_shortlist(drafts.draft().release)
        ranking = search.rank(Query(f"{name}\n{page.text}"[:_WORDS]))
        hits = ranking.services(agencies=[page.agency], limit=MOST)
        keys = [*same, *(hit.item.key for hit in hits)]
    near = [key for key in dict.fromkeys(keys) if key in rows][: max(MOST, len(same))]
    return {key: rows[key] for key in near}, same[0] if same else ""


def categories(page: WebPage) -> list[str]:
    """Return the names of the categories of a page's agency."""
    rows = Category.objects.filter(agency=page.agency).order_by("position", "key")
    return list(rows.values_list("value", flat=True))


def category(page: WebPage, near: Mapping[str, Agency | Service]) -> str:
    """Return the name of the category that a page without one most likely belongs to: that of the
    nearest entry, or of the one that was taken last; "" for none, or where the draft has one."""
    if page.draft.get("categories"):
        return ""
    services = [row for row in near.values() if isinstance(row, Service)]
    taken = WebPage.objects.filter(agency=page.agency, table="services").exclude(entry="")
    if last := taken.order_by("-pk").first():
        key = last.entry.partition(" ")[2]
        services += Service.objects.filter(agency=page.agency, key=key)
    keys = [key for row in services for key in row.categories]
    names = dict(Category.objects.filter(agency=page.agency).values_list("key", "value"))
    return next((names[key] for key in keys if key in names), "")


def following(page: WebPage) -> WebPage | None:
    """Return the next page of its agency that is drafted, from the first on after the last."""
    rows = WebPage.objects.filter(agency=page.agency, state=WebPage.State.DRAFTED)
    rows = rows.exclude(pk=page.pk).only("pk")
    return rows.filter(pk__gt=page.pk).first() or rows.first()
