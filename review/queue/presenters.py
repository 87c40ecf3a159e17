"""A page of the queue as plain values, and what has changed since it was loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.timesince import timesince, timeuntil
from django.utils.timezone import localtime
from django.utils.translation import gettext, gettext_noop, ngettext

from conversations.models import Session
from conversations.outages import selectors as outages
from ieim.knowledge import selectors as knowledge
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.knowledge import Release
from ieim.studio.labels import STAGES, stage_label
from review import finding_texts, labels
from review.crisis import is_crisis, of_sign
from review.deciding import locking
from review.models import ReviewItem, SavedView
from review.queue import filters as lists
from review.queue import selectors
from review.queue.filters import Filters, UnknownFilter
from review.queue.selectors import Conversation, Count, Listing, place
from review.states import ReviewState

TABS: Mapping[str, str] = {
    "open": gettext_noop("Open"),
    "mine": gettext_noop("Mine"),
    "second": gettext_noop("Waiting for a second opinion"),
    "done": gettext_noop("Done"),
}
NOTHING: Mapping[str, str] = {
    "open": gettext_noop(
        "Nothing is waiting. New items appear here when the assistant cannot answer safely by"
        " itself."
    ),
    "mine": gettext_noop("You have claimed nothing. Choose something from the open items."),
    "second": gettext_noop("No decision waits for a second opinion."),
    "done": gettext_noop("Nothing has been decided yet."),
}
LISTED: Mapping[str, str] = {
    ReviewState.OPEN: "open",
    ReviewState.CLAIMED: "open",
    ReviewState.SECOND_OPINION: "second",
    ReviewState.DECIDED: "done",
}
"""The list that an item of a state is in, whoever has it."""


def tabs(
    filters: Filters, counts: Mapping[str, Count], *, by_reference: bool = False
) -> list[dict[str, Any]]:
    """Return the lists with their numbers (empty for nothing to count), the filters kept.

    A conversation that was found ``by_reference`` is in none of them.
    """
    return [
        {
            "words": gettext(name),
            "count": _capped(counts[tab].items) if tab in counts else "",
            "number": counts[tab].items if tab in counts else 0,
            "crisis": in_crisis(len(counts[tab].crises)) if tab in counts else "",
            "query": filters.with_changes(tab=tab, q="")
            if by_reference
            else filters.with_changes(tab=tab),
            "current": tab == filters.tab and not by_reference,
        }
        for tab, name in TABS.items()
    ]


def in_crisis(number: int) -> str:
    """Return how many items are in crisis, in words; empty for none."""
    return gettext("{number} in crisis").format(number=_capped(number)) if number else ""


def title(filters: Filters, crises: int, reference: str) -> str:
    """Return the page's title: a crisis is seen even where the page is one tab among many.

    ``reference`` is that of the conversation that was searched for, empty otherwise.
    """
    name = reference or gettext(TABS[filters.tab])
    return f"({in_crisis(crises)}) {name}" if crises else name


def nothing(filters: Filters, found: Conversation | None) -> str:
    """Return the sentence of an empty list."""
    if found is not None:
        if found.elsewhere or not found.state:
            return ""
        return gettext("None of its messages has come to a person.")
    if filters.q or filters.narrows:
        return gettext("Nothing fits this search and these filters.")
    return gettext(NOTHING[filters.tab])


def conversation_sentence(found: Conversation) -> str:
    """Return where a conversation stands, in a sentence."""
    began = date_format(timezone.localtime(found.started_at), "j F Y")
    if found.elsewhere:
        message = gettext("The conversation {reference} is with another agency.")
        return message.format(reference=found.reference)
    if not found.state:
        message = gettext("The conversation {reference} began on {day} and was erased.")
        return message.format(reference=found.reference, day=began)
    message = ngettext(
        "The conversation {reference} began on {day} and has {number} message."
        " Its last one: {state}.",
        "The conversation {reference} began on {day} and has {number} messages."
        " Its last one: {state}.",
        found.messages,
    )
    return message.format(
        reference=found.reference,
        day=began,
        number=found.messages,
        state=gettext(labels.TURN_STATES[found.state]).lower(),
    )


AUDITS = "audit.view_auditevent"


def recorded(user: User, session: Session) -> str:
    """Return the address of what is recorded of a conversation, empty for who may not read it."""
    return reverse("audit:chain", args=[session.pk]) if user.has_perm(AUDITS) else ""


def _capped(count: int) -> str:
    return f"{selectors.COUNTED - 1}+" if count >= selectors.COUNTED else str(count)


EXCERPT = 160
"""Characters of a message that a row shows."""
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

AGES: Mapping[str, str] = {
    "hour": gettext_noop("Over an hour"),
    "day": gettext_noop("Over a day"),
    "3-days": gettext_noop("Over 3 days"),
    "week": gettext_noop("Over a week"),
}


@dataclass(frozen=True, slots=True)
class Live:
    """What of a row changes while a page is open.

    ``holder`` says who has the item, ``free`` that nobody has, ``mine`` that the user has; ``due``
    is None once the item is gone.
    """

    id: UUID
    holder: str
    free: bool
    due: datetime | None
    due_words: str
    overdue: bool
    mine: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a filter."""

    value: str
    words: str
    chosen: bool


