"""A page of the queue as plain values, and what has changed since it was loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.timesince import timesince, timeuntil
from django.utils.timezone import localtime
from django.utils.translation import gettext, gettext_noop, ngettext

from conversations.outages import selectors as outages
from ieim.knowledge import selectors as knowledge
from ieim.people.languages import language_name
from ieim.people.models import User
from ieim.people.scope import agencies_of
from ieim.pipeline.knowledge import Release
from ieim.studio.labels import stage_label
from ieim.studio.pages.presenters import Choice
from review import finding_texts, labels
from review.batches import alike
from review.batches.rows import group_head, group_row
from review.crisis import is_crisis, of_sign
from review.deciding import locking, signing
from review.models import Action, ReviewItem
from review.queue import filters as lists
from review.queue import selectors
from review.queue.filters import NO_AGENCY, ItemFilter
from review.queue.selectors import Conversation, Count, Listing, encode
from review.saved_views.selectors import audiences, view_links
from review.states import ReviewState

FACETS = "facets"
"""The parameter that shows the values of the filters."""
TABS: Mapping[str, str] = {
    "open": gettext_noop("Open"),
    "mine": gettext_noop("Mine"),
    "second": gettext_noop("Waiting for a second opinion"),
    "triage": gettext_noop("Facts to check"),
    "done": gettext_noop("Done"),
}
NOTHING: Mapping[str, str] = {
    "open": gettext_noop(
        "Nothing is waiting. New items appear here when the assistant cannot answer safely by"
        " itself."
    ),
    "mine": gettext_noop("You have claimed nothing. Choose something from the open items."),
    "second": gettext_noop("No decision waits for a second opinion."),
    "triage": gettext_noop("Nothing that the assistant read of a message is to be checked."),
    "done": gettext_noop("Nothing has been decided yet."),
}
LISTED: Mapping[str, str] = {
    ReviewState.OPEN: "open",
    ReviewState.CLAIMED: "open",
    ReviewState.SENDING: "second",
    ReviewState.SECOND_OPINION: "second",
    ReviewState.DECIDED: "done",
}
"""The list that an item of a state is in, whoever has it."""
HOLDERS: Mapping[str, str] = {
    ReviewState.SECOND_OPINION: gettext_noop("Waits for a second person"),
    ReviewState.SENDING: gettext_noop("Decided, goes out within seconds"),
}
"""By state: what a row says in place of who has the item."""


def tabs(
    filters: ItemFilter, counts: Mapping[str, Count], *, by_reference: bool = False
) -> list[dict[str, Any]]:
    """Return the lists with their counts and the same filters.

    A conversation that was searched for ``by_reference`` is in none of them.
    """
    search = {"q": ""} if by_reference else {}
    return [
        {
            "words": gettext(name),
            "count": str(counts[tab].items) if tab in counts else "",
            "number": counts[tab].items if tab in counts else 0,
            "crisis": in_crisis(len(counts[tab].crises)) if tab in counts else "",
            "query": filters.with_changes(tab=tab, **search),
            "current": tab == filters.values["tab"] and not by_reference,
        }
        for tab, name in TABS.items()
    ]


def in_crisis(number: int) -> str:
    """Return how many items are in crisis, in words; empty for none."""
    return gettext("{number} in crisis").format(number=_capped(number)) if number else ""


def empty_sentence(filters: ItemFilter, conversation: Conversation | None) -> str:
    """Return the sentence of an empty list."""
    if conversation is not None:
        if conversation.elsewhere or not conversation.state:
            return ""
        return gettext("None of its messages has come to a person.")
    if filters.values["q"] or filters.narrows:
        return gettext("Nothing fits this search and these filters.")
    return gettext(NOTHING[filters.values["tab"]])


def conversation_sentence(conversation: Conversation) -> str:
    """Return the state of a conversation in a sentence."""
    values = {
        "reference": conversation.reference,
        "day": date_format(timezone.localtime(conversation.started_at), "j F Y"),
        "number": conversation.messages,
    }
    if conversation.elsewhere:
        text = gettext("The conversation {reference} is with another agency.")
    elif conversation.erased:
        text = gettext("The conversation {reference} began on {day} and was erased.")
    elif not conversation.state:
        text = gettext("The conversation {reference} began on {day} and has no message yet.")
    else:
        values["state"] = gettext(labels.TURN_STATES[conversation.state]).lower()
        text = ngettext(
            "The conversation {reference} began on {day} and has {number} message."
            " Its last one: {state}.",
            "The conversation {reference} began on {day} and has {number} messages."
            " Its last one: {state}.",
            conversation.messages,
        )
    return text.format(**values)


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
    """The part of a row that changes while a page is open.

    ``holder`` says who has the item, ``free`` that nobody has, ``mine`` that the user has, and
    ``claimable`` that they may; ``due`` is None once the item is gone.
    """

    id: UUID
    holder: str
    free: bool
    due: datetime | None
    due_words: str
    overdue: bool
    mine: bool = False
    claimable: bool = False
    reference: str = ""


def queue_row(
    item: ReviewItem, user: User, release: Release | None, now: datetime
) -> dict[str, Any]:
    """Return an item of :func:`review.queue.selectors.page` as a row for ``user``.

    In a ``crisis`` the ``reason`` names the danger, and ``flags`` the others; with ``sign`` it is
    only a sign of one, for which nothing waits. ``left`` says why it was not decided with others,
    ``sent_back`` that a second person did not agree.
    """
    flags = [flag.code for flag in item.flags.all()]
    dangers = [code for code in flags if is_crisis(item) and _escalates(release, code)]
    names = {code: labels.label_name(release, "risk_flags", code) for code in flags}
    danger = ", ".join(names[code] for code in dangers)
    entries = sorted(item.batch_entries.all(), key=lambda entry: -entry.pk)
    return {
        "id": item.pk,
        "reason": danger or finding_texts.first_sentence(item.reasons),
        "stage": stage_label(item.stage),
        "excerpt": Truncator(" ".join(item.turn.text[: 4 * EXCERPT].split())).chars(EXCERPT),
        "agencies": labels.agency_names(item, release),
        "likely": labels.agency_name(release, item.likely_agency) if item.likely_agency else "",
        "urgency": labels.label_name(release, "urgencies", item.urgency),
        "flags": [name for code, name in names.items() if code not in dangers],
        "language": language_name(item.language),
        "reference": item.turn.session.reference,
        "crisis": is_crisis(item),
        "sign": of_sign(item),
        "state": item.state,
        "snoozed": item.snoozed_until,
        # The page's query adds the last action.
        "sent_back": item.last_action == Action.DISAGREE,  # type: ignore[attr-defined]
        "left": next((entry.problem for entry in entries if entry.problem), ""),
        "waits": "" if item.decided_at else timesince(item.opened_at, now, depth=1),
        "live": live(item, item.pk, user, now),
    }


def live(item: ReviewItem | None, pk: UUID, user: User, now: datetime) -> Live:
    """Return the changing part of a row; None is an item that was erased or is out of reach now."""
    if item is None:
        return Live(pk, gettext("Not here any more"), False, None, "", False)
    if item.decided_at is not None:
        decided = item.decided_at
        return Live(pk, _outcome(item), False, decided, _ago(decided, now), False)
    holder, due = item.holder(now), item.due_at
    if holder is None:
        words = gettext(HOLDERS[item.state]) if item.state in HOLDERS else gettext("Free")
    elif holder == user:
        words = gettext("Yours")
    else:
        words = gettext("Claimed by {name}").format(name=holder.display_name)
    # Who decided it cannot be the second person.
    waits = item.state == ReviewState.SECOND_OPINION.value
    proposal = signing.last_proposal(item) if waits else None
    is_own = proposal is not None and proposal.actor_id == user.pk
    claimable = holder in (None, user) and item.state != ReviewState.SENDING.value and not is_own
    overdue, mine, reference = due < now, holder == user, item.turn.session.reference
    return Live(pk, words, holder is None, due, _due(due, now), overdue, mine, claimable, reference)


def _outcome(item: ReviewItem) -> str:
    """Return what was decided, and by whom; whoever agreed to it has not decided it."""
    answers = (Action.AGREE, Action.DISAGREE, Action.UNDO)
    records = [record for record in item.decisions.all() if record.action not in answers]
    if not records:
        return gettext("Decided")
    done = gettext(labels.ACTIONS_DONE[records[-1].action])
    return gettext("{done}, by {name}").format(done=done, name=records[-1].actor.display_name)


def selects(filters: ItemFilter, listed: Listing, release: Release | None) -> list[dict[str, Any]]:
    """Return the filters with the values that the list holds, and how many items have each."""
    held = selectors.facets(listed)
    names = {NO_AGENCY: gettext("No agency yet")}
    words: dict[str, tuple[str, Callable[[str], str]]] = {
        "agency": (
            gettext("Agency"),
            lambda agency: names.get(agency) or labels.agency_name(release, agency),
        ),
        "reason": (gettext("Reason"), finding_texts.sentence),
        "stage": (gettext("Stopped at"), stage_label),
        "urgency": (gettext("Urgency"), partial(labels.label_name, release, "urgencies")),
        "flag": (gettext("Risk flag"), partial(labels.label_name, release, "risk_flags")),
        "language": (gettext("Language"), language_name),
    }
    facets = [
        {
            "name": name,
            "label": label,
            "choices": list(_choices(filters, name, held[name], word)),
        }
        for name, (label, word) in words.items()
    ]
    ages = dict.fromkeys(AGES, 0)
    age = list(_choices(filters, "age", ages, lambda age: gettext(AGES[age])))
    soon = list(_choices(filters, "soon", {"1": 0}, lambda _: gettext("Within two hours")))
    person = list(_choices(filters, "person", {}, str))
    return [
        *facets,
        {"name": "age", "label": gettext("Waiting for"), "choices": age},
        {"name": "soon", "label": gettext("Due"), "choices": soon},
        {"name": "person", "label": gettext("Person"), "choices": person},
    ]


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A ``value`` of a filter: the list with it, or without it where it is ``chosen`` (``query``);
    ``number`` of its items, 0 where they are not counted."""

    value: str
    query: str
    words: str
    number: int
    chosen: bool


