"""Writes: an editor takes what a page says into the draft, or leaves the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext

from ieim.audit.services import record_system
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.pipeline.stages.entry_drafting import FIELDS
from ieim.studio.drafting.services import DraftingError
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import Problems, column_values
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.models import Agency, Category, Change, ContentReview, DraftEntry, Service, WebPage
from ieim.studio.webpages.passages import located

State = WebPage.State
TABLES: Mapping[str, Table] = {"service": "services", "agency": "agencies"}
"""The table of an entry, by the kind of its draft."""
OPEN = (State.DRAFTED, State.READ, State.FAILED)
"""The states of pages of which nobody has taken or left anything."""
LISTS = ("requirements", "how_to_apply")


@dataclass(frozen=True, slots=True)
class Choice:
    """What an editor takes of a page.

    ``kind`` is one of :data:`TABLES`; ``fields`` has the texts by field, an item of a list a line.
    ``into`` is the key of the entry that they are written into, "" for a new one, and ``version``
    the one that was seen of it. ``categories`` are keys or names, ``questions`` those of the draft.
    ``passages`` are those that a person has marked, by field.
    """

    kind: str
    fields: Mapping[str, str]
    into: str = ""
    version: int | None = None
    categories: Sequence[str] = ()
    questions: Sequence[str] = ()
    passages: Mapping[str, Sequence[str]] = field(default_factory=dict)


@transaction.atomic
def take(*, page_id: int, sha256: str, choice: Choice, by: User, again: bool = False) -> DraftEntry:
    """Write what is taken of a page into the draft, and so into the change set of ``by``; return
    the entry. ``sha256`` is that of the text that was seen; ``again`` allows a page that is taken
    or left already.

    Raises:
        WebPage.DoesNotExist: ``by`` does not work for its agency.
        DraftingError: nothing is taken, or nothing can be.
        editing.Stale: the page or the entry is another one now.
        editing.Invalid, editing.OutOfScope: as saving by hand.
    """
    page = _locked(page_id, by)
    if page.sha256 != sha256:
        raise editing.Stale(gettext("The page was read again meanwhile, and says something else."))
    if not again and page.state not in OPEN:
        raise editing.Stale(gettext("This page is taken or left already."))
    if not page.text:
        raise DraftingError(gettext("This page is not read: there is nothing to take of it."))
    typed = {name: choice.fields.get(name, "").strip() for name in FIELDS[choice.kind]}
    fields = {name: text for name, text in typed.items() if text}
    if not fields:
        raise DraftingError(gettext("Tick what you want to take."))
    table = TABLES[choice.kind]
    values = {n: _lines(text) if n in LISTS else text for n, text in fields.items()}
    entry = (_save_service if table == "services" else _save_agency)(page, choice, values, by)
    name = entry_name(table, column_values(entry))
    drafted = {entry["field"]: entry["quotes"] for entry in page.draft.get("fields", ())}
    earlier = page.rests_on if (page.table, page.entry) == (table, name) else {}
    page.rests_on = {n: located(page, quotes) for n, quotes in earlier.items()} | {
        n: located(page, [*drafted.get(n, ()), *choice.passages.get(n, ())] or _lines(text))
        for n, text in fields.items()
    }
    if not drafted:
        rows = [(n, _lines(text), page.rests_on[n]) for n, text in fields.items()]
        page.draft = {
            "kind": choice.kind,
            "by": "person",
            "categories": [],
            "questions": [],
            "fields": [dict(zip(("field", "lines", "quotes"), row, strict=True)) for row in rows],
        }
    page.state, page.table, page.entry, page.changes = State.TAKEN, table, name, []
    page.save()
    if is_web(page):
        source = {"source": page.address}
        ContentReview.objects.update_or_create(table=table, entry=name, defaults=source)
    payload = {"table": table, "entry": name, "fields": sorted(fields), "sha256": sha256}
    _record("webpages.taken", page, by, **payload)
    return entry


@transaction.atomic
def leave(*, page_id: int, by: User) -> WebPage:
    """Leave a page: nothing is taken of it.

    Raises:
        WebPage.DoesNotExist: ``by`` does not work for its agency.
        DraftingError: an entry is made of it already.
    """
    page = _locked(page_id, by)
    if page.entry:
        raise DraftingError(gettext("This page is taken already: an entry rests on it."))
    return _moved(page, State.LEFT, "webpages.left", by)


@transaction.atomic
def restore(*, page_id: int, by: User) -> WebPage:
    """Take back that a page was left.

    Raises:
        WebPage.DoesNotExist: ``by`` does not work for its agency.
    """
    page = _locked(page_id, by)
    if page.state != State.LEFT:
        return page
    return _moved(page, State.DRAFTED if page.draft else State.FAILED, "webpages.restored", by)


def is_web(page: WebPage) -> bool:
    """Whether the page has an address of the web, and is no saved file."""
    return page.address.startswith(("http://", "https://"))


def _locked(page_id: int, by: User) -> WebPage:
    page = WebPage.objects.select_for_update().get(pk=page_id)
    if not works_for(by, page.agency):
        raise WebPage.DoesNotExist
    return page


def _moved(page: WebPage, state: State, kind: str, by: User) -> WebPage:
    if page.state != state:
        page.state = state
        page.save(update_fields=["state"])
        _record(kind, page, by)
    return page


def _record(kind: str, page: WebPage, by: User, **details: Any) -> None:
    payload = {"page": page.pk, "address": page.address, **details}
    record_system(kind=kind, payload=payload, actor=by.actor)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _save_service(page: WebPage, choice: Choice, values: dict[str, Any], by: User) -> DraftEntry:
    agency, keys = page.agency, Service.objects.filter(agency=page.agency)
    stored = keys.filter(key=choice.into).first() if choice.into else None
    if categories := _categories(agency, choice.categories, by):
        earlier = stored.categories if stored else ()
        values["categories"] = list(dict.fromkeys([*earlier, *categories]))
    if is_web(page) and not (stored and stored.url):
        values["url"] = page.address
    key = choice.into or _free_key(values.get("name", ""), keys.values_list("key", flat=True))
    entry = _save("services", {"agency": agency, "key": key, **values}, choice, by)
    drafted = {row["text"]: row["language"] for row in page.draft.get("questions", ())}
    about = {"agency": agency, "service": key, "origin": "model"}
    rows = [
        editing.Edit({**about, "language": language, "text": text}, None)
        for text, language in drafted.items()
        if text in choice.questions
    ]
    if rows:
        try:
            editing.save_all(table="questions", edits=rows, by=by, source=Change.Source.ADMIN)
        except editing.ManyInvalid as error:
            raise _under("questions", *error.rows.values()) from error
    return entry


def _save_agency(page: WebPage, choice: Choice, values: dict[str, Any], by: User) -> DraftEntry:
    scope, new = agencies_of(by), not choice.into
    may = by.has_perm(f"studio.{'add' if new else 'change'}_agency")
    if not may or not editing.permits(scope, "agencies", choice.into, new=new):
        raise editing.OutOfScope(gettext("You may not add an agency: choose one that is there."))
    taken = Agency.objects.values_list("pk", flat=True)
    key = choice.into or _free_key(values.get("name", ""), taken)
    return _save("agencies", {"id": key, **values}, choice, by)


def _save(table: Table, values: dict[str, Any], choice: Choice, by: User) -> DraftEntry:
    version = (choice.version or 0) if choice.into else None
    return editing.save(
        table=table, values=values, by=by, expected_version=version, source=Change.Source.ADMIN
    )


def _categories(agency: str, names: Sequence[str], by: User) -> list[str]:
    """Return the keys of categories; one that the dictionary has not is added to it."""
    rows = list(Category.objects.filter(agency=agency).values_list("key", "value"))
    keys = {value.casefold(): key for key, value in rows} | {key: key for key, _ in rows}
    result = []
    for name in names:
        key = keys.get(name) or keys.get(name.casefold())
        if not key:
            key = _free_key(name, keys.values())
            values = {"agency": agency, "key": key, "value": name}
            try:
                editing.save(
                    table="dictionary",
                    values=values,
                    by=by,
                    expected_version=None,
                    source=Change.Source.ADMIN,
                )
            except editing.Invalid as error:
                raise _under("categories", error.problems) from error
            keys[name.casefold()] = key
        result.append(key)
    return result


def _free_key(name: str, taken: Any) -> str:
    """Return a key for a name that none of ``taken`` is: with a number behind it if need be."""
    plain = slugify(name, allow_unicode=True)[: ID_LIMIT - 8] or "page"
    used, number, key = set(taken), 1, plain
    while key in used:
        number += 1
        key = f"{plain}-{number}"
    return key


def _under(column: str, *problems: Problems) -> editing.Invalid:
    """Return what is wrong with rows that are written beside an entry, under one column of it."""
    flat = [problem for row in problems for texts in row.values() for problem in texts]
    return editing.Invalid({column: flat})