def queue_row(
    item: ReviewItem, user: User, release: Release | None, now: datetime
) -> dict[str, Any]:
    """Return an item of :func:`review.queue.selectors.page` as a row for ``user``.

    In a ``crisis`` the ``reason`` names the danger, and ``flags`` the others; with ``sign`` it is
    only a sign of one, for which nothing waits.
    """
    flags = [flag.code for flag in item.flags.all()]
    dangers = [code for code in flags if is_crisis(item) and _escalates(release, code)]
    names = {code: _label(release, "risk_flags", code) for code in flags}
    danger = ", ".join(names[code] for code in dangers)
    return {
        "id": item.pk,
        "reason": danger or finding_texts.first_sentence(item.reasons),
        "stage": stage_label(item.stage),
        "excerpt": Truncator(" ".join(item.turn.text[: 4 * EXCERPT].split())).chars(EXCERPT),
        "agencies": labels.agency_names(item, release),
        "urgency": _label(release, "urgencies", item.urgency),
        "flags": [name for code, name in names.items() if code not in dangers],
        "language": language_name(item.language),
        "reference": item.turn.session.reference,
        "crisis": is_crisis(item),
        "sign": of_sign(item),
        "state": item.state,
        "live": live(item, item.pk, user, now),
    }


def live(item: ReviewItem | None, pk: UUID, user: User, now: datetime) -> Live:
    """Return what of a row changes; None is an item that was erased or is out of reach now."""
    if item is None:
        return Live(pk, gettext("Not here any more"), False, None, "", False)
    if item.decided_at is not None:
        decided = item.decided_at
        return Live(pk, gettext("Decided"), False, decided, _ago(decided, now), False)
    free = not selectors.is_held(item, now)
    mine = not free and item.claimed_by_id == user.pk
    if free:
        waits = item.state == ReviewState.SECOND_OPINION.value
        holder = gettext("Waits for a second person") if waits else gettext("Free")
    elif mine:
        holder = gettext("Yours")
    else:
        holder = gettext("Claimed by {name}").format(name=selectors.name_of(item.claimed_by))
    due = item.due_at
    return Live(pk, holder, free, due, _due(due, now), due < now, mine)


def problem(error: Exception) -> str:
    """Return what is wrong with an address as a sentence."""
    return (
        str(error)
        if isinstance(error, UnknownFilter)
        else gettext("There is no such page of the list.")
    )


def language_name(code: str) -> str:
    """Return a language's name; a code that has none is shown as it is."""
    info = LANG_INFO.get(code, {})
    # Django's own sentences: it knows what languages are called in the others.
    return gettext(str(info["name"])) if "name" in info else code


def selects(
    filters: Filters, release: Release | None, scope: frozenset[str] | None
) -> list[dict[str, Any]]:
    """Return the filters with their choices; the present value is always among them."""
    agencies = release.agencies.values() if release else ()
    label_sets = release.labels if release else {}
    supported = list(settings.IEIM_MODEL["LANGUAGES"])
    others = sorted((c for c in LANG_INFO if len(c) == 2), key=language_name)
    options: dict[str, tuple[str, Mapping[str, str]]] = {
        "agency": (
            gettext("Agency"),
            {a.id: a.name for a in agencies if scope is None or a.id in scope},
        ),
        "stage": (gettext("Stopped at"), {each: stage_label(each) for each in STAGES}),
        "reason": (gettext("Reason"), _reasons()),
        "urgency": (gettext("Urgency"), _names(label_sets.get("urgencies"))),
        "flag": (gettext("Risk flag"), _names(label_sets.get("risk_flags"))),
        "language": (gettext("Language"), {c: language_name(c) for c in [*supported, *others]}),
        "age": (gettext("Waiting for"), {age: gettext(period) for age, period in AGES.items()}),
    }
    return [
        {"name": name, "label": label, "choices": list(_choices(getattr(filters, name), names))}
        for name, (label, names) in options.items()
    ]