def _choices(
    filters: ItemFilter, name: str, held: Mapping[str, int], words: Callable[[str], str]
) -> Iterator[FilterChip]:
    """Yield the chips of a filter, the most frequent value first; the chosen one is among them."""
    chosen = filters.values[name]
    values = sorted((value for value in held if value), key=lambda value: -held[value])
    for value in dict.fromkeys([*filter(None, [chosen]), *values]):
        is_chosen = value == chosen
        query = filters.with_changes(**{name: "" if is_chosen else value})
        yield FilterChip(value, query, words(value), held.get(value, 0), is_chosen)


def _due(moment: datetime, now: datetime) -> str:
    if moment < now:
        late = gettext("overdue") if now - moment < MINUTE else gettext("{time} overdue")
        return late.format(time=timesince(moment, now, depth=1))
    if moment - now < HOUR:
        soonest = max(moment, now + MINUTE)
        return gettext("due in {time}").format(time=timeuntil(soonest, now, depth=1))
    # The moment that the citizen sees: whole days until then would be less precise.
    local, today = localtime(moment), localtime(now).date()
    text = {
        today: gettext_noop("due today, {time}"),
        today + timedelta(days=1): gettext_noop("due tomorrow, {time}"),
    }.get(local.date(), gettext_noop("due {day}, {time}"))
    return gettext(text).format(day=date_format(local, "D j M"), time=date_format(local, "H:i"))


