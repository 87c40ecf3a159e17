"""The auditors' pages as plain values: how the record stands, a list of events, a timeline."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext, ngettext

from conversations.models import Session
from ieim.audit import selectors
from ieim.audit.checkpoints import last_sealed
from ieim.audit.models import PEOPLE_CHAIN, SYSTEM_CHAIN, VECTORS_CHAIN, AuditEvent
from ieim.audit.selectors import Page, Search
from ieim.people.models import User
from ieim.pipeline.message.screen import spelled
from review import reading
from review.auditing import wording
from review.auditing.forms import SearchForm
from review.models import ReviewItem
from review.scope import visible

SIZE: Final = 50
"""Events of a page."""
MAX_LISTS: Final = 50
"""The newest lists with a conversation in them that its timeline shows."""


def events_page(user: User, form: SearchForm, after: str = "", before: str = "") -> dict[str, Any]:
    """Return the list of events that a form finds; an invalid form finds the newest.

    Raises:
        InvalidCursor: ``after`` or ``before`` cannot be read.
    """
    search, query = (form.search(), form.query) if form.is_valid() else (Search(), "")
    page = selectors.search_page(search, after=after, before=before, size=SIZE)
    return {**_as_context(page, user), "query": query}


def choices() -> dict[str, Any]:
    """Return the choices of the search form: all kinds and actors of the record."""
    kinds = [(kind, wording.sentence(kind)) for kind in selectors.kinds()]
    people = [actor.removeprefix("staff:") for actor in selectors.actors() if "/" not in actor]
    return {"kinds": kinds, "people": people}


def timeline(user: User, chain: UUID, after: str, before: str) -> dict[str, Any]:
    """Return a chain as a timeline, its first event first, with the lists that show its session.

    Raises:
        InvalidCursor: ``after`` or ``before`` cannot be read.
    """
    session = Session.objects.filter(pk=chain).first()
    page = selectors.chain_page(chain, after=after, before=before, size=SIZE)
    return {
        **_as_context(page, user),
        "chain": chain,
        "title": _title(chain, session),
        "session": session,
        "lists": rows(_lists(session), user) if session else [],
    }


def _as_context(page: Page, user: User) -> dict[str, Any]:
    return {"rows": rows(page.events, user), "previous": page.previous, "next": page.next}


def _title(chain: UUID, session: Session | None) -> str:
    if session:
        return gettext("What happened to {reference}").format(reference=session.reference)
    if chain == PEOPLE_CHAIN:
        return gettext("Staff: logins, rights, and what they read in lists")
    if chain == SYSTEM_CHAIN:
        return gettext("What belongs to no conversation")
    if chain == VECTORS_CHAIN:
        return gettext("Search: the vectors that were made for it")
    return gettext("What happened to {chain}").format(chain=chain)


def _lists(session: Session) -> list[AuditEvent]:
    """Return the newest lists that were shown with an item or an answer of a conversation in them.

    Payloads have no index: the lists since the conversation began are read.
    """
    turns = session.turns.values_list("pk", flat=True)
    items = ReviewItem.objects.filter(turn__in=turns).values_list("pk", flat=True)
    ids_by_kind: dict[str, Collection[UUID]] = {
        reading.LISTED: items,
        reading.FEEDBACK_LISTED: turns,
    }
    events: list[AuditEvent] = []
    for kind, ids in ids_by_kind.items():
        if naming := [str(pk) for pk in ids]:
            search = Search(kind=kind, naming=naming, since=session.created_at)
            events += selectors.search_page(search, size=MAX_LISTS).events
    return sorted(events, key=lambda event: event.at, reverse=True)[:MAX_LISTS]


def rows(events: Sequence[AuditEvent], user: User) -> list[dict[str, Any]]:
    """Return events as rows for ``user``; a constant number of queries.

    ``who`` is ``citizen``, ``machine`` or ``person``, ``by`` the person's name. ``json`` is the
    whole event as text. ``chain_name`` is the conversation's reference or the name of the chain;
    ``item`` is the address of the item, empty where there is none that the user may open.
    """
    payloads = [_payload(event) for event in events]
    sessions = Session.objects.filter(pk__in={event.chain for event in events})
    chain_names = {
        PEOPLE_CHAIN: gettext("Staff"),
        SYSTEM_CHAIN: gettext("No conversation"),
        VECTORS_CHAIN: gettext("Search"),
        **dict(sessions.values_list("pk", "reference")),
    }
    item_urls = _item_urls([payload.get("item") for payload in payloads], user)
    full_names = _full_names(events)
    return [
        {
            "event": event,
            "words": wording.sentence(event.kind),
            "more": wording.details(payload),
            "who": _WHO.get(event.actor, "person"),
            "by": _actor_name(event.actor, full_names),
            "json": _json(event, payload),
            "chain_name": chain_names.get(event.chain, str(event.chain)),
            "item": item_urls.get(str(payload.get("item")), ""),
        }
        for event, payload in zip(events, payloads, strict=True)
    ]


_WHO: Final = {"citizen": "citizen", "system": "machine"}


def _payload(event: AuditEvent) -> Mapping[str, Any]:
    """Return an event's payload, or its text where somebody has planted another one."""
    with suppress(ValueError, RecursionError):
        payload = json.loads(event.payload)
        # As it is shown: half of a surrogate pair, or what is nested too deeply, cannot be.
        json.dumps(payload, ensure_ascii=False, indent=2).encode()
        if isinstance(payload, dict):
            return payload
    return {"unreadable": event.payload}