def _choices(chosen: str, names: Mapping[str, str]) -> Iterator[Choice]:
    yield Choice("", gettext("Any"), not chosen)
    for value, name in names.items():
        yield Choice(value, name, value == chosen)
    if chosen and chosen not in names:
        yield Choice(chosen, chosen, True)


def _reasons() -> dict[str, str]:
    """Return the reasons by code; where several codes have one sentence, with the code."""
    by_code = {str(code): finding_texts.sentence(code) for code in finding_texts.SENTENCES}
    sentences = list(by_code.values())
    named = {
        code: sentence if sentences.count(sentence) == 1 else f"{sentence} ({code})"
        for code, sentence in by_code.items()
    }
    return dict(sorted(named.items(), key=lambda pair: pair[1]))


def _names(labels: Mapping[str, object] | None) -> dict[str, str]:
    return {code: str(getattr(label, "name", code)) for code, label in (labels or {}).items()}


def _label(release: Release | None, label_set: str, code: str) -> str:
    label = release.labels.get(label_set, {}).get(code) if release and code else None
    return label.name if label else code


def _due(moment: datetime, now: datetime) -> str:
    if abs(moment - now) < MINUTE:
        return gettext("due now")
    if moment < now:
        return gettext("{time} overdue").format(time=timesince(moment, now, depth=1))
    if moment - now < HOUR:
        return gettext("due in {time}").format(time=timeuntil(moment, now, depth=1))
    # The moment that the citizen sees: whole days until then would be less precise.
    at, today = localtime(moment), localtime(now).date()
    text = {
        today: gettext_noop("due today, {time}"),
        today + timedelta(days=1): gettext_noop("due tomorrow, {time}"),
    }.get(at.date(), gettext_noop("due {day}, {time}"))
    return gettext(text).format(day=date_format(at, "D j M"), time=date_format(at, "H:i"))


def _ago(moment: datetime, now: datetime) -> str:
    return (
        gettext("just now") if now - moment < MINUTE else f"{timesince(moment, now, depth=1)} ago"
    )


def _escalates(release: Release | None, code: str) -> bool:
    label = release.labels.get("risk_flags", {}).get(code) if release else None
    return label is not None and label.escalates


def queue_page(
    user: User, filters: Filters, params: Mapping[str, str], now: datetime
) -> dict[str, Any]:
    """Return a page of a list; ``params`` may say ``after`` or ``before`` which place.

    ``groups`` are the rows, those in crisis apart and first. ``found`` says where the conversation
    stands whose reference was searched for, ``recorded`` where an auditor reads what was recorded
    of it. ``item_query`` is what an item's address says of the list that led to it;
    ``colleagues`` is empty for whom may not assign. A constant number of queries. Raises
    :class:`review.queue.selectors.UnknownPage`.
    """
    listed = selectors.listing(user, filters, now)
    after, before = params.get("after", ""), params.get("before", "")
    page = selectors.page(listed, after=after, before=before)
    release = knowledge.current_release()
    counts = selectors.counts(user, now)
    found = selectors.conversation(user, listed.session) if listed.session else None
    rows = [queue_row(item, user, release, now) for item in page.items]
    if found:
        rows = [{**row, "listed": gettext(TABS[LISTED[row["state"]]])} for row in rows]
    scope = agencies_of(user)
    item_query = lists.list_query(filters)
    saved = SavedView.objects.filter(owner_id=user.pk)
    return {
        "filters": filters,
        "no_agency": scope is not None and not scope,
        "groups": _groups(rows, apart=not listed.done and found is None),
        "found": conversation_sentence(found) if found else "",
        "recorded": recorded(user, listed.session) if listed.session else "",
        "item_query": f"?{item_query}" if item_query else "",
        "previous": _address(filters, before=page.previous),
        "next": _address(filters, after=page.next),
        "tabs": tabs(filters, counts, by_reference=found is not None),
        "selects": selects(filters, release, scope),
        "views": [Choice(view.query, view.name, view.query == filters.query) for view in saved],
        "colleagues": _colleagues(user) if user.has_perm(locking.SUPERVISE) else (),
        "may_decide": user.has_perm(locking.DECIDE),
        "nothing": nothing(filters, found),
        # New items before the first one show on an earlier page, where there is one.
        "news": _news(
            filters,
            0,
            [row["live"] for row in rows],
            _crises(counts, filters, listed, [row["id"] for row in rows]),
            start=page.previous,
            until=page.next,
        ),
    }