def _ago(moment: datetime, now: datetime) -> str:
    if now - moment < MINUTE:
        return gettext("just now")
    return gettext("{time} ago").format(time=timesince(moment, now, depth=1))


def _escalates(release: Release | None, code: str) -> bool:
    label = release.labels.get("risk_flags", {}).get(code) if release else None
    return label is not None and label.escalates


def queue_page(
    user: User, filters: ItemFilter, params: Mapping[str, str], now: datetime
) -> dict[str, Any]:
    """Return the context of a page of a list, in a constant number of queries.

    ``params`` may have the position that it is ``after`` or ``before``. ``groups`` are the rows,
    those in crisis apart and first, with ``alike`` items as one row. ``found`` is the state of the
    conversation whose reference was searched for, ``recorded`` the address of its audit record for
    an auditor. ``item_query`` names the list in an item's address; ``colleagues`` is empty for whom
    may not assign.

    Raises:
        review.queue.selectors.UnknownPage: for a position that cannot be read.
    """
    complete = selectors.listing(user, filters, now)
    listed, groups = alike.of_list(complete, filters, now)
    after, before = params.get("after", ""), params.get("before", "")
    page = selectors.page(listed, after=after, before=before)
    release = knowledge.current_release()
    counts = selectors.counts(user, now)
    conversation = selectors.conversation(user, listed.session) if listed.session else None
    rows = [queue_row(item, user, release, now) for item in page.items]
    groups = [] if after or before else groups
    alike_rows = [group_row(group, filters, release, now) for group in groups]
    if conversation:
        rows = [{**row, "listed": gettext(TABS[LISTED[row["state"]]])} for row in rows]
    recorded = ""
    if listed.session and user.has_perm("audit.view_auditevent"):
        recorded = reverse("audit:chain", args=[listed.session.pk])
    scope = agencies_of(user)
    item_query = lists.list_query(filters)
    views = view_links(user, scope, filters, now)
    names = {id_: agency.name for id_, agency in release.agencies.items()} if release else {}
    chosen_view = next((link.view for link in views if link.chosen and link.may_change), None)
    return {
        "filters": filters,
        "no_agency": scope is not None and not scope,
        "group": group_head(complete.branches[0], user, filters, release, now),
        "groups": _groups(rows, alike_rows, apart=not listed.done and conversation is None),
        "found": conversation_sentence(conversation) if conversation else "",
        "recorded": recorded,
        "item_query": f"?{item_query}" if item_query else "",
        "previous": _address(filters, before=page.previous),
        "next": _address(filters, after=page.next),
        "tabs": tabs(filters, counts, by_reference=conversation is not None),
        # Folded, they are asked for when somebody opens them.
        "selects": selects(filters, complete, release)
        if filters.narrows or FACETS in params
        else (),
        "views": views,
        "chosen_view": chosen_view,
        "audiences": audiences(user, scope, chosen_view, names),
        "colleagues": _colleagues(user) if user.has_perm(locking.SUPERVISE) else (),
        "may_decide": user.has_perm(locking.DECIDE),
        "nothing": empty_sentence(filters, conversation),
        # New items before the first one show on an earlier page, where there is one.
        "news": _news(
            filters,
            listed,
            counts,
            [row["live"] for row in rows],
            start=page.previous,
            until=page.next,
        ),
    }


