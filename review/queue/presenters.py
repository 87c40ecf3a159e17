"""What the queue shows, as plain values: the templates' whole vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.timesince import timesince, timeuntil
from django.utils.timezone import localtime
from django.utils.translation import gettext, gettext_noop

from ieim.people.models import User
from ieim.pipeline.knowledge import Release
from ieim.studio.labels import STAGES, stage_label
from review import words
from review.crisis import is_crisis, of_sign
from review.models import ReviewItem, SavedView
from review.queue import selectors
from review.queue.searching import Filters, UnknownFilter
from review.states import ReviewState

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
class QueueRow:
    """One item of a list; ``agencies`` is empty until they are known.

    In a ``crisis`` the ``reason`` names the danger, and ``flags`` the others; with ``sign`` it is
    only a sign of one, for which nothing waits. ``listed`` is the
    name of the item's list where rows of several stand together.
    """

    id: UUID
    reason: str
    stage: str
    excerpt: str
    agencies: str
    urgency: str
    flags: tuple[str, ...]
    language: str
    reference: str
    crisis: bool
    sign: bool
    state: str
    live: Live
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a filter."""

    value: str
    words: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Select:
    """One filter with its options."""

    name: str
    label: str
    choices: tuple[Choice, ...]


def queue_row(item: ReviewItem, user: User, release: Release | None, now: datetime) -> QueueRow:
    """Return an item of :func:`review.queue.selectors.page` as a row for ``user``."""
    flags = [flag.code for flag in item.flags.all()]
    dangers = [code for code in flags if is_crisis(item) and _escalates(release, code)]
    return QueueRow(
        id=item.pk,
        reason=_flags(release, dangers) or words.first_reason(item.reasons),
        stage=stage_label(item.stage),
        excerpt=Truncator(" ".join(item.turn.text[: 4 * EXCERPT].split())).chars(EXCERPT),
        agencies=words.agencies(item, release),
        urgency=_label(release, "urgencies", item.urgency),
        flags=tuple(_label(release, "risk_flags", c) for c in flags if c not in dangers),
        language=language_name(item.language),
        reference=item.turn.session.reference,
        crisis=is_crisis(item),
        sign=of_sign(item),
        state=item.state,
        live=live(item, item.pk, user, now),
    )


def live(item: ReviewItem | None, pk: UUID, user: User, now: datetime) -> Live:
    """Return what of a row changes; None is an item that was erased or is out of reach now."""
    if item is None:
        return Live(pk, gettext("Not here any more"), False, None, "", False)
    if item.decided_at is not None:
        return Live(
            pk, gettext("Decided"), False, item.decided_at, _ago(item.decided_at, now), False
        )
    overdue = item.due_at < now
    free = not selectors.is_held(item, now)
    mine = not free and item.claimed_by_id == user.pk
    holder = _holder(item, mine=mine, free=free)
    return Live(pk, holder, free, item.due_at, _due(item.due_at, now), overdue, mine)


def _holder(item: ReviewItem, *, mine: bool, free: bool) -> str:
    if free:
        waits = item.state == ReviewState.SECOND_OPINION.value
        return gettext("Waits for a second person") if waits else gettext("Free")
    if mine:
        return gettext("Yours")
    return gettext("Claimed by {name}").format(name=selectors.name_of(item.claimed_by))


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
) -> tuple[Select, ...]:
    """Return the filters with what can be chosen; a value that is set can always be chosen."""
    agencies = release.agencies.values() if release else ()
    labels = release.labels if release else {}
    supported = list(settings.IEIM_MODEL["LANGUAGES"])
    others = sorted((c for c in LANG_INFO if len(c) == 2), key=language_name)
    options: dict[str, tuple[str, Mapping[str, str]]] = {
        "agency": (
            gettext("Agency"),
            {a.id: a.name for a in agencies if scope is None or a.id in scope},
        ),
        "stage": (gettext("Stopped at"), {each: stage_label(each) for each in STAGES}),
        "reason": (gettext("Reason"), _reasons()),
        "urgency": (gettext("Urgency"), _names(labels.get("urgencies"))),
        "flag": (gettext("Risk flag"), _names(labels.get("risk_flags"))),
        "language": (gettext("Language"), {c: language_name(c) for c in [*supported, *others]}),
        "age": (gettext("Waiting for"), {age: gettext(said) for age, said in AGES.items()}),
    }
    return tuple(
        Select(name, label, tuple(_choices(getattr(filters, name), known)))
        for name, (label, known) in options.items()
    )


def views(saved: Iterable[SavedView], filters: Filters) -> tuple[Choice, ...]:
    """Return a user's saved views; the one that the address shows is chosen."""
    return tuple(Choice(v.query, v.name, v.query == filters.query) for v in saved)


def _choices(chosen: str, known: Mapping[str, str]) -> Iterator[Choice]:
    yield Choice("", gettext("Any"), not chosen)
    for value, name in known.items():
        yield Choice(value, name, value == chosen)
    if chosen and chosen not in known:
        yield Choice(chosen, chosen, True)


def _reasons() -> dict[str, str]:
    """Return the reasons by code; where several codes have one sentence, with the code."""
    told = {str(code): words.reason(code) for code in words.REASONS}
    sentences = list(told.values())
    named = {
        code: sentence if sentences.count(sentence) == 1 else f"{sentence} ({code})"
        for code, sentence in told.items()
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
    # The moment that the citizen is told: whole days until then would say less than it is.
    at, today = localtime(moment), localtime(now).date()
    said = {
        today: gettext_noop("due today, {time}"),
        today + timedelta(days=1): gettext_noop("due tomorrow, {time}"),
    }.get(at.date(), gettext_noop("due {day}, {time}"))
    return gettext(said).format(day=date_format(at, "D j M"), time=date_format(at, "H:i"))


def _ago(moment: datetime, now: datetime) -> str:
    return (
        gettext("just now") if now - moment < MINUTE else f"{timesince(moment, now, depth=1)} ago"
    )


def _escalates(release: Release | None, code: str) -> bool:
    label = release.labels.get("risk_flags", {}).get(code) if release else None
    return label is not None and label.escalates


def _flags(release: Release | None, codes: Iterable[str]) -> str:
    return ", ".join(_label(release, "risk_flags", code) for code in codes)