def news(
    user: User,
    filters: Filters,
    params: Mapping[str, str],
    shown: Sequence[UUID],
    now: datetime,
) -> dict[str, Any]:
    """Return what has changed on a page that shows ``shown`` between ``start`` and ``until``."""
    listed = selectors.listing(user, filters, now)
    start, until = params.get("start", ""), params.get("until", "")
    there = selectors.keys_between(listed, after=start, until=until)
    count = len(set(there) - set(shown))
    found = {item.pk: item for item in selectors.rows(shown, user)}
    rows = [live(found.get(pk), pk, user, now) for pk in shown]
    counts = selectors.counts(user, now, "open", "second")
    crises = _crises(counts, filters, listed, shown)
    found_news = _news(filters, count, rows, crises, start=start, until=until)
    return {**found_news, "outage_changed": found_news["outage_key"] != params.get("outage", "")}


def _groups(rows: list[dict[str, Any]], *, apart: bool) -> list[dict[str, Any]]:
    crises = [row for row in rows if apart and row["crisis"]]
    groups = ({"crisis": True, "rows": crises}, {"crisis": False, "rows": rows[len(crises) :]})
    return [group for group in groups if group["rows"]]


def _crises(
    counts: Mapping[str, Count], filters: Filters, listed: Listing, shown: Collection[UUID]
) -> tuple[int, str, str]:
    """Return how many open items in crisis a page does not show, where, and the page's title."""
    free = counts["open"].crises
    crises = len(free) + len(counts["second"].crises)
    reference = listed.session.reference if listed.session else ""
    hidden = [number for number, key in enumerate(free) if key[2] not in shown]
    # A list begins after a place: that of the one before the first that is missing.
    after = place(free[hidden[0] - 1]) if hidden and hidden[0] else ""
    missing = _address(Filters(), after=after)
    return len(hidden), missing, title(filters, crises, reference)


def _news(
    filters: Filters,
    count: int,
    rows: Sequence[Live],
    crises: tuple[int, str, str],
    *,
    start: str,
    until: str,
) -> dict[str, Any]:
    """Return what is new on an open page: ``count`` items that it does not show, and its rows.

    ``crises`` is how many open items in crisis it does not show, whatever its list and filters,
    ``missing`` the query string of the page that begins with the first of them. ``address`` asks
    for the next news, ``reload`` shows the new items. ``outage`` is that of the model, None without
    one; it is put on the page anew where its key is another one: a screen reader says it then.
    ``digest`` is of all that can change.
    """
    outage = outages.current()
    key = outage.key if outage else ""
    digest = hashlib.sha256(repr((count, key, *crises, tuple(rows))).encode()).hexdigest()[:16]
    shown = ",".join(row.id.hex for row in rows)
    values = {"start": start, "until": until, "shown": shown, "known": digest, "outage": key}
    address = "&".join(part for part in (filters.query, urlencode(values, safe=",")) if part)
    hidden, missing, page_title = crises
    return {
        "count": count,
        "crises": hidden,
        "missing": missing,
        "outage": outage,
        "outage_key": key,
        "title": page_title,
        "rows": rows,
        "digest": digest,
        "address": address,
        "reload": filters.query,
    }


def _address(filters: Filters, **place: str) -> str:
    """Return a page's query string, empty where there is no such page."""
    if not any(place.values()):
        return ""
    return "&".join(part for part in (filters.query, urlencode(place)) if part)


def _colleagues(user: User) -> tuple[Choice, ...]:
    backend = "django.contrib.auth.backends.ModelBackend"
    found = User.objects.with_perm(locking.DECIDE, backend=backend)
    named = sorted((selectors.name_of(each), each.get_username(), each.pk) for each in found)
    return tuple(Choice(username, name, pk == user.pk) for name, username, pk in named)