ASIDE = 12
"""Items of the list that an item's page shows beside it."""


def queue_aside(user: User, filters: ItemFilter, now: datetime) -> list[dict[str, Any]]:
    """Return the first rows of the list that an item was opened from."""
    release = knowledge.current_release()
    listed = selectors.listing(user, filters, now)
    items = selectors.page(listed, size=ASIDE).items
    return [queue_row(item, user, release, now) for item in items]


def news(
    user: User,
    filters: ItemFilter,
    params: Mapping[str, str],
    shown_ids: Sequence[UUID],
    now: datetime,
) -> dict[str, Any]:
    """Return what has changed on a page that shows ``shown`` between ``start`` and ``until``."""
    listed, _ = alike.of_list(selectors.listing(user, filters, now), filters, now)
    start, until = params.get("start", ""), params.get("until", "")
    current = selectors.keys_between(listed, after=start, until=until)
    new = len(set(current) - set(shown_ids))
    items = {item.pk: item for item in selectors.rows(shown_ids, user)}
    rows = [live(items.get(pk), pk, user, now) for pk in shown_ids]
    counts = selectors.counts(user, now, "open", "second")
    context = _news(filters, listed, counts, rows, new=new, start=start, until=until)
    return {**context, "outage_changed": context["outage_key"] != params.get("outage", "")}


