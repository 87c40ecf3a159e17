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
from review.auditing.filters import Filters
from review.models import ReviewItem
from review.scope import visible

SIZE: Final = 50
"""Events of a page."""
LISTS: Final = (reading.LISTED, reading.FEEDBACK_LISTED)
MOST_LISTED: Final = 50
"""The newest lists with a conversation in them that its timeline shows."""


def rows(events: Sequence[AuditEvent], user: User) -> list[dict[str, Any]]:
    """Return events as rows for ``user``; a constant number of queries.

    ``who`` is ``citizen``, ``machine`` or ``person``, ``by`` the person's name. ``json`` is the
    whole event as text. ``chain_name`` is the conversation's reference, or whose chain it is;
    ``item`` leads to the item, empty where there is none that the user may open.
    """
    payloads = [_payload(event) for event in events]
    chains = {
        PEOPLE_CHAIN: gettext("Staff"),
        SYSTEM_CHAIN: gettext("No conversation"),
        VECTORS_CHAIN: gettext("Search"),
    }
    of = Session.objects.filter(pk__in={event.chain for event in events})
    chains |= dict(of.values_list("pk", "reference"))
    items = _may_open([payload.get("item") for payload in payloads], user)
    names = _names(events)
    return [
        {
            "event": event,
            "words": wording.sentence(event.kind),
            "more": wording.more(payload),
            "who": _WHO.get(event.actor, "person"),
            "by": _by(event.actor, names),
            "json": _json(event, payload),
            "chain_name": chains.get(event.chain, str(event.chain)),
            "item": items.get(str(payload.get("item")), ""),
        }
        for event, payload in zip(events, payloads, strict=True)
    ]


def _payload(event: AuditEvent) -> Mapping[str, Any]:
    """Return the payload; of one that somebody has put there and that is none, its text."""
    with suppress(ValueError, RecursionError):
        found = json.loads(event.payload)
        # As it is shown: half of a surrogate pair, or what is nested too deeply, cannot be.
        json.dumps(found, ensure_ascii=False, indent=2).encode()
        if isinstance(found, dict):
            return found
    return {"unreadable": event.payload}


_WHO: Mapping[str, str] = {"citizen": "citizen", "system": "machine"}


def _may_open(ids: Iterable[object], user: User) -> dict[str, str]:
    wanted = set(_uuids(ids))
    if not wanted or not user.has_perm("review.view_reviewitem"):
        return {}
    found = visible(user).filter(pk__in=wanted).values_list("pk", flat=True)
    return {str(pk): reverse("review:item", args=[pk]) for pk in found}


def _uuids(ids: Iterable[object]) -> Iterator[UUID]:
    for each in ids:
        with suppress(ValueError):
            yield UUID(str(each))


def _names(events: Iterable[AuditEvent]) -> dict[str, str]:
    accounts = {_account(event.actor) for event in events}
    people = User.objects.filter(username__in=accounts)
    return {person.get_username(): person.get_full_name() for person in people}


def _account(actor: str) -> str:
    return actor.removeprefix("staff:").partition("/")[0]


def _by(actor: str, names: Mapping[str, str]) -> str:
    account = _account(actor)
    name = names.get(account, "")
    known = f"{name} ({account})" if name else account
    program = actor.partition("/")[2]
    if program:
        return gettext("A program of {name}, by token {token}").format(name=known, token=program)
    return known


def _json(event: AuditEvent, payload: object) -> str:
    """Return the event as it is hashed, with its hash; what would turn the direction of words is
    spelled out."""
    told = {
        **{name: getattr(event, name) for name in ("seq", "kind", "actor", "prev_hash", "hash")},
        "chain": str(event.chain),
        "at": event.at.isoformat(),
        "payload": payload,
    }
    if event.digest:
        told |= {"digest": event.digest, "salt": event.salt}
    return spelled(json.dumps(told, ensure_ascii=False, indent=2, sort_keys=True))


def standing() -> dict[str, Any]:
    """Return whether the record is whole, as far as a verification was recorded."""
    verified, checkpoint = selectors.last_verification(), selectors.last_checkpoint()
    told = {"verified": verified, "checkpoint": checkpoint, "sealed": last_sealed()}
    if verified is None:
        return told
    try:
        return {**told, **_verified(_payload(verified))}
    except (LookupError, TypeError, ValueError):
        return {**told, "result": gettext("What the last verification found cannot be read.")}


def _verified(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verification found; raises LookupError, TypeError and ValueError for what none
    can have recorded."""
    expected = found["expected"]
    return {
        "found": found,
        "result": _result(found),
        "expected": expected,
        "expected_at": expected and parse_datetime(expected["at"]),
        "seal": found["seal"],
    }


def _result(found: Mapping[str, Any]) -> str:
    wrong = found["broken"] + found["differing"] + found["faults"]
    if found["ok"]:
        return gettext("The record was whole.")
    message = ngettext(
        "The record did not hold: {number} fault.",
        "The record did not hold: {number} faults.",
        wrong,
    )
    return message.format(number=wrong)


def events_page(user: User, filters: Filters, after: str, before: str) -> dict[str, Any]:
    """Return the list of events; raises :class:`review.queue.filters.BadAddress` and
    :class:`ieim.audit.selectors.UnknownPlace`."""
    found = selectors.page(filters.search(), after=after, before=before, size=SIZE)
    return {**_listed(found, user), "query": filters.query}


def choices() -> dict[str, Any]:
    """Return what the form offers: the kinds and the actors that there are."""
    kinds = [(kind, wording.sentence(kind)) for kind in selectors.kinds()]
    people = [each.removeprefix("staff:") for each in selectors.actors() if "/" not in each]
    return {"kinds": kinds, "people": people}


def timeline(user: User, chain: UUID, after: str, before: str) -> dict[str, Any]:
    """Return a chain as a timeline, its first event first, with the lists that its conversation
    was in; raises :class:`ieim.audit.selectors.UnknownPlace`."""
    session = Session.objects.filter(pk=chain).first()
    found = selectors.chain(chain, after=after, before=before, size=SIZE)
    return {
        **_listed(found, user),
        "chain": chain,
        "title": _title(chain, session),
        "session": session,
        "lists": [] if session is None else rows(_lists(session), user),
    }


def _listed(found: Page, user: User) -> dict[str, Any]:
    return {"rows": rows(found.events, user), "previous": found.previous, "next": found.next}


def _title(chain: UUID, session: Session | None) -> str:
    if session is not None:
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

    Payloads have no index: what is read is the lists since the conversation began.
    """
    turns = session.turns.values_list("pk", flat=True)
    items = ReviewItem.objects.filter(turn__in=turns).values_list("pk", flat=True)
    named: dict[str, Collection[UUID]] = {reading.LISTED: items, reading.FEEDBACK_LISTED: turns}
    found = [
        event
        for kind, ids in named.items()
        if (naming := [str(pk) for pk in ids])
        for event in selectors.page(
            Search(kind=kind, naming=naming, since=session.created_at), size=MOST_LISTED
        ).events
    ]
    return sorted(found, key=lambda event: event.at, reverse=True)[:MOST_LISTED]
