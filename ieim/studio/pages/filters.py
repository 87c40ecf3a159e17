"""What of a long list is shown: the filters in the address, their choices, the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext

Item = TypeVar("Item")

PAGE = 25
MINE = "*mine"
"""The choice of all agencies that the person works for. No id of an agency is like it by chance."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of a select."""

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
    """Return the choices of a select; ``entries`` are values with their words."""
    return [Choice(value, words, value == chosen) for value, words in entries]


def chosen(query: QueryDict, name: str, known: Iterable[str]) -> str:
    """Return the value of a filter, "" for none and for one that there is not."""
    value = query.get(name, "")
    return value if value in set(known) else ""


def listed(
    items: Sequence[Item] | QuerySet[Any, Item],
    query: QueryDict,
    kept: Mapping[str, str],
    *,
    total: int,
) -> Listed[Item]:
    """Return the page of ``items`` that is asked for; ``kept`` are the filters that are on."""
    on = {name: value for name, value in kept.items() if value}
    pages = Paginator(items, PAGE)
    text = urlencode(on) + "&" if on else ""
    return Listed(pages.get_page(query.get("page")), total, text, bool(on.keys() - {"from", "to"}))


def agency_choices(
    ids: Iterable[str], names: Mapping[str, str], scope: frozenset[str] | None
) -> list[tuple[str, str]]:
    """Return the entries of a select of agencies: those of ``ids``, by name, one's own first."""
    there = sorted(((names.get(id_) or id_, id_) for id_ in set(ids) if id_), key=_by_name)
    mine = [(MINE, gettext("My agencies"))] if scope else []
    return [("", gettext("All agencies")), *mine, *((id_, name) for name, id_ in there)]


def of_agency(agency: str, wanted: str, scope: frozenset[str] | None) -> bool:
    """Whether an entry of ``agency`` is ``wanted``."""
    if not wanted:
        return True
    return agency in (scope or ()) if wanted == MINE else agency == wanted


def _by_name(entry: tuple[str, str]) -> tuple[str, str]:
    return entry[0].casefold(), entry[1]