def _groups(
    rows: list[dict[str, Any]], alike_rows: list[dict[str, Any]], *, apart: bool
) -> list[dict[str, Any]]:
    crises = [row for row in rows if apart and row["crisis"]]
    others = {"crisis": False, "alike": alike_rows, "rows": rows[len(crises) :]}
    groups = ({"crisis": True, "rows": crises}, others)
    return [group for group in groups if group["rows"] or group.get("alike")]


def _news(
    filters: ItemFilter,
    listed: Listing,
    counts: Mapping[str, Count],
    rows: Sequence[Live],
    *,
    start: str,
    until: str,
    new: int = 0,
) -> dict[str, Any]:
    """Return the news of an open page: ``new`` items that it does not show, and its rows.

    ``crises`` is the number of open items in crisis that it does not show, whatever its list and
    filters, ``missing`` the query string of the page that begins with the first of them; the
    ``title`` names all of them, so that they are seen where the page is one tab among many.
    ``address`` asks for the next news, ``reload`` shows the new items. ``outage`` is that of the
    model, None without one; it is put on the page anew where its key is another one: a screen
    reader says it then. ``digest`` is of all that can change.
    """
    open_crises, row_ids = counts["open"].crises, [row.id for row in rows]
    hidden = [number for number, key in enumerate(open_crises) if key[2] not in row_ids]
    # A page begins after a position: that of the item before the first that is missing.
    after = encode(open_crises[hidden[0] - 1]) if hidden and hidden[0] else ""
    missing = _address(ItemFilter(), after=after)
    crises = len(open_crises) + len(counts["second"].crises)
    title = listed.session.reference if listed.session else gettext(TABS[filters.values["tab"]])
    title = f"({in_crisis(crises)}) {title}" if crises else title
    outage = outages.current()
    key = outage.key if outage else ""
    changing = (new, key, len(hidden), missing, title, tuple(rows))
    digest = hashlib.sha256(repr(changing).encode()).hexdigest()[:16]
    values = {"start": start, "until": until, "shown": ",".join(pk.hex for pk in row_ids)}
    query = urlencode({**values, "known": digest, "outage": key}, safe=",")
    return {
        "count": new,
        "crises": len(hidden),
        "missing": missing,
        "outage": outage,
        "outage_key": key,
        "dangers": selectors.dangers_of(outages.waiting()) if outage else 0,
        "title": title,
        "rows": rows,
        "digest": digest,
        "address": "&".join(part for part in (filters.query, query) if part),
        "reload": filters.query,
    }


def _address(filters: ItemFilter, **position: str) -> str:
    """Return a page's query string, empty without a position."""
    if not any(position.values()):
        return ""
    return "&".join(part for part in (filters.query, urlencode(position)) if part)


def _colleagues(user: User) -> tuple[Choice, ...]:
    backend = "django.contrib.auth.backends.ModelBackend"
    users = User.objects.with_perm(locking.DECIDE, backend=backend)
    names = sorted((other.display_name, other.get_username(), other.pk) for other in users)
    return tuple(Choice(username, name, pk == user.pk) for name, username, pk in names)