def _item_urls(ids: Iterable[object], user: User) -> dict[str, str]:
    """Return the addresses of the items that ``user`` may open, by their ids."""
    pks = set(_uuids(ids))
    if not pks or not user.has_perm("review.view_reviewitem"):
        return {}
    items = visible(user).filter(pk__in=pks).values_list("pk", flat=True)
    return {str(pk): reverse("review:item", args=[pk]) for pk in items}


def _uuids(ids: Iterable[object]) -> Iterator[UUID]:
    for id_ in ids:
        with suppress(ValueError):
            yield UUID(str(id_))


def _full_names(events: Iterable[AuditEvent]) -> dict[str, str]:
    people = User.objects.filter(username__in={_username(event.actor) for event in events})
    return {person.get_username(): person.get_full_name() for person in people}


def _username(actor: str) -> str:
    return actor.removeprefix("staff:").partition("/")[0]


def _actor_name(actor: str, full_names: Mapping[str, str]) -> str:
    username = _username(actor)
    full_name = full_names.get(username, "")
    name = f"{full_name} ({username})" if full_name else username
    if token := actor.partition("/")[2]:
        return gettext("A program of {name}, by token {token}").format(name=name, token=token)
    return name


def _json(event: AuditEvent, payload: object) -> str:
    """Return the event with its hash as text.

    Characters that would turn the direction of the text are spelled out.
    """
    fields = {
        **{name: getattr(event, name) for name in ("seq", "kind", "actor", "prev_hash", "hash")},
        "chain": str(event.chain),
        "at": event.at.isoformat(),
        "payload": payload,
    }
    if event.digest:
        fields |= {"digest": event.digest, "salt": event.salt}
    return spelled(json.dumps(fields, ensure_ascii=False, indent=2, sort_keys=True))


def record_status() -> dict[str, Any]:
    """Return whether the record is whole, as far as a verification was recorded."""
    verified = selectors.last_verification()
    context = {
        "verified": verified,
        "checkpoint": selectors.last_checkpoint(),
        "sealed": last_sealed(),
    }
    if verified is None:
        return context
    try:
        return {**context, **_outcome(_payload(verified))}
    except (LookupError, TypeError, ValueError):
        return {**context, "result": gettext("What the last verification found cannot be read.")}


def _outcome(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outcome of a verification.

    Raises:
        LookupError, TypeError, ValueError: no verification can have recorded the payload.
    """
    expected = payload["expected"]
    faults = payload["broken"] + payload["differing"] + payload["faults"]
    message = ngettext(
        "The record did not hold: {number} fault.",
        "The record did not hold: {number} faults.",
        faults,
    )
    return {
        "found": payload,
        "result": gettext("The record was whole.")
        if payload["ok"]
        else message.format(number=faults),
        "expected": expected,
        "expected_at": expected and parse_datetime(expected["at"]),
        "seal": payload["seal"],
    }
