"""Writes: an editor takes what a page says into the draft, or leaves the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext

from ieim.audit.models import SYSTEM_CHAIN
from ieim.audit.services import lock_head, record_system
from ieim.knowledge.bundles.columns import ID_LIMIT
from ieim.knowledge.bundles.rows import Table
from ieim.people.models import User
from ieim.people.scope import agencies_of, works_for
from ieim.pipeline.stages.entry_drafting import FIELDS, LISTS
from ieim.studio.drafting.services import DraftingError
from ieim.studio.drafts import editing
from ieim.studio.drafts.entries import column_values
from ieim.studio.drafts.history import last_change
from ieim.studio.drafts.selectors import entry_name
from ieim.studio.models import (
    Agency,
    Category,
    Change,
    ContentReview,
    DraftEntry,
    ExampleQuestion,
    Service,
    WebPage,
)
from ieim.studio.webpages.nearest import entry_of
from ieim.studio.webpages.passages import located

State = WebPage.State
OPEN = (State.READ, State.DRAFTED, State.LEFT, State.FAILED, State.CHANGED)
"""The states of a page that something is to be taken of."""
TABLES: Mapping[str, Table] = {"service": "services", "agency": "agencies"}
"""The table of an entry, by the kind of its draft."""


@transaction.atomic
def take(
    *,
    page_id: int,
    sha256: str,
    kind: str,
    texts: Mapping[str, str],
    by: User,
    into: str = "",
    version: int | None = None,
    categories: Sequence[str] = (),
    questions: Sequence[str] = (),
    passages: Mapping[str, Sequence[str]] | None = None,
    address: str = "",
) -> DraftEntry:
    """Write what is taken of a page into the draft, and so into the change set of ``by``; return
    the entry.

    ``sha256`` is that of the text that was seen, ``kind`` one of :data:`TABLES`. ``texts`` are by
    field, an item of a list a line; ``passages`` are those of the page that a person has marked for
    a field. ``into`` is the key of the entry that they are written into, "" for a new one, and
    ``version`` the one that was seen of it. ``categories`` are keys or names; one that the
    dictionary has not is added. ``questions`` are those of the draft. ``address`` is that of a
    saved page on the web. More of a page that is taken may go into its entry, and into no other.

    Raises:
        WebPage.DoesNotExist: ``by`` does not work for its agency.
        DraftingError: nothing is taken.
        editing.Stale: the page or the entry is another one now.
        editing.Invalid, editing.OutOfScope: as saving by hand.
    """
    page, table = _locked(page_id, sha256, by), TABLES[kind]
    is_own = page.state == State.TAKEN and (table, into) == (page.table, page.key)
    if not page.text or not (is_open(page) or is_own):
        raise editing.Stale(_taken_message(page, table))
    texts = {n: t for n in FIELDS[kind] if (t := texts.get(n, "").strip())}
    if not texts:
        raise DraftingError(gettext("Tick what you want to take, of fields that are not empty."))
    values: dict[str, Any] = {n: _lines(t) if n in LISTS else t for n, t in texts.items()}
    name = texts.get("name", page.title)
    if kind == "agency":
        if not editing.permits(agencies_of(by), table, into, new=not into):
            message = gettext("You may not add an agency: choose one that is there.")
            raise editing.OutOfScope(message)
        values["id"] = into or _free_key(name, Agency.objects.values_list("pk", flat=True))
    else:
        rows = {row.key: row for row in Service.objects.filter(agency=page.agency)}
        stored, key = rows.get(into, Service()), into or _free_key(name, rows)
        keys = [*stored.categories, *_category_keys(page.agency, categories, by)]
        if not keys:
            message = gettext("Choose a category, or write a new one: else no question reaches it.")
            raise DraftingError(message)
        values |= {"agency": page.agency, "key": key, "categories": list(dict.fromkeys(keys))}
        values |= link_of(page, stored.url, address)
    entry = editing.save(
        table=table,
        values=values,
        by=by,
        expected_version=(version or 0) if into else None,
        source=Change.Source.ADMIN,
    )
    if kind == "service":
        _add_questions(page, values["key"], questions, by)
    identity = entry_name(table, column_values(entry))
    earlier = page.rests_on if page.entry == identity else {}
    # What has changed for other fields still has to be looked at.
    page.changes = [row for row in page.changes if row[0] not in texts]
    changed = {row[0] for row in page.changes}
    page.rests_on = {n: q if n in changed else located(page, q) for n, q in earlier.items()}
    quotes = {row["field"]: row["quotes"] for row in page.draft.get("fields", ())}
    for field, text in texts.items():
        marked = [*quotes.get(field, ()), *(passages or {}).get(field, ())]
        page.rests_on[field] = located(page, marked) or located(page, _lines(text))
    if not quotes:
        page.draft = {"kind": kind, "fields": [], "categories": [], "questions": [], "by": "person"}
    page.state = State.CHANGED if page.changes else State.TAKEN
    page.table, page.entry = table, identity
    page.save()
    if source := page.address if is_web(page) else values.get("url"):
        defaults = {"source": source}
        ContentReview.objects.update_or_create(table=table, entry=identity, defaults=defaults)
    _record("webpages.taken", page, by, table=table, entry=identity, fields=sorted(texts))
    return entry


@transaction.atomic
def leave(*, page_id: int, sha256: str, by: User, undo: bool = False) -> None:
    """Leave a page of which nothing is taken, or what has changed of one that is, or let go of one
    that is gone; or ``undo`` the first. ``sha256`` is that of the text that was seen.

    Raises:
        WebPage.DoesNotExist: ``by`` does not work for its agency.
        editing.Stale: the page is another one now.
        DraftingError: an entry rests on it already.
    """
    page = _locked(page_id, sha256, by)
    if page.state == State.CHANGED and not undo:
        new = {(field, old): passage for field, old, passage in page.changes}
        page.rests_on = {
            field: located(page, [new.get((field, quote), quote) for quote in quotes])
            for field, quotes in page.rests_on.items()
        }
        page.state, page.changes = State.TAKEN, []
    elif page.state == State.GONE and not undo:
        page.state, page.table, page.entry, page.rests_on = State.LEFT, "", "", {}
    elif page.entry:
        raise DraftingError(gettext("This page is taken already: an entry rests on it."))
    elif (page.state == State.LEFT) != undo:
        return
    else:
        restored = State.DRAFTED if page.draft else State.FAILED
        page.state = restored if undo else State.LEFT
    page.save(update_fields=["state", "changes", "rests_on", "table", "entry"])
    _record("webpages.restored" if undo else "webpages.left", page, by)


def is_open(page: WebPage) -> bool:
    """Whether something is to be taken of a page: also where its entry is there no more."""
    return page.state in OPEN or (page.state == State.TAKEN and entry_of(page) is None)


def is_web(page: WebPage) -> bool:
    """Whether the page has an address of the web, and is no saved file."""
    return page.address.startswith(("http://", "https://"))


def link_of(page: WebPage, url: str, address: str) -> dict[str, str]:
    """Return the columns of a service's link, where it has ``url`` so far, and of the day of the
    page; of a saved one, whose ``address`` a person gives, nobody knows the day."""
    if not is_web(page):
        return {} if url else {"url": address.strip()}
    read_on = str(timezone.localdate(page.read_at))
    return {"url": page.address, "read_on": read_on} if url in ("", page.address) else {}


def _locked(page_id: int, sha256: str, by: User) -> WebPage:
    lock_head(SYSTEM_CHAIN)  # before the page, as the sweep does
    page = WebPage.objects.select_for_update().get(pk=page_id)
    if not works_for(by, page.agency):
        raise WebPage.DoesNotExist
    if page.sha256 != sha256:
        raise editing.Stale(gettext("The page was read again meanwhile, and says something else."))
    return page


def _record(kind: str, page: WebPage, by: User, **details: Any) -> None:
    payload = {"page": page.pk, "address": page.address, "sha256": page.sha256, **details}
    record_system(kind=kind, payload=payload, actor=by.actor)


def _taken_message(page: WebPage, table: Table) -> str:
    if not page.entry:
        return gettext("This page is not read yet.")
    message = gettext("This page is taken into {entry} already: {what}.")
    return message.format(entry=page.entry, what=last_change(table, page.entry))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _category_keys(agency: str, names: Sequence[str], by: User) -> list[str]:
    """Return the keys of categories by key or name, after adding those that are new."""
    rows = list(Category.objects.filter(agency=agency).values_list("key", "value"))
    keys = {value.casefold(): key for key, value in rows} | {key: key for key, _ in rows}
    known = {name: keys.get(name) or keys.get(name.casefold()) for name in names}
    new = {name: _free_key(name, keys.values()) for name, key in known.items() if not key}
    added = [{"agency": agency, "key": key, "value": name} for name, key in new.items()]
    _add("dictionary", added, "categories", by)
    return [known[name] or new[name] for name in names]


def _add_questions(page: WebPage, service: str, texts: Sequence[str], by: User) -> None:
    about = {"agency": page.agency, "service": service}
    rows = ExampleQuestion.objects.filter(text__in=texts)  # of whatever service
    new = {*texts} - {*rows.values_list("text", flat=True)}
    added = [row for row in page.draft.get("questions", ()) if row["text"] in new]
    _add("questions", [{**row, **about, "origin": "model"} for row in added], "questions", by)


def _add(table: Table, rows: Sequence[Mapping[str, Any]], column: str, by: User) -> None:
    """Add rows beside an entry; what is wrong with them is said of its ``column``."""
    edits = [editing.Edit(row, None) for row in rows]
    try:
        editing.save_all(table=table, edits=edits, by=by, source=Change.Source.ADMIN)
    except editing.ManyInvalid as error:
        columns = [column for row in error.rows.values() for column in row.values()]
        problems = [problem for column in columns for problem in column]
        raise editing.Invalid({column: problems}) from error


def _free_key(name: str, taken: Iterable[str]) -> str:
    """Return a key for a name that is not ``taken``, with a number behind it if need be."""
    plain = slugify(name, allow_unicode=True)[: ID_LIMIT - 8] or "page"
    used, number, key = set(taken), 1, plain
    while key in used:
        number += 1
        key = f"{plain}-{number}"
    return key
